//! A published result for programs. The members of a measured run that it has not are missing, not
//! zero.

use record::{ImportedResult, PublishedInstance, RunRecord};
use serde_json::{Value, json};
use units::plain_json;
use verdict::Verdict;

use crate::json::{SCHEMA, finding_part, outcome_name};

/// The JSON of a report.
pub(crate) fn render(run: &RunRecord, verdict: &Verdict, imported: &ImportedResult) -> String {
    let reads = imported.all(PublishedInstance::database_reads);
    let log_writes = imported.all(PublishedInstance::log_writes);
    let findings = verdict.findings.iter().map(|of| json!(finding_part(run, of)));
    let document = json!({
        "schema": SCHEMA,
        "kind": "imported_report",
        "verdict": outcome_name(verdict.outcome),
        "exit_code": verdict.exit_code(),
        "meaning": super::sentences(run, imported),
        "achieved_transactional_iops": imported.transactional_iops(),
        "read_latency_ms": reads.latency_ms,
        "log_write_latency_ms": log_writes.latency_ms,
        "findings": findings.collect::<Vec<Value>>(),
        "run": {
            "build": run.start.build,
            "test": run.start.test,
            "description": run.start.description,
            "machine": { "name": run.start.machine.name },
        },
        "imported": imported,
    });
    plain_json(&format!("{document:#}\n")).into_owned()
}
