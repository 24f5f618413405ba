//! Whether an operating system cache is known to be, or may be, in front of the storage.

use record::{RunRecord, VolumeFacts};

use super::device_reads::is_counted;
use crate::{Evidence, Finding, Kind, Ruling, Unit};

/// Inconclusive if a cache is known to be in the way, or if neither kernel nor devices can rule one
/// out for a database volume. A cache hides storage failures and causes none, so a limit exceeded
/// in doubt still counts. No finding if every volume is known to have no cache in front of it.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    let volumes = volumes(run);
    let mut evidence = Vec::new();
    evidence.extend(volumes.iter().filter_map(|volume| cached(volume)));
    let is_cached = !evidence.is_empty();
    let is_doubtful = run.start.databases.iter().any(|of| is_in_doubt(run, &of.volume));
    evidence.extend(volumes.iter().filter_map(|volume| unknown(run, volume)));
    if evidence.is_empty() {
        return None;
    }
    let is_judged = !is_cached && !is_doubtful;
    Some(Finding {
        rule: "caches",
        title: "Caches of the operating system",
        kind: if is_cached || is_judged { Kind::Validity } else { Kind::Load },
        outcome: if is_judged { Ruling::Pass } else { Ruling::CannotJudge },
        measured: None,
        limit: None,
        unit: Unit::None,
        evidence: evidence.into_iter().map(Evidence::of_run).collect(),
    })
}

/// The volumes of databases and logs, each once.
fn volumes(run: &RunRecord) -> Vec<&VolumeFacts> {
    let mut volumes = Vec::new();
    for database in &run.start.databases {
        volumes.extend([&database.volume, &database.log_volume]);
    }
    volumes.sort_by_key(|volume| &volume.mount);
    volumes.dedup_by_key(|volume| &volume.mount);
    volumes
}

fn cached(volume: &VolumeFacts) -> Option<String> {
    let why = volume.cached.as_ref()?;
    Some(format!("{}: {why}", volume.mount))
}

fn unknown(run: &RunRecord, volume: &VolumeFacts) -> Option<String> {
    let why = volume.caching_unknown.as_ref()?;
    let remedy = if is_in_doubt(run, volume) {
        ", and no device counted what was read; measure a volume whose device counts"
    } else {
        ", but its device counted what was read"
    };
    Some(format!("{}: unknown: {why}{remedy}", volume.mount))
}

/// Whether there is no evidence that reads of the volume reached a device.
fn is_in_doubt(run: &RunRecord, volume: &VolumeFacts) -> bool {
    volume.caching_unknown.is_some() && !is_counted(run, &volume.mount)
}
