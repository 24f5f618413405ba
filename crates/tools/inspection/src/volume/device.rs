//! Devices: paths, arrays of the kernel, encryption, alignment, scheduler and queue.

use device_os::probe::{BlockDevice, Makeup, SoftwareArray, Transport};
use record::StorageFinding;
use units::{Bytes, plural};

use crate::draft::{FindingDraft, mended_by};

/// Partitions that begin at a multiple of this are aligned to sectors and to strips of any size.
const ALIGNMENT_BYTES: u64 = 1 << 20;
/// A mail store keeps this many requests in flight on a disk.
const LEAST_QUEUE: u32 = 32;
/// Minimum chunk of software RAID, the same as for the strips of controllers.
const LEAST_CHUNK_BYTES: u64 = 256 << 10;
const MOST_RAID5_DISKS: u32 = 7;

pub(super) fn findings(device: &BlockDevice) -> Vec<StorageFinding> {
    let mut findings = Vec::new();
    findings.extend(alignment(device));
    findings.extend(table(device));
    findings.extend(paths(device));
    findings.extend(encryption(device));
    if let Makeup::Array(array) = &device.makeup {
        findings.extend(software_array(&device.facts.name, array));
    }
    findings.extend(software_cache(device));
    findings.extend(scheduler(device));
    findings.extend(queue(device));
    findings
}

fn alignment(device: &BlockDevice) -> Option<StorageFinding> {
    let begin = device.partition.as_ref().map(|partition| partition.begin_bytes);
    let off = device.misalignment_bytes.filter(|&bytes| bytes > 0);
    let draft = FindingDraft::new(("alignment", "Alignment"), &device.facts.name);
    let remedy = "make the partition anew, beginning at a multiple of 1 MiB";
    let reason = "a page lies across two sectors or strips, and each write reads first";
    Some(match (begin, off) {
        (_, Some(off)) => mended_by(draft.fail(format!("off by {off} bytes"), reason), remedy),
        (Some(begin), None) if begin % u64::from(device.facts.physical_sector.max(1)) != 0 => {
            mended_by(draft.fail(format!("begins at byte {begin}"), reason), remedy)
        }
        (Some(begin), None) if begin % ALIGNMENT_BYTES != 0 => mended_by(
            draft.warn(format!("begins at byte {begin}"), "strips of an array may be cut"),
            remedy,
        ),
        (Some(begin), None) => draft.pass(format!("begins at {}", Bytes(begin)), "whole sectors"),
        (None, None) => return None,
    })
}

fn table(device: &BlockDevice) -> Option<StorageFinding> {
    let scheme = device.partition.as_ref()?.scheme.as_ref()?;
    let draft = FindingDraft::new(("partition-table", "Partition table"), &device.facts.name);
    Some(if scheme == "gpt" {
        draft.pass("GPT", "for disks of any size")
    } else {
        let reason = "GPT is the rule for volumes of databases, and the only one above 2 TiB";
        draft.warn(scheme, reason)
    })
}

fn paths(device: &BlockDevice) -> Option<StorageFinding> {
    let draft = FindingDraft::new(("multipath", "Paths to the storage"), &device.facts.name);
    match (&device.makeup, device.transport) {
        (Makeup::Multipath { paths, running }, _) => {
            let seen = format!("{running} of {paths} running");
            Some(if running < paths {
                mended_by(
                    draft.fail(seen, "a path is down: half of the bandwidth, and no reserve"),
                    "multipath -ll",
                )
            } else if *paths < 2 {
                mended_by(draft.fail(seen, "nothing takes over when it fails"), "multipath -ll")
            } else {
                draft.pass(seen, "one may fail")
            })
        }
        _ => None,
    }
}

