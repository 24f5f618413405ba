//! Whether reads came from the devices: if a device counted far fewer bytes than were read,
//! something else answered. Other programs' reads can hide that in a device's count, but not in the
//! system's per-process accounting, which is used if the kernel does not know about caches.

use record::{RunRecord, VolumeReads};
use units::Bytes;

use crate::{Evidence, Finding, Kind, Limit, Ruling, Unit};

/// A device that counted less than this share of the requested bytes did not answer all reads
/// itself. Other load only makes it read more, and merging requests does not change bytes.
const LEAST_PERCENT: f64 = 50.0;

/// Fewer bytes than this may all have been cached beforehand.
const FEWEST_BYTES: u64 = 16 << 20;

/// Inconclusive if a device counted far fewer bytes than were read. No finding if no device has
/// counters, or too little was read.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    let compared = run.volume_reads.iter().filter(|reads| is_enough(reads));
    let compared = compared.map(|reads| Reached::of(run, reads));
    let least = compared.clone().map(Reached::percent).min_by(f64::total_cmp)?;
    let limit = Limit::AtLeast(LEAST_PERCENT);
    let evidence: Vec<Evidence> =
        compared.filter(|of| !limit.admits(of.percent())).map(Reached::too_few).collect();
    Some(Finding {
        rule: "device-reads",
        title: "Reads that reached the device",
        kind: Kind::Validity,
        outcome: if evidence.is_empty() { Ruling::Pass } else { Ruling::CannotJudge },
        // More than was requested is read by others, or ahead.
        measured: Some(least.min(100.0)),
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

/// The requested bytes of a volume, and those that reached a device.
#[derive(Clone, Copy)]
struct Reached<'a> {
    reads: &'a VolumeReads,
    bytes: u64,
}

impl<'a> Reached<'a> {
    /// Bounded by the devices' count, and also by the system's accounting if caches are unknown.
    fn of(run: &RunRecord, reads: &'a VolumeReads) -> Self {
        let mut volumes = run.start.databases.iter().flat_map(|of| [&of.volume, &of.log_volume]);
        let is_unknown = volumes.any(|of| of.mount == reads.volume && of.caching_unknown.is_some());
        let accounted = reads.accounted_bytes.filter(|_| is_unknown);
        let bytes = accounted.map_or(reads.device_bytes, |most| most.min(reads.device_bytes));
        Self { reads, bytes }
    }

    fn percent(self) -> f64 {
        self.bytes as f64 / self.reads.requested_bytes.max(1) as f64 * 100.0
    }

    fn too_few(self) -> Evidence {
        let Self { reads, bytes } = self;
        let counter = if bytes < reads.device_bytes {
            "the system accounts to this program and the file system's server"
        } else {
            "the device counted"
        };
        Evidence::of_run(format!(
            "{}: {} were read and {counter} {}: a cache answered the rest; mount the volume \
             without it, or measure with more data than it holds",
            reads.volume,
            Bytes(reads.requested_bytes),
            Bytes(bytes)
        ))
    }
}

#[cfg(test)]
mod tests {
    use record::synthetic::Synthetic;
    use record::{RunRecord, VolumeReads};

    use super::judge;
    use crate::Ruling;

    fn reads(run: &mut RunRecord, accounted_mib: Option<u64>) {
        let volume = run.start.databases[0].volume.mount.clone();
        let bytes = 100 << 20;
        let accounted_bytes = accounted_mib.map(|mib| mib << 20);
        run.volume_reads = vec![VolumeReads {
            volume,
            requested_bytes: bytes,
            device_bytes: bytes,
            accounted_bytes,
        }];
    }

    #[test]
    fn reads_of_others_hide_no_cache_that_the_kernel_does_not_know() {
        let mut run = Synthetic::default().run();
        reads(&mut run, Some(3));
        assert_eq!(judge(&run).unwrap().outcome, Ruling::Pass, "the kernel knows of no cache");
        for of in &mut run.start.databases {
            of.volume.caching_unknown = Some("fuse does not say".to_owned());
        }
        let found = judge(&run).unwrap();
        assert_eq!((found.outcome, found.measured), (Ruling::CannotJudge, Some(3.0)));
        let said = &found.evidence[0].text;
        assert!(said.contains("file system's server 3.0 MiB: a cache answered"), "{said}");
        for sound in [None, Some(100), Some(4_000)] {
            reads(&mut run, sound);
            assert_eq!(judge(&run).unwrap().outcome, Ruling::Pass, "{sound:?}");
        }
    }
}
