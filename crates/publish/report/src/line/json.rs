//! A load line as JSON; docs/report-json.md describes every member.

use serde_json::{Value as Json, json};
use verdict::{Estimate, LoadStep};

use super::LineReport;
use crate::format;

/// The document, with a trailing newline.
pub(super) fn render(line: &LineReport<'_>) -> String {
    let found = line.knee();
    let carried = found.map(|found| line.carried(found.iops));
    let members: Json = json!({
        "name": line.run.start.name,
        "tags": line.run.start.tags,
        "started": format::iso_time(line.run.start.started_epoch_ns),
        "is_complete": line.is_complete,
        "load_line_iops": found.map(|found| found.iops),
        "highest_load_held_iops": found.map(|found| found.held_iops),
        "failure_seen_above": found.is_some_and(|found| found.is_passed),
        "required_iops": line.required_iops,
        "mailboxes_by_io": carried.map(|carried| carried.by_io),
        "mailboxes_by_space": carried.and_then(|carried| carried.by_space),
        "steps": line.steps.iter().map(step).collect::<Json>(),
    });
    let json = crate::answer("line", members);
    units::plain_json(&format!("{json:#}\n")).into_owned()
}

fn step(step: &LoadStep) -> Json {
    json!({
        "asked_iops": step.asked_iops,
        "sessions_per_database": step.sessions,
        "iops": estimate(step.iops),
        "read_latency_ms": estimate(step.read_ms),
        "log_write_latency_ms": estimate(step.log_write_ms),
        "drift_share": step.trend.map(verdict::Trend::share),
        "holds": step.holds,
        "objections": step.objections,
    })
}

fn estimate(of: Estimate) -> Json {
    json!({ "mean": of.mean, "half_width_95": of.half_width })
}
