//! The product that is sized for: a generation, its figures, and any taken from another product.

use toml::de::{DeInteger, DeValue};

use super::figures::{Figures, WORDS, known};
use super::sources::{AssumedFigures, Sources};
use crate::keys::Keys;
use crate::reader::{Given, Value};

/// First words of every note on figures that were taken from another product.
const ASSUMPTION: &str = "ASSUMPTION: ";

/// The note of [`Product::assumption`] in the description of a plan, which carries it into every
/// report on the plan.
pub fn assumption_in(description: &str) -> Option<&str> {
    description.find(ASSUMPTION).map(|at| &description[at..])
}

/// The word for a generation. A year may lack its quotes: a shell takes them off
/// `product="2016"`.
struct ProductWord(String);

impl Value for ProductWord {
    const WANTED: &'static str = String::WANTED;

    fn read(value: &DeValue<'_>) -> Option<Self> {
        let year = value.as_integer().map(DeInteger::as_str);
        value.as_str().or(year).map(|word| Self(word.to_owned()))
    }
}

/// One generation of the product.
#[derive(Clone, Debug, PartialEq)]
pub struct Product {
    /// `Exchange 2016`.
    pub name: String,
    /// Its figures.
    pub figures: Figures,
    /// Figures taken from another product; `None` if there are none.
    pub assumed: Option<AssumedFigures>,
}

impl Product {
    /// Whether SSDs can hold `MetaCache` databases, as they can since Exchange 2019. Source:
    /// S-MCDB.
    pub(super) fn has_metacache(&self) -> bool {
        let before = ["2007", "2010", "2013", "2016"];
        !before.iter().any(|year| self.name.ends_with(year))
    }

    /// Takes `product` from the document and completes its figures from `[figures]`.
    pub(super) fn read(root: &mut Keys<'_, '_>) -> Self {
        let word = root.take::<ProductWord>("product");
        let word = word.map(|Given { value, place }| Given { value: value.0, place });
        let (name, known) = match &word {
            None => known("2016"),
            Some(given) if WORDS.contains(&given.value.as_str()) => known(&given.value),
            Some(given) => {
                root.not_a_choice(given, WORDS);
                known("2016")
            }
        };
        let mut keys = root.below("figures");
        let mut sources = Sources::new(&mut keys, &name);
        let figures = known.complete(|name, own| sources.figure(&mut keys, name, own));
        let assumed = sources.finish(&mut keys);
        keys.finish();
        Self { name, figures, assumed }
    }

    /// The note on the pages about figures taken from another product.
    pub fn assumption(&self) -> Option<String> {
        let AssumedFigures { from, names } = self.assumed.as_ref()?;
        let count = names.len();
        let figures = if count == 1 { "figure is" } else { "figures are" };
        Some(format!(
            "{ASSUMPTION}{count} {figures} those of {from}, because none are published for {}",
            self.name
        ))
    }
}
