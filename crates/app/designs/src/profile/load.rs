//! `profile` of counter logs and block traces: the load over the day.

use std::path::{Path, PathBuf};

use profile::load::{
    BusiestHour, ClockHour, DayHour, HourLoad, LoadCollector, LoadFile, LoadProfile, PlaceLoad,
    StorageOperation,
};
use serde_json::{Value, json};

use super::flags::ProfileFlags;
use console::Console;
use console::Outcome;
use console::documents::{self, Existing};
use console::error::CommandError;

/// Prints the load that `collector` has seen.
pub(super) fn conclude(
    collector: LoadCollector,
    flags: &ProfileFlags,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let load = collector.finish()?;
    if let Some(path) = documents::named_file(flags.output.as_ref()) {
        write_workload(&load, path, flags)?;
        console.remark(format_args!(
            "Next: put the section of {} into a plan; plimsoll simulate PLAN --array ARRAY plays \
             the day.",
            path.display()
        ))?;
    }
    if flags.json {
        console.answer_json("load", as_json(&load))?;
    } else {
        console.answer_text(&load.to_text())?;
    }
    Ok(Outcome::Pass)
}

fn write_workload(
    load: &LoadProfile,
    path: &Path,
    flags: &ProfileFlags,
) -> Result<(), CommandError> {
    let text = load.to_toml().ok_or_else(|| {
        CommandError::new(format!(
            "{}: nothing was written: the hours of a block trace are unknown; give its clock with \
             --trace-start 2026-11-20T09:00",
            path.display()
        ))
    })?;
    let inputs: Vec<&Path> = flags.files.iter().map(PathBuf::as_path).collect();
    documents::write(path, text.as_bytes(), Existing::of_flag(flags.force), &inputs)
}

/// Prints a file's contribution.
pub(super) fn say(file: &LoadFile, console: &mut Console) -> Result<(), CommandError> {
    let LoadFile { name, kind, rows, used, .. } = file;
    let doubts = file.not_understood().map(|what| format!("; not used: {what}"));
    console.remark(format_args!(
        "{name}: {kind}; {used} samples of {rows} rows{}",
        doubts.unwrap_or_default()
    ))
}

fn as_json(load: &LoadProfile) -> Value {
    json!({
        "clock": load.clock,
        "hours_are_of_the_day": !load.is_relative,
        "first_hour": moment(load.span.0),
        "last_hour": moment(load.span.1),
        "busiest_hour": busiest(&load.busiest),
        "days": load.days,
        "day": load.day.iter().map(day_hour).collect::<Vec<_>>(),
        "unknown_hours": load.unknown_hours(),
        "log_percent": load.log_shares().map(|shares| shares.map(|share| share * 100.0).to_vec()),
        "hours_without_a_host": load.hours_without_a_host,
        "places": load.places.iter().map(place).collect::<Vec<_>>(),
        "other_places": load.other_places.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "files": load.files.iter().map(file).collect::<Vec<_>>(),
    })
}

/// As `2026-11-20T10:00`.
fn moment(hour: ClockHour) -> String {
    hour.start_text()
}

fn busiest(hour: &BusiestHour) -> Value {
    json!({ "hour": moment(hour.hour), "load": hour_load(&hour.load) })
}

fn day_hour(hour: &DayHour) -> Value {
    json!({ "percent": hour.percent, "load": hour.load.as_ref().map(hour_load) })
}

fn place(of: &PlaceLoad) -> Value {
    json!({
        "host": of.place.host,
        "kind": of.place.kind.name(),
        "name": of.place.name,
        "busiest_hour": busiest(&of.busiest),
        "in_busiest_hour_of_all": of.then.as_ref().map(hour_load),
    })
}

fn hour_load(load: &HourLoad) -> Value {
    let mut parts = json!({
        "iops": load.iops(),
        "transactional_iops": load.transactional_iops(),
        "bytes_per_second": load.bytes_per_second(),
    });
    for operation in StorageOperation::ALL {
        parts[operation.name()] = load.of(operation).map_or(Value::Null, |of| {
            json!({
                "iops": of.iops,
                "latency_ms": of.latency_ms,
                "bytes_per_second": of.bytes_per_second,
            })
        });
    }
    parts
}

fn file(of: &LoadFile) -> Value {
    json!({
        "name": of.name,
        "kind": of.kind,
        "zone": of.zone,
        "rows": of.rows,
        "used": of.used,
        "skipped": of.skipped,
        "other_columns": of.other_columns,
        "named_columns": of.named_columns,
        "gaps": of.gaps.0,
        "longest_gap_seconds": of.gaps.1,
    })
}
