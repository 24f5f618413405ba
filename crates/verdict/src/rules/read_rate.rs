//! The rate at which a backup or checksum test must read each database, where the plan sets one.

use record::{Checksum, RunRecord, TestType};
use units::Bytes;

use crate::{Evidence, Finding, Kind, Limit, Ruling, Unit};

/// Fails where a database was read more slowly; cannot judge where one was not read to its end.
/// Finds nothing in other tests, or without a limit.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    let passes = match run.start.test {
        TestType::Backup => &run.backups,
        TestType::Checksum => &run.checksums,
        _ => return None,
    };
    let limit = run.start.settings.thresholds.read_rate_bytes_per_second?;
    let limit = Limit::AtLeast(mebibytes(limit as f64));
    let rates = passes.iter().filter_map(|pass| Some((pass.database, rate(pass)?)));
    let slowest = rates.min_by(|one, other| one.1.total_cmp(&other.1));
    let is_complete = passes.len() >= run.start.databases.len();
    let outcome = match slowest {
        Some((_, rate)) if !limit.admits(rate) => Ruling::Fail,
        Some(_) if is_complete => Ruling::Pass,
        _ => Ruling::CannotJudge,
    };
    Some(Finding {
        rule: "read-rate",
        title: "Slowest database read",
        kind: Kind::Load,
        outcome,
        measured: slowest.map(|(_, rate)| rate),
        limit: Some(limit),
        unit: Unit::MebibytesPerSecond,
        evidence: too_slow(passes, limit),
    })
}

/// The databases that were.
fn too_slow(passes: &[Checksum], limit: Limit) -> Vec<Evidence> {
    let slow = passes.iter().filter(|pass| rate(pass).is_some_and(|rate| !limit.admits(rate)));
    slow.map(|pass| {
        let seconds = pass.elapsed_ns as f64 / 1e9;
        let text = format!("{} in {seconds:.1} s", Bytes(pass.bytes));
        Evidence::of_database(pass.database, text)
    })
    .collect()
}

/// MiB per second.
fn rate(pass: &Checksum) -> Option<f64> {
    let seconds = pass.elapsed_ns as f64 / 1e9;
    (seconds > 0.0).then(|| mebibytes(pass.bytes as f64) / seconds)
}

fn mebibytes(bytes: f64) -> f64 {
    bytes / f64::from(1 << 20)
}
