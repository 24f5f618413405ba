//! Checks the arithmetic of a sizing against the published formulas: random deployments are
//! calculated twice, by separate programs, and every value is compared.

mod again;
mod draw;

use std::collections::BTreeMap;
use std::fmt;

use plan::Deployment;
use sizing::{Sheet, Value, calculate};
use xtask::failure::Failure;

use again::Again;
use draw::DrawnShape;

/// Default number of deployments in a run.
const USUAL_DRAWS: u64 = 10_000;

/// Relative tolerance within which values are equal.
const TOLERANCE: f64 = 1e-6;

/// Results of the comparison.
#[derive(Debug, Default)]
struct SizingComparison {
    /// Deployments of each kind, and those that the document parser rejected.
    drawn: BTreeMap<&'static str, u64>,
    refused: u64,
    /// Deployments whose volumes each hold three or more databases, with separate logs.
    full_sets: u64,
    /// Number of equal values, by key.
    equal: BTreeMap<String, u64>,
    /// Unequal values, by key: their number, and the first of them.
    unequal: BTreeMap<String, (u64, Disagreement)>,
    /// The first disagreement in the order of the draws.
    first: Option<Disagreement>,
}

/// A value on which the two calculations differ.
#[derive(Clone, Debug)]
struct Disagreement {
    seed: u64,
    key: String,
    product: String,
    again: String,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, key, product, again } = self;
        write!(f, "{key} of draw {seed}: the product has {product}, the formulas give {again}")
    }
}

/// Draws and compares; prints the number of equal values and the first unequal one.
pub(crate) fn run(words: &[&str]) -> Result<(), Failure> {
    let compared = match words {
        [] => compare(0..USUAL_DRAWS),
        ["--draws", count] => {
            let count = count.parse().map_err(|_| no_number(count))?;
            compare(0..count)
        }
        ["--draw", seed] => {
            let seed = seed.parse().map_err(|_| no_number(seed))?;
            println!("{}", draw::document(seed).1);
            compare(seed..seed + 1)
        }
        _ => return Err(Failure::new("cargo xtask bench sizing [--draws N | --draw SEED]")),
    };
    compared.print();
    match &compared.first {
        None => Ok(()),
        Some(first) => Err(Failure::new(format!("the first disagreement: {first}"))),
    }
}

fn no_number(word: &str) -> Failure {
    Failure::new(format!("`{word}` is no number; give --draws 10000"))
}

/// Calculates the deployments of these seeds twice.
fn compare(seeds: std::ops::Range<u64>) -> SizingComparison {
    let mut compared = SizingComparison::default();
    for seed in seeds {
        let (shape, text) = draw::document(seed);
        let name = match shape {
            DrawnShape::Alone => "without copies",
            DrawnShape::Single => "one site",
            DrawnShape::Two => "two sites",
        };
        let Ok(deployment) = Deployment::parse("draw", &text) else {
            compared.refused += 1;
            continue;
        };
        *compared.drawn.entry(name).or_default() += 1;
        compared.values(seed, &deployment);
    }
    compared
}

impl SizingComparison {
    fn values(&mut self, seed: u64, deployment: &Deployment) {
        let calculation = calculate(deployment);
        let sheet = calculation.sheet();
        let again = again::values(deployment);
        self.full_sets += u64::from(again.is_full_set());
        for (key, value) in again.all() {
            if agree(sheet, key, value) {
                *self.equal.entry(general(key)).or_default() += 1;
                continue;
            }
            let product =
                sheet.named(key).map_or_else(|| "nothing".to_owned(), sizing::Fact::written);
            let found =
                Disagreement { seed, key: key.to_owned(), product, again: format!("{value:?}") };
            let first = self.unequal.entry(general(key)).or_insert_with(|| (0, found.clone()));
            first.0 += 1;
            self.first.get_or_insert(found);
        }
    }

    fn print(&self) {
        let drawn: u64 = self.drawn.values().sum();
        let kinds: Vec<String> =
            self.drawn.iter().map(|(name, count)| format!("{count} {name}")).collect();
        println!(
            "{drawn} deployments ({}; {} with three or more databases a volume and logs apart), {} \
             refused by the reader",
            kinds.join(", "),
            self.full_sets,
            self.refused
        );
        let equal: u64 = self.equal.values().sum();
        let unequal: u64 = self.unequal.values().map(|(count, _)| count).sum();
        println!("{equal} values of {} keys are equal, {unequal} are not", self.equal.len());
        for (key, (count, first)) in &self.unequal {
            println!("  {key}: {count} of {}, {first}", count + self.equal.get(key).unwrap_or(&0));
        }
    }
}

/// Whether the product's value equals the second calculation's. `None` and 0 are equal, because the
/// workbook shows either.
fn agree(sheet: &Sheet, key: &str, again: Again) -> bool {
    let product = sheet.named(key).map(|fact| fact.value);
    match (product, again) {
        (None, Again::Number(value)) => value == 0.0,
        (Some(Value::Number(product)), Again::Number(value)) => {
            (product - value).abs() <= (TOLERANCE * value.abs()).max(1e-9)
        }
        (Some(Value::Decision(product)), Again::Word(word)) => product.name() == word,
        _ => false,
    }
}

/// The key, without a tier's number.
fn general(key: &str) -> String {
    match key.split_once('.') {
        Some((stage, rest)) if stage.starts_with('t') && stage[1..].parse::<u32>().is_ok() => {
            format!("t*.{rest}")
        }
        _ => key.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::compare;

    /// A short form of `cargo xtask bench sizing`.
    #[test]
    fn the_published_formulas_give_what_the_product_calculates() {
        let compared = compare(0..400);
        let unequal: Vec<_> = compared.unequal.values().map(|(_, first)| first).collect();
        assert!(unequal.is_empty(), "{unequal:#?}");
        let equal: u64 = compared.equal.values().sum();
        assert!(equal > 20_000, "only {equal} values were compared");
        assert!(compared.drawn.len() == 3 && compared.full_sets > 10, "{compared:?}");
    }
}
