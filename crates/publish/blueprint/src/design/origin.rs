//! Origin of a design: customer, author, date, in the words of its deployment.

use report::document::{Block, Fact, Section};

use super::Sized;

/// The section; empty if the document states none of them.
pub(super) fn section(sized: Sized<'_>) -> Section {
    let deployment = sized.deployment;
    let origin = &deployment.origin;
    let facts: Vec<Fact> = [
        ("Customer", &origin.customer),
        ("Date", &origin.date),
        ("Author", &origin.author),
        ("Description", &deployment.description),
    ]
    .into_iter()
    .filter(|(_, text)| !text.is_empty())
    .map(|(label, text)| Fact::new(label, text.as_str()))
    .collect();
    let blocks = if facts.is_empty() { Vec::new() } else { vec![Block::Facts(facts)] };
    Section { id: "about", title: "About this design", blocks }
}
