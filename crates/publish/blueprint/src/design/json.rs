//! Every number of a sizing for programs.

use plan::deployment::Mode;
use provision::{Requirements, layout, quorum_word, simulate};
use serde_json::{Map, Value as Json, json};
use sizing::{DesignFinding, Fact, Note, Value, without_error};

use super::{PredictedDesign, Sized, Unsimulated, tables};

/// The document, with a trailing newline.
pub(super) fn render(sized: Sized<'_>) -> String {
    units::plain_json(&format!("{:#}\n", value(sized))).into_owned()
}

/// The document.
pub(super) fn value(sized: Sized<'_>) -> Json {
    let deployment = sized.deployment;
    let values: Map<String, Json> = sized
        .sizing
        .sheet
        .facts()
        .iter()
        .map(|fact| (fact.key.name().into_owned(), number(fact)))
        .collect();
    let members = json!({
        "name": deployment.name,
        "product": deployment.product.name,
        "assumed_figures": deployment.product.assumed.as_ref().map(|assumed| json!({
            "from": assumed.from,
            "names": assumed.names,
        })),
        "description": deployment.description,
        "customer": deployment.origin.customer,
        "author": deployment.origin.author,
        "date": deployment.origin.date,
        "currency": deployment.prices.as_ref().map(|prices| &prices.currency),
        "mode": match deployment.mode {
            Mode::Compatible => "compatible",
            Mode::Corrected => "corrected",
        },
        "provenance": deployment.provenance,
        "headline": sized.answer().headline(),
        "exit_code": sized.exit_code(),
        "workable": sized.sizing.is_workable(),
        "not_sized": not_sized(sized.sizing.has_unsized_processors()),
        "findings": sized.sizing.findings.iter().map(finding).collect::<Vec<_>>(),
        "notes": tables::notes_that_matter(sized).map(note).collect::<Vec<_>>(),
        "prediction": sized.predicted.map(PredictedDesign::json),
        "not_predicted": match sized.unsimulated {
            Unsimulated::Refused(reason) => Some(reason),
            Unsimulated::NotRequested | Unsimulated::UnknownDisks => None,
        },
        "failures": failures(sized),
        "values": values,
    });
    report::answer("sizing", members)
}

/// The parts of a design that no rule judges, because the document does not say enough of them.
pub(crate) fn not_sized(has_unsized_processors: bool) -> Vec<&'static str> {
    has_unsized_processors.then_some("processors").into_iter().collect()
}

/// Every failure simulated on the layout; empty without copies.
fn failures(sized: Sized<'_>) -> Vec<Json> {
    let Some(found) = simulate(sized.deployment, sized.sizing) else {
        return Vec::new();
    };
    found
        .modes
        .iter()
        .filter_map(|mode| failure_json(&found.needs, mode))
        .map(Json::Object)
        .collect()
}

/// Effect of a failure on the surviving servers; pairs are the minimum and maximum over servers.
/// `None` if no server survives.
pub fn failure_json(needs: &Requirements, mode: &layout::Mode) -> Option<Map<String, Json>> {
    let burden = needs.burden(mode)?;
    let members = [
        ("failure", json!(mode.failure.to_string())),
        ("ways", json!(mode.cases)),
        ("quorum", json!(quorum_word(mode))),
        ("ways_stopped", json!(mode.stopped)),
        ("active", json!([burden.active.0, burden.active.1])),
        ("not_active", json!(mode.not_active)),
        ("replayed", json!(mode.replayed)),
        ("lost", json!(mode.lost)),
        ("megacycles", json!([burden.megacycles.0, burden.megacycles.1])),
        ("processor_percent", json!(burden.processor.map(|share| share * 100.0))),
        ("iops", json!([burden.iops.0, burden.iops.1])),
    ];
    let members = members.map(|(name, value)| (name.to_owned(), value));
    Some(members.into_iter().collect())
}

fn number(fact: &Fact) -> Json {
    let value = match fact.value {
        Value::Number(value) => json!(without_error(value)),
        Value::Decision(decision) => json!(decision.name()),
    };
    json!({
        "value": value,
        "unit": fact.key.unit(),
        "formula": fact.formula,
        "numbers": fact.numbers,
        "source": fact.source,
    })
}

fn finding(finding: &DesignFinding) -> Json {
    json!({
        "severity": finding.severity.word(),
        "key": finding.key.name(),
        "text": finding.text,
        "remedy": finding.remedy,
    })
}

fn note(note: &Note) -> Json {
    json!({
        "key": note.key.name(),
        "workbook": note.quirk.workbook(),
        "workbook_value": note.values.map(|(workbook, _)| workbook),
        "corrected": note.quirk.corrected(),
        "corrected_value": note.values.map(|(_, corrected)| corrected),
    })
}
