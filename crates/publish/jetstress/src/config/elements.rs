//! Treatment of each element: the complete list of Jetstress's configuration.

use super::ConversionProblem;
use super::draft::{DatabasePlace, Draft, LimitSet};

/// Elements with one value that matches Plimsoll's behaviour; any other is not converted.
const SAME: [(&str, &str, &str); 20] = [
    ("MultiHostBreak", "false", "runs on several hosts are started by hand"),
    ("BinaryPerfLog", "true", "the journal is record.jsonl, whatever this says"),
    ("RunDatabaseMaintenanceSoftRecovery", "false", "a replay runs without maintenance"),
    ("ContinueOnErrors", "false", "a database that fails a write does not go on"),
    ("UseEseCounters", "true", "requests are timed one by one"),
    ("PreloadJetCache", "0.9", "the warm-up always ends at 0.9 of the cache"),
    ("OperationMix@LockOps", "true", "its meaning is not published"),
    ("RetrieveLVOnRead", "false", "a read always fetches and checks the whole record"),
    ("RetrieveLVOnScan", "false", "there are no scans in the load"),
    ("PrereadOnRead", "false", "reads of single pages are not read ahead"),
    ("PrereadOnScan", "true", "there are no scans in the load"),
    ("UpdateLV", "true", "a replacement always writes the long value anew"),
    ("ScanPercentage", "0", "there are no scans in the load"),
    ("SluggishSessions", "1", "its scale is not published; hold the load with target_iops"),
    ("BatchRecords", "1", "its meaning is not published"),
    ("Bulky1Percentage", "100", "its meaning is not published"),
    ("CircularLog", "1", "logs are always circular"),
    ("LogFileSize", "1024", "a log file is always 1 MiB"),
    (
        "DatabaseSpaceReserved",
        "25",
        "capacity_percent always leaves 25 percent of the first size for growth",
    ),
    ("MarginIops", "0.05", "a target always counts as reached at 95 percent"),
];

/// Elements without a counterpart here, and why.
const LEFT: [(&str, &str); 11] = [
    ("JetstressVersionGenerated", "chooses the preset"),
    ("EseVersionGenerated", "the engine is Plimsoll's own"),
    ("LogFilesToChecksum", "every log file is read back and verified"),
    ("LogInterval2", "there is one interval of samples"),
    ("RestoreBackupPath", "databases are prepared, not restored"),
    ("OutputPath", "say it when the test is started: run --output"),
    ("MaximumChecksumBuffers", "the check keeps 64 reads of 64 KiB in flight per database"),
    ("MaximumChecksumThreads", "the check keeps 64 reads of 64 KiB in flight per database"),
    ("MaximumLatencyErrors", "its meaning is not published; one sample beyond a maximum fails"),
    ("DatabaseSource", "`plimsoll prepare` makes databases, `plimsoll run` opens them"),
    ("MaxVerPages", "versions are kept in memory as they are needed"),
];

/// Text elements that must not be empty.
const WORDS: [&str; 5] = ["Type", "Duration", "DatabaseSizing", "DatabasePaths/Path", "LogPath"];

/// Adds one element or attribute to the draft.
pub(super) fn take(draft: &mut Draft, name: &str, value: &str) {
    if value.is_empty() && WORDS.contains(&name) {
        draft.problem(ConversionProblem::of(name, value, "a value"));
        return;
    }
    if let Some((_, same, reason)) = SAME.iter().find(|(known, ..)| *known == name) {
        if !same.eq_ignore_ascii_case(value) && !value.is_empty() {
            draft.remark(name, &format!("{value} is not taken over: {reason}"));
        }
        let wanted = if switch(name, same).is_ok() { "true or false" } else { "a number" };
        if switch(name, value).is_err() && value.parse::<f64>().is_err() {
            draft.aside(ConversionProblem::of(name, value, wanted));
        }
        return;
    }
    if name == "JetstressVersionGenerated" {
        draft.is_2010 = value.starts_with("14.");
    }
    if let Some((_, reason)) = LEFT.iter().find(|(known, _)| *known == name) {
        if !value.is_empty() && name != "JetstressVersionGenerated" {
            draft.remark(name, &format!("{value} is not taken over: {reason}"));
        }
        return;
    }
    if take_place(draft, name, value) {
        return;
    }
    match take_load(draft, name, value) {
        Ok(true) => {}
        Ok(false) => {
            draft.remark(name, &format!("`{value}` is not taken over: the element is not known"));
        }
        Err(problem) => draft.problem(problem),
    }
}

/// Locations of databases, and the description of the test.
fn take_place(draft: &mut Draft, name: &str, value: &str) -> bool {
    let last = draft.instances.last_mut();
    match (name, last) {
        ("begin EseInstance", _) => draft.instances.push(DatabasePlace::default()),
        ("begin Thresholds", _) => draft.limits.push(LimitSet::default()),
        ("DatabasePaths/Path", Some(instance)) if instance.folder.is_empty() => {
            value.clone_into(&mut instance.folder);
        }
        ("DatabasePaths/Path", Some(_)) => {
            draft.remark(name, &format!("{value} is not taken over: an instance has one database"));
        }
        ("LogPath", Some(instance)) => value.clone_into(&mut instance.log_folder),
        ("DatabaseBackupPath", Some(instance)) => value.clone_into(&mut instance.backup_folder),
        ("EseInstance@IopsBias", Some(instance)) => value.clone_into(&mut instance.weight),
        ("Description", _) => value.clone_into(&mut draft.description),
        ("Type", _) => value.clone_into(&mut draft.kind),
        ("Duration", _) => value.clone_into(&mut draft.duration),
        ("DatabaseSizing", _) => value.clone_into(&mut draft.sizing),
        ("Thresholds@Name", _) => {}
        ("Thresholds@TestRunTypes", _) => {
            if let Some(limits) = draft.limits.last_mut() {
                value.clone_into(&mut limits.kinds);
            }
        }
        _ => return false,
    }
    true
}

/// Numbers and switches.
fn take_load(draft: &mut Draft, name: &str, value: &str) -> Result<bool, ConversionProblem> {
    if let Some(limit) = name.strip_prefix("Thresholds/") {
        let number = value.parse().map_err(|_| no_number(name, value))?;
        return Ok(draft.limits.last_mut().is_some_and(|limits| limits.take(limit, number)));
    }
    match name {
        "VerifyChecksum" => draft.checksum = Some(switch(name, value)?),
        "RunDatabaseMaintenancePerformance" => {
            draft.maintenance = Some(switch(name, value)?);
        }
        "BackupToDisk" => draft.is_copied = switch(name, value)?,
        "SuppressTuning" => draft.is_untuned = switch(name, value)?,
        _ => return draft.take_number(name, value).ok_or_else(|| no_number(name, value)),
    }
    Ok(true)
}

fn no_number(name: &str, value: &str) -> ConversionProblem {
    ConversionProblem::of(name, value, "a number from 0 on")
}

fn switch(name: &str, value: &str) -> Result<bool, ConversionProblem> {
    match value {
        "true" | "True" | "1" => Ok(true),
        "false" | "False" | "0" => Ok(false),
        _ => Err(ConversionProblem::of(name, value, "true or false")),
    }
}
