//! Every number of a sizing for programs.

use plan::deployment::Mode;
use serde_json::{Map, Value as Json, json};
use sizing::{Fact, Finding, Note, Value};

use super::Sized;

/// Name and version of the document; the version rises when a member changes its meaning.
pub const SCHEMA: &str = "plimsoll.sizing/1";

/// The document, with a line end.
pub fn render(sized: Sized<'_>) -> String {
    format!("{:#}\n", value(sized))
}

/// The document.
pub fn value(sized: Sized<'_>) -> Json {
    let deployment = sized.deployment;
    let facts = sized.sizing.sheet.facts().iter();
    let values: Map<String, Json> = facts.map(|fact| (fact.key.clone(), number(fact))).collect();
    json!({
        "schema": SCHEMA,
        "name": deployment.name,
        "product": deployment.product.name,
        "mode": match deployment.mode {
            Mode::Compatible => "compatible",
            Mode::Corrected => "corrected",
        },
        "workable": sized.sizing.is_workable(),
        "findings": sized.sizing.findings.iter().map(finding).collect::<Vec<_>>(),
        "notes": sized.sizing.notes.iter().map(note).collect::<Vec<_>>(),
        "values": values,
    })
}

fn number(fact: &Fact) -> Json {
    let value = match &fact.value {
        Value::Number(value) => json!(value),
        Value::Word(word) => json!(word),
    };
    json!({
        "value": value,
        "unit": fact.unit,
        "formula": fact.formula,
        "numbers": fact.numbers,
        "source": fact.source,
    })
}

fn finding(finding: &Finding) -> Json {
    json!({
        "severity": finding.severity.word(),
        "key": finding.key,
        "text": finding.text,
        "remedy": finding.remedy,
    })
}

fn note(note: &Note) -> Json {
    json!({
        "key": note.key,
        "workbook": note.quirk.workbook(),
        "workbook_value": note.values.map(|(workbook, _)| workbook),
        "corrected": note.quirk.corrected(),
        "corrected_value": note.values.map(|(_, corrected)| corrected),
    })
}