/// Finding on a network disk without a multipath device above it. Takes the whole list, since a
/// path does not reveal the devices above it. The portals of a LUN that no kernel has attached are
/// checked separately.
pub(super) fn single_path(devices: &[BlockDevice]) -> Option<StorageFinding> {
    if devices.iter().any(|device| matches!(device.makeup, Makeup::Multipath { .. })) {
        return None;
    }
    let network = [Some(Transport::Iscsi), Some(Transport::FibreChannel)];
    let device = devices
        .iter()
        .find(|device| network.contains(&device.transport) && !device.is_unattached)?;
    let draft = FindingDraft::new(("multipath", "Paths to the storage"), &device.facts.name);
    Some(mended_by(
        draft.warn("one, over a network", "a cable or a switch takes the mail store down"),
        "mpathconf --enable, and a second portal or fabric",
    ))
}

fn encryption(device: &BlockDevice) -> Option<StorageFinding> {
    let draft =
        FindingDraft::new(("volume-encryption", "Encryption of the volume"), &device.facts.name);
    (device.makeup == Makeup::Encrypted)
        .then(|| draft.pass("dm-crypt", "supported; it costs processor time on every request"))
}

fn software_array(name: &str, array: &SoftwareArray) -> Vec<StorageFinding> {
    let draft = || FindingDraft::new(("software-array", "RAID of the kernel"), name);
    let mut findings = Vec::new();
    let seen = format!("{} of {}", array.level, plural(array.disks.into(), "disk"));
    findings.push(match (array.level.as_str(), array.disks) {
        _ if array.missing > 0 => mended_by(
            draft().fail(format!("{seen}, {} missing", array.missing), "it is degraded"),
            format!("mdadm --detail /dev/{name}"),
        ),
        ("raid5", disks) if disks > MOST_RAID5_DISKS => {
            draft().fail(seen, "a second disk is likely to be lost while the first is rebuilt")
        }
        ("raid0" | "linear", disks) if disks > 1 => {
            draft().warn(seen, "any one disk takes all of it with it")
        }
        ("raid5" | "raid6", _) => {
            draft().warn(seen, "small writes read first, and no cache hides it in software")
        }
        _ => draft().pass(seen, "it has no cache of its own: what disks say counts"),
    });
    if let Some(bytes) = array.chunk_bytes {
        let draft = FindingDraft::new(("strip-size", "Strip on each disk"), name);
        let seen = Bytes(bytes).to_string();
        findings.push(if bytes < LEAST_CHUNK_BYTES {
            draft.fail(seen, "requests of a backup or of maintenance keep several disks busy")
        } else {
            draft.pass(seen, "one request keeps one disk busy")
        });
    }
    findings
}

fn software_cache(device: &BlockDevice) -> Option<StorageFinding> {
    let draft =
        FindingDraft::new(("software-cache", "Cache of flash before disks"), &device.facts.name);
    let reason = "a run of hours may fit into it, and a day of mail may not: run long enough";
    (device.makeup == Makeup::Cached).then(|| draft.warn("bcache", reason))
}

fn scheduler(device: &BlockDevice) -> Option<StorageFinding> {
    let name = &device.facts.name;
    let scheduler = device.facts.scheduler.as_deref()?;
    let draft = FindingDraft::new(("scheduler", "I/O scheduler"), name);
    Some(match (scheduler, device.facts.rotational) {
        ("bfq" | "cfq", _) => mended_by(
            draft.warn(scheduler, "it shares a disk among people at a desk; log writes wait"),
            format!("echo mq-deadline > /sys/block/{name}/queue/scheduler"),
        ),
        ("kyber" | "mq-deadline" | "none" | "deadline" | "noop", _) => {
            draft.pass(scheduler, "requests go out as they come, or by deadline")
        }
        _ => draft.unknown(scheduler, "nothing is known of it"),
    })
}

fn queue(device: &BlockDevice) -> Option<StorageFinding> {
    let depth = device.facts.queue_depth?;
    let name = &device.facts.name;
    let draft = FindingDraft::new(("queue-depth", "Requests that the kernel queues"), name);
    let seen = depth.to_string();
    Some(if depth < LEAST_QUEUE {
        mended_by(
            draft.warn(seen, "sessions wait in line before the disk sees their requests"),
            format!("echo 256 > /sys/block/{name}/queue/nr_requests"),
        )
    } else {
        draft.pass(seen, "enough for every session")
    })
}

