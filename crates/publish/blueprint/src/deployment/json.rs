//! A simulated deployment as JSON.

use rehearsal::{CopyRow, Duty, HostRow, Limits, RowFigures};
use serde_json::{Value, json};
use verdict::Ruling;

use super::{PlayedReport, is_same_part};

/// The answer `simulated_deployment`.
pub fn deployment_json(report: &PlayedReport<'_>, steps: &[String]) -> Value {
    let Limits { reads_ms, log_ms, reached } = report.limits;
    let rows = &report.first().rows;
    let events: Vec<Value> = report
        .recoveries()
        .map(|of| {
            let occurrence = &report.occurrences[of.occurrence];
            json!({
                "event": occurrence.text,
                "at_ns": occurrence.at.0,
                "until_ns": occurrence.until.map(|until| until.0),
                "databases_not_active": of.inactive,
                "redundant_after_ns": of.redundant_after.map(|after| after.0),
            })
        })
        .collect();
    let broken: Vec<Value> = report
        .breaches()
        .into_iter()
        .map(|((seed, row), of)| {
            json!({
                "seed": seed,
                "row": rows.iter().position(|other| is_same_part(other, row)),
                "text": of.text,
                "excess_percent": of.excess * 100.0,
                "limit": of.limit.name(),
            })
        })
        .collect();
    let rows: Vec<Value> = rows.iter().map(|of| row(report, of)).collect();
    report::answer(
        "simulated_deployment",
        json!({
            "name": report.name,
            "verdict": match report.ruling() {
                Ruling::Pass | Ruling::Warn => "simulated_pass",
                Ruling::Fail => "simulated_fail",
                Ruling::CannotJudge => "simulated_cannot_judge",
            },
            "array": report.array,
            "assumption": report.assumption,
            "uncertainty_percent": report.uncertainty_percent,
            "seeds": report.judgements.len(),
            "limits": { "reads_ms": reads_ms, "log_writes_ms": log_ms, "reached": reached },
            "events": events,
            "broken": broken,
            "rows": rows,
            "next_steps": steps,
        }),
    )
}

fn row(report: &PlayedReport<'_>, of: &HostRow) -> Value {
    let reads = report.over_seeds(of, |figures| figures.reads_ms);
    let log_writes = report.over_seeds(of, |figures| figures.log_ms);
    let iops = report.over_seeds(of, |figures| Some(figures.iops));
    let slowest = report.slowest(of);
    let copies: Vec<Value> = of.copies.iter().map(|copy| copy_row(report, copy)).collect();
    json!({
        "host": report.host(of),
        "during": report.stretch_words(of),
        "from_ns": of.span.0.0,
        "to_ns": of.span.1.0,
        "played_ns": of.played.0,
        "is_degraded": of.is_degraded,
        "active": of.active,
        "passive": of.passive,
        "figures": figures(&of.settled),
        "reads_ms_over_seeds": reads.map(|of| of.mean),
        "reads_ms_half_width": reads.and_then(|of| of.half_width),
        "log_writes_ms_over_seeds": log_writes.map(|of| of.mean),
        "log_writes_ms_half_width": log_writes.and_then(|of| of.half_width),
        "iops_over_seeds": iops.map(|of| of.mean),
        "iops_half_width": iops.and_then(|of| of.half_width),
        "worst_minute_at_ns": slowest.map(|(at, _)| at.0),
        "worst_minute_reads_ms": slowest.map(|(_, ms)| ms),
        "busy_percent": {
            "disks": of.usage.drives * 100.0,
            "cache": of.usage.cache * 100.0,
            "link": of.usage.link * 100.0,
            "processors": of.usage.processors * 100.0,
        },
        "limit": of.usage.limit().name(),
        "databases": copies,
    })
}

fn copy_row(report: &PlayedReport<'_>, of: &CopyRow) -> Value {
    json!({
        "database": report.deployment.databases[of.database].name,
        "duty": duty(of.duty),
        "figures": figures(&of.figures),
    })
}

const fn duty(of: Duty) -> &'static str {
    match of {
        Duty::Active => "active",
        Duty::Replaying => "replaying",
        Duty::CatchingUp => "catching_up",
        Duty::Seeding { .. } => "seeding",
        Duty::Idle => "idle",
    }
}

fn figures(of: &RowFigures) -> Value {
    json!({
        "reads_ms": of.reads_ms,
        "log_writes_ms": of.log_ms,
        "iops": of.iops,
        "demanded_iops": of.demanded,
        "replay_iops": of.replay_iops,
    })
}
