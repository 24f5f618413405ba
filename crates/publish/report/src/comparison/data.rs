//! A comparison as JSON; `docs/report-json.md` describes every member.

use std::fmt::Write as _;

use serde_json::{Value, json};
use units::plain_json;
use verdict::{ComparedMetric, MetricChange, NamedRun, RunComparison, Significance};

use super::LETTERS;
use crate::format;

pub(super) fn json(named: &[NamedRun], comparison: &RunComparison) -> String {
    let document = crate::answer("comparison", members(named, comparison));
    plain_json(&format!("{document:#}\n")).into_owned()
}

/// Members that describe the runs.
pub(super) fn members(named: &[NamedRun], comparison: &RunComparison) -> Value {
    let runs: Vec<Value> = named
        .iter()
        .zip(LETTERS)
        .map(|(run, letter)| {
            let measured = run.record.imported().is_none() && run.record.simulated().is_none();
            json!({
                "run": letter,
                "name": run.name,
                "run_name": run.record.start.name,
                "tags": run.record.start.tags,
                "started": measured.then(|| format::iso_time(run.record.start.started_epoch_ns)),
                "simulated": run.record.simulated().map(|simulation| &simulation.array),
                "imported": run.record.imported().map(|imported| &imported.instrument),
                "verdict": run.verdict.outcome.name(),
            })
        })
        .collect();
    let differences: Vec<Value> = comparison
        .differences
        .iter()
        .map(|of| json!({ "name": of.name, "values": of.values, "is_work": of.is_work }))
        .collect();
    let metrics = comparison.rows.iter().map(|row| metric(named, row));
    json!({
        "phase": comparison.phase.name(),
        "headline": super::verdict(named, comparison),
        "runs": runs,
        "doubts": comparison.doubts,
        "metrics": metrics.collect::<Vec<Value>>(),
        "differences": differences,
    })
}

fn metric(runs: &[NamedRun], row: &ComparedMetric) -> Value {
    let named = runs.iter().zip(LETTERS);
    let values = row.values.iter().zip(named).map(|(value, (run, letter))| {
        json!({
            "run": letter,
            "value": value.value,
            "change_percent": value.change.map(|change| change.percent),
            "margin_percent": value.change.and_then(|change| change.margin_percent),
            "difference": value.change.map(|change| word(&runs[0], run, change)),
        })
    });
    json!({
        "id": row.metric.id,
        "title": row.metric.title,
        "unit": row.metric.unit,
        "more_is_better": row.metric.more_is_better,
        "values": values.collect::<Vec<Value>>(),
    })
}

/// Significance of a change; unknown if either run is imported.
fn word(first: &NamedRun, run: &NamedRun, change: MetricChange) -> &'static str {
    if [first, run].iter().any(|run| run.record.imported().is_some()) {
        return "imported";
    }
    match change.significance() {
        Significance::Real => "real",
        Significance::Noise => "noise",
        Significance::Unknown => "unknown",
    }
}

pub(super) fn csv(runs: &[NamedRun], comparison: &RunComparison) -> String {
    let mut csv =
        String::from("metric,unit,run,name,value,change_percent,margin_percent,difference\n");
    for row in &comparison.rows {
        for (value, (letter, run)) in row.values.iter().zip(LETTERS.iter().zip(runs)) {
            let change = value.change;
            let name = run.name.replace('"', "\"\"");
            let _ = writeln!(
                csv,
                "{},{},{letter},\"{name}\",{},{},{},{}",
                row.metric.id,
                row.metric.unit,
                or_empty(value.value),
                or_empty(change.map(|change| change.percent)),
                or_empty(change.and_then(|change| change.margin_percent)),
                change.map_or("", |change| word(&runs[0], run, change)),
            );
        }
    }
    units::plain(&csv).into_owned()
}

fn or_empty(number: Option<f64>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}
