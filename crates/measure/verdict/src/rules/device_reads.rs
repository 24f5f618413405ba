//! Whether reads came from the devices: a device that counted far fewer bytes than were read did
//! not answer itself.

use record::{RunRecord, VolumeReads};
use units::Bytes;

use crate::{Evidence, Finding, Kind, Limit, Ruling, Unit};

/// A device that counted less than this share of the requested bytes did not answer itself. Other
/// load only makes it read more, and bytes do not depend on how requests were merged.
const LEAST_PERCENT: f64 = 50.0;

/// So few bytes may all have been cached just before.
const FEWEST_BYTES: u64 = 16 << 20;

/// Cannot judge a run of which a device counted far fewer bytes than were read. Finds nothing if no
/// device counts, or too little was read.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    let compared = run.volume_reads.iter().filter(|reads| is_enough(reads));
    let least = compared.clone().map(percent).min_by(f64::total_cmp)?;
    let limit = Limit::AtLeast(LEAST_PERCENT);
    let mut evidence = Vec::new();
    evidence.extend(compared.filter(|reads| !limit.admits(percent(reads))).map(too_few));
    Some(Finding {
        rule: "device-reads",
        title: "Reads that reached the device",
        kind: Kind::Validity,
        outcome: if evidence.is_empty() { Ruling::Pass } else { Ruling::CannotJudge },
        measured: Some(least),
        limit: Some(limit),
        unit: Unit::Percent,
        evidence,
    })
}

/// Whether the device below the volume at `mount` counted enough reads to compare.
pub(super) fn is_counted(run: &RunRecord, mount: &str) -> bool {
    run.volume_reads.iter().any(|reads| reads.volume == mount && is_enough(reads))
}

const fn is_enough(reads: &VolumeReads) -> bool {
    reads.requested_bytes >= FEWEST_BYTES
}

fn percent(reads: &VolumeReads) -> f64 {
    reads.device_bytes as f64 / reads.requested_bytes.max(1) as f64 * 100.0
}

fn too_few(reads: &VolumeReads) -> Evidence {
    Evidence::of_run(format!(
        "{}: {} were read and the device counted {}: a cache answered; mount the volume without it",
        reads.volume,
        Bytes(reads.requested_bytes),
        Bytes(reads.device_bytes)
    ))
}
