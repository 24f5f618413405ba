//! Whether a cache of the operating system answered in the storage's place.

use record::{RunRecord, VolumeFacts, VolumeReads};
use units::Bytes;

use crate::{Evidence, Finding, Kind, Limit, Ruling, Unit};

/// A device that has read less than this share of what was asked for did not answer itself. Other
/// load only makes it read more, and bytes do not care how requests were merged.
const LEAST_PERCENT: f64 = 50.0;

/// So few bytes may all have been read just before.
const FEWEST_BYTES: u64 = 16 << 20;

/// Cannot judge where a cache is known to be in the way, or a device counted far fewer bytes than
/// were read, or neither kernel nor devices can say it of a volume of databases. A cache hides what
/// storage fails and fails nothing itself, so a limit that was not kept in that doubt stands. Finds
/// nothing in a record that says neither.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    let mut volumes: Vec<&VolumeFacts> = run
        .start
        .databases
        .iter()
        .flat_map(|database| [&database.volume, &database.log_volume])
        .collect();
    volumes.sort_by_key(|volume| &volume.mount);
    volumes.dedup_by_key(|volume| &volume.mount);
    let compared: Vec<&VolumeReads> =
        run.volume_reads.iter().filter(|reads| reads.requested_bytes >= FEWEST_BYTES).collect();
    let least = compared.iter().map(|reads| percent(reads));
    let least = least.min_by(f64::total_cmp);
    if compared.is_empty()
        && !volumes.iter().any(|volume| volume.cached.is_some() || volume.caching_unknown.is_some())
    {
        return None;
    }
    let mut evidence: Vec<String> = volumes.iter().filter_map(|volume| cached(volume)).collect();
    let few = compared.iter().filter(|reads| percent(reads) < LEAST_PERCENT);
    evidence.extend(few.map(|reads| too_few(reads)));
    let is_answered = !evidence.is_empty();
    let is_doubtful =
        is_answered || run.start.databases.iter().any(|of| is_in_doubt(run, &of.volume));
    let outcome = if is_doubtful { Ruling::CannotJudge } else { Ruling::Pass };
    evidence.extend(volumes.iter().filter_map(|volume| unknown(run, volume)));
    Some(Finding {
        rule: "caches",
        title: "Reads that reached the device",
        kind: if is_answered || !is_doubtful { Kind::Validity } else { Kind::Load },
        outcome,
        measured: least,
        limit: least.map(|_| Limit::AtLeast(LEAST_PERCENT)),
        unit: Unit::Percent,
        evidence: evidence.into_iter().map(Evidence::of_run).collect(),
    })
}

fn percent(reads: &VolumeReads) -> f64 {
    reads.device_bytes as f64 / reads.requested_bytes.max(1) as f64 * 100.0
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
        ""
    };
    Some(format!("{}: unknown: {why}{remedy}", volume.mount))
}

/// Whether nothing says that reads of the volume reached a device.
fn is_in_doubt(run: &RunRecord, volume: &VolumeFacts) -> bool {
    let mut counted = run.volume_reads.iter().filter(|of| of.requested_bytes >= FEWEST_BYTES);
    let is_counted = counted.any(|reads| reads.volume == volume.mount);
    volume.caching_unknown.is_some() && !is_counted
}

fn too_few(reads: &VolumeReads) -> String {
    format!(
        "{}: {} were read and the device counted {}: a cache answered; mount the volume without it",
        reads.volume,
        Bytes(reads.requested_bytes),
        Bytes(reads.device_bytes)
    )
}
