//! Explains one number: its formula, the numbers substituted, and the source of each.

use std::fmt::Write as _;

use sizing::{Fact, Sizing};

use super::Sized;

/// The explanation of the number or decision called `name`; `None` if there is none.
pub fn explain(sized: Sized<'_>, name: &str) -> Option<String> {
    let sizing = sized.sizing;
    let fact = sizing.sheet.named(name)?;
    let mut text = format!("{} = {}\n", fact.key, written(sized, fact));
    if !fact.formula.is_empty() {
        let _ = writeln!(text, "  formula  {}", fact.formula);
    }
    if !fact.numbers.is_empty() && fact.numbers != fact.formula {
        let _ = writeln!(text, "  numbers  {}", fact.numbers);
    }
    let _ = writeln!(text, "  source   {}", fact.source);
    for note in sizing.notes.iter().filter(|note| note.key == fact.key) {
        let (workbook, right) = (note.quirk.workbook(), note.quirk.corrected());
        let _ = writeln!(text, "  note     official workbook: {workbook}; corrected: {right}");
    }
    for used in used(sizing, fact) {
        let _ =
            writeln!(text, "  with     {} = {}  ({})", used.key, written(sized, used), used.source);
    }
    Some(text)
}

/// The value of a fact with its unit; that of a cost is the currency of the document.
fn written(sized: Sized<'_>, fact: &Fact) -> String {
    let prices = sized.deployment.prices.as_ref();
    match prices.filter(|_| fact.key.name().starts_with("cost.")) {
        Some(prices) => format!("{} {}", prices.currency, fact.written()),
        None => fact.written(),
    }
}

/// The facts that a formula names, once each.
fn used<'s>(sizing: &'s Sizing, fact: &Fact) -> Vec<&'s Fact> {
    let mut found: Vec<&Fact> = Vec::new();
    for word in fact.formula.split(|c| !is_of_key(c)) {
        let named = sizing.sheet.named(word);
        let new = named.filter(|named| !found.iter().any(|fact| fact.key == named.key));
        found.extend(new);
    }
    found
}

const fn is_of_key(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '.' || c == '_'
}
