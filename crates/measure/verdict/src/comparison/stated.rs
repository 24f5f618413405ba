//! A published result's statements about the circumstances of its measurement.

use record::{ImportedResult, RunRecord};

/// A result's statement about a circumstance; empty if there is none.
pub(super) fn stated(run: &RunRecord, imported: &ImportedResult, name: &str) -> String {
    let load = &imported.load;
    let databases = imported.instances.len() as u64;
    let stated = match name {
        "machine" => Some(run.start.machine.name.clone()),
        "operating system" => Some(run.start.machine.operating_system.clone()),
        "version" => Some(imported.instrument.clone()),
        "kind of test" => Some(run.start.test.name().to_owned()),
        "databases" => (databases > 0).then(|| databases.to_string()),
        "target IOPS" => imported.target_iops.map(|iops| format!("{iops:.0}")),
        "sessions per database" => threads(imported),
        "operation mix" => load.mix_percent.map(mix_text),
        "cache per database" => load
            .cache_maximum_bytes
            .and_then(|bytes| bytes.checked_div(databases))
            .map(|bytes| format!("{} MiB", bytes >> 20)),
        "lazy commits" => load.lazy_commit_percent.map(|value| format!("{value} %")),
        "background maintenance" => {
            load.background_maintenance.map(|is_on| if is_on { "on" } else { "off" }.to_owned())
        }
        "copies of each database" => load.copies_per_database.map(|copies| copies.to_string()),
        _ => None,
    };
    stated.unwrap_or_default()
}

fn threads(imported: &ImportedResult) -> Option<String> {
    let load = &imported.load;
    let of_each = load.threads_per_database.map(|threads| threads.to_string());
    of_each.or_else(|| Some(format!("{} for all databases", load.threads_in_all?)))
}

/// Inserts, deletes, replacements and reads.
pub(super) fn mix_text([insert, delete, replace, read]: [u32; 4]) -> String {
    format!("{insert}/{delete}/{replace}/{read} %")
}
