//! Source of each figure of a product: the document, the product's file, or another product that
//! the document refers to. All missing figures share one complaint, with the lines to copy.

use std::fmt::Write as _;

use super::figures::{BOUNDS, Figure, Known, WORDS, known};
use crate::complaint::Problem;
use crate::keys::Keys;
use crate::reader::Given;

/// Figures used as divisors, and their minimum values.
const DIVISORS: [(&str, f64); 5] = [
    ("cache_share_of_memory", 0.001),
    ("reference_message_kb", 0.001),
    ("baseline_spec_per_core", 0.001),
    ("baseline_megacycles_per_core", 0.001),
    ("databases_per_server", 1.0),
];

/// Why another product's figure may not apply, by name prefix.
const DOUBTS: [(&str, &str); 4] = [
    ("content_index", "where the index is inside the database, 0 may be nearer"),
    ("cache_mb", "no source says how a later product shares its cache out"),
    ("baseline", "only if spec_rate is of SPECint2006 as well"),
    ("client_access", "no source says whether it is in the active figure of another product"),
];

/// The caveat of all other figures.
const DOUBT: &str = "no source says whether another product takes more or less";

/// Figures never published for a product, so taken from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssumedFigures {
    /// The other product, e.g. `Exchange 2016`.
    pub from: String,
    /// The figures, by field name.
    pub names: Vec<&'static str>,
}

/// Sources of a product's figures.
pub(super) struct Sources {
    product: String,
    /// The product to take figures from, if the document names one.
    other: Option<(String, Known)>,
    assumed: Vec<&'static str>,
    missing: Vec<&'static str>,
}

impl Sources {
    /// The sources that `[figures]` allows.
    pub(super) fn new(keys: &mut Keys<'_, '_>, product: &str) -> Self {
        let mut other = None;
        if let Some(given) = keys.take::<String>("from") {
            other = other_product(keys, &given, product);
        }
        Self { product: product.to_owned(), other, assumed: Vec::new(), missing: Vec::new() }
    }

    /// The figure `name` from the document, the product's file or the other product.
    pub(super) fn figure(
        &mut self,
        keys: &mut Keys<'_, '_>,
        name: &'static str,
        own: Option<Figure>,
    ) -> Figure {
        let divisor = DIVISORS.iter().find(|(divisor, _)| *divisor == name);
        let least = divisor.map_or(BOUNDS.0, |&(_, least)| least);
        if let Some(value) = keys.given(name, (least, BOUNDS.1)) {
            let source = format!("given in line {}", keys.place(name).line);
            return Figure { value, source };
        }
        own.or_else(|| self.of_other(name)).unwrap_or_else(|| {
            if !keys.holds(name) {
                self.missing.push(name);
            }
            Figure { value: 1.0, source: String::new() }
        })
    }

    fn of_other(&mut self, name: &'static str) -> Option<Figure> {
        let (from, figures) = self.other.as_ref()?;
        let figure = figures.named(name)?;
        self.assumed.push(name);
        let source = format!("ASSUMED for {}: {from}'s. {}", self.product, figure.source);
        Some(Figure { value: figure.value, source })
    }

    /// Complains once about all figures without a source; returns those taken from another product.
    pub(super) fn finish(self, keys: &mut Keys<'_, '_>) -> Option<AssumedFigures> {
        if !self.missing.is_empty() {
            let problem = Problem::NoFigures {
                product: self.product.clone(),
                count: self.missing.len(),
                from: nearest(&self.product),
                block: block(&self.product, &self.missing),
            };
            keys.complain(problem);
        }
        let (from, _) = self.other?;
        (!self.assumed.is_empty()).then_some(AssumedFigures { from, names: self.assumed })
    }
}

/// The product named by `given`, unless it is `product` itself.
fn other_product(
    keys: &mut Keys<'_, '_>,
    given: &Given<String>,
    product: &str,
) -> Option<(String, Known)> {
    if !WORDS.contains(&given.value.as_str()) {
        keys.not_a_choice(given, WORDS);
        return None;
    }
    let other = known(&given.value);
    if other.0 == product {
        let message = format!("is {product} itself; name the product whose figures to take");
        keys.conflict("from", message);
        return None;
    }
    Some(other)
}

/// Name of the nearest product in time with a complete set of figures.
fn nearest(product: &str) -> &'static str {
    if product.ends_with("2019") || product.ends_with("SE") { "2016" } else { "2013" }
}

/// The lines to copy, each with its source and its caveat.
fn block(product: &str, missing: &[&'static str]) -> String {
    let (from, figures) = known(nearest(product));
    let mut text = String::from("[figures]\n");
    for name in missing {
        let Some(figure) = figures.named(name) else {
            continue;
        };
        let doubt = DOUBTS.iter().find(|(begin, _)| name.starts_with(begin));
        let doubt = doubt.map_or(DOUBT, |(_, doubt)| doubt);
        let _ = writeln!(
            text,
            "{name} = {} # {from} ({}); doubtful: {doubt}",
            figure.value, figure.source
        );
    }
    text
}
