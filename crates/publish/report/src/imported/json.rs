//! A published result as JSON. Members of a measured run that it lacks are omitted, not zero.

use record::{ImportedResult, PublishedInstance, RunRecord, TestType};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use units::plain_json;
use verdict::Verdict;

use crate::json::{FindingPart, SCHEMA, finding_part, outcome_name, schema_of};

#[derive(JsonSchema, Serialize)]
struct ImportedReport<'a> {
    schema: u32,
    kind: &'static str,
    verdict: &'static str,
    exit_code: u8,
    meaning: Vec<String>,
    achieved_transactional_iops: Option<f64>,
    read_latency_ms: Option<f64>,
    log_write_latency_ms: Option<f64>,
    findings: Vec<FindingPart>,
    run: ImportedRun<'a>,
    imported: &'a ImportedResult,
}

#[derive(JsonSchema, Serialize)]
struct ImportedRun<'a> {
    build: &'a str,
    test: TestType,
    description: &'a str,
    machine: ImportedMachine<'a>,
}

#[derive(JsonSchema, Serialize)]
struct ImportedMachine<'a> {
    name: &'a str,
}

/// JSON Schema (draft 2020-12) of the report of an imported result, generated from the types that
/// are serialised.
pub fn imported_schema() -> serde_json::Value {
    schema_of::<ImportedReport<'static>>("The report of an imported result")
}

/// The JSON of a report.
pub(crate) fn render(run: &RunRecord, verdict: &Verdict, imported: &ImportedResult) -> String {
    let start = &run.start;
    let report = ImportedReport {
        schema: SCHEMA,
        kind: "imported_report",
        verdict: outcome_name(verdict.outcome),
        exit_code: verdict.exit_code(),
        meaning: super::sentences(run, imported),
        achieved_transactional_iops: imported.transactional_iops(),
        read_latency_ms: imported.all(PublishedInstance::database_reads).latency_ms,
        log_write_latency_ms: imported.all(PublishedInstance::log_writes).latency_ms,
        findings: verdict.findings.iter().map(|of| finding_part(run, of)).collect(),
        run: ImportedRun {
            build: &start.build,
            test: start.test,
            description: &start.description,
            machine: ImportedMachine { name: &start.machine.name },
        },
        imported,
    };
    plain_json(&format!("{:#}\n", json!(report))).into_owned()
}