#[cfg(test)]
mod tests {
    use device_os::probe::{BlockDevice, Makeup, Partition, SoftwareArray, Transport};
    use record::StorageRuling::{self, Fail, Pass, Warn};

    use super::super::tests::{disk, found};
    use super::{findings, single_path};

    fn check(name: &str, change: impl Fn(&mut BlockDevice)) -> StorageRuling {
        let mut device = disk("sda");
        change(&mut device);
        found(&findings(&device), name).outcome
    }

    #[test]
    fn partitions_begin_at_whole_sectors_and_strips() {
        let begin = |begin_bytes| {
            let partition = Partition { begin_bytes, scheme: None };
            check("alignment", |device| device.partition = Some(partition.clone()))
        };
        assert_eq!([begin(1 << 20), begin(63 * 512), begin(64 << 10)], [Pass, Fail, Warn]);
        assert_eq!(check("alignment", |device| device.misalignment_bytes = Some(512)), Fail);
        let scheme = |name: &str| {
            let partition = Partition { begin_bytes: 1 << 20, scheme: Some(name.to_owned()) };
            check("partition-table", |device| device.partition = Some(partition.clone()))
        };
        assert_eq!([scheme("gpt"), scheme("dos")], [Pass, Warn]);
    }

    #[test]
    fn a_network_wants_two_paths() {
        let paths = |paths, running| {
            check("multipath", |device| device.makeup = Makeup::Multipath { paths, running })
        };
        assert_eq!([paths(2, 2), paths(2, 1), paths(1, 1)], [Pass, Fail, Fail]);
        let mut one = disk("sdb");
        one.transport = Some(Transport::Iscsi);
        let single = single_path(std::slice::from_ref(&one)).unwrap();
        assert_eq!((single.outcome, single.subject.as_str()), (Warn, "sdb"));
        let mut above = disk("dm-0");
        above.makeup = Makeup::Multipath { paths: 2, running: 2 };
        assert_eq!(single_path(&[above, one]), None);
        assert_eq!(single_path(&[disk("sda")]), None);
    }

    #[test]
    fn arrays_of_the_kernel_are_judged_like_those_of_controllers() {
        let array = |level: &str, disks, missing| {
            let array = SoftwareArray {
                level: level.to_owned(),
                disks,
                missing,
                chunk_bytes: Some(512 << 10),
            };
            check("software-array", |device| device.makeup = Makeup::Array(array.clone()))
        };
        assert_eq!([array("raid10", 4, 0), array("raid1", 2, 1)], [Pass, Fail]);
        assert_eq!(
            [array("raid5", 8, 0), array("raid6", 8, 0), array("raid0", 2, 0)],
            [Fail, Warn, Warn]
        );
        let chunk = |bytes| {
            let array = SoftwareArray { chunk_bytes: Some(bytes), ..SoftwareArray::default() };
            check("strip-size", |device| device.makeup = Makeup::Array(array.clone()))
        };
        assert_eq!([chunk(64 << 10), chunk(256 << 10)], [Fail, Pass]);
    }

    #[test]
    fn schedulers_queues_caches_and_encryption_are_judged() {
        let named = |name: &str| check("scheduler", |of| of.facts.scheduler = Some(name.into()));
        assert_eq!([named("none"), named("bfq")], [Pass, Warn]);
        assert_eq!(named("new"), StorageRuling::CannotJudge);
        assert_eq!(check("queue-depth", |device| device.facts.queue_depth = Some(1)), Warn);
        assert_eq!(check("software-cache", |device| device.makeup = Makeup::Cached), Warn);
        assert_eq!(check("volume-encryption", |device| device.makeup = Makeup::Encrypted), Pass);
    }
}
