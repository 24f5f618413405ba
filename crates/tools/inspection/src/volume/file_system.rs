//! The file system: its kind, allocation unit and options, and its automatic changes to files.

use device_os::probe::{BitLocker, Caching, FileMark};
use record::StorageFinding;
use units::Bytes;

use super::StoragePlace;
use crate::draft::{FindingDraft, mended_by};

/// Recommended allocation unit of NTFS and `ReFS` for databases.
const ALLOCATION_UNIT_BYTES: u64 = 64 << 10;

pub(super) fn findings(place: &StoragePlace<'_>) -> Vec<StorageFinding> {
    let mut findings = vec![kind(place), caching(place), options(place)];
    findings.extend(allocation_unit(place));
    findings.extend(marks(place));
    findings.extend(bitlocker(place));
    findings.push(super::limits::finding(place));
    findings
}

/// Judges volume encryption in Windows.
fn bitlocker(place: &StoragePlace<'_>) -> Option<StorageFinding> {
    let draft = FindingDraft::new(("volume-encryption", "Encryption of the volume"), place.name);
    Some(match place.volume.bitlocker.as_ref()? {
        BitLocker::On => {
            draft.pass("BitLocker", "supported; it costs processor time on every request")
        }
        BitLocker::Off => draft.pass("not by BitLocker", "no request waits for it"),
        BitLocker::Untold(why) => draft.unknown(
            format!("BitLocker is not told of; {why}"),
            "where a volume is encrypted, every request costs processor time",
        ),
    })
}

fn kind(place: &StoragePlace<'_>) -> StorageFinding {
    let name = place.volume.file_system.as_str();
    let draft = FindingDraft::new(("file-system", "File system"), place.name);
    let is_network = ["nfs", "cifs", "smb", "9p", "ceph", "fuse.", "glusterfs", "lustre", "vmhgfs"]
        .iter()
        .any(|kind| name.starts_with(kind));
    match name.to_ascii_lowercase().as_str() {
        "ext4" | "xfs" | "ext3" | "ext2" | "jfs" | "ntfs" | "refs" => {
            draft.pass(name, "it overwrites pages in place")
        }
        "btrfs" | "zfs" | "bcachefs" | "f2fs" | "nilfs2" => mended_by(
            draft.warn(name, "it writes a new copy of each page that changes, and files scatter"),
            "use ext4 or xfs; or turn copy-on-write off for the folder before files are in it",
        ),
        "tmpfs" | "ramfs" => {
            draft.fail(name, "its files live in memory and are gone with the machine")
        }
        _ if is_network => mended_by(
            draft.fail(name, "mail stores on file shares are not supported: use block storage"),
            "present the space as a disk, by iSCSI, Fibre Channel or NVMe",
        ),
        _ => draft.unknown(name, "nothing is known of how it writes"),
    }
}

fn caching(place: &StoragePlace<'_>) -> StorageFinding {
    let draft = FindingDraft::new(("unbuffered", "Requests past the system's cache"), place.name);
    match &place.volume.caching {
        Caching::None => draft.pass("yes", "the storage itself is measured"),
        Caching::InFileSystem(why) => {
            draft.fail(why, "memory would be measured in the storage's place: a run is refused")
        }
        Caching::Below(why) => {
            draft.fail(why, "memory answers reads in the storage's place: a run proves nothing")
        }
        Caching::Unknown(why) => draft.unknown(why, "a run compares what the devices count"),
    }
}

/// A relevant option: its name, whether it fails, why, and the option to use instead.
const OPTIONS: [(&str, bool, &str, &str); 9] = [
    ("nobarrier", true, "flushes do not reach the disk: power takes acknowledged mail", "barrier"),
    (
        "barrier=0",
        true,
        "flushes do not reach the disk: power takes acknowledged mail",
        "barrier=1",
    ),
    ("ro", true, "nothing can be written", "rw"),
    (
        "compress",
        true,
        "pages that compress differently move: every write costs more",
        "nocompress",
    ),
    ("compress-force", true, "every page is compressed when it is written", "nocompress"),
    (
        "data=journal",
        true,
        "every page is written twice, through the system's cache",
        "data=ordered",
    ),
    ("sync", false, "each write waits for metadata too", "async"),
    (
        "discard",
        false,
        "freed space is trimmed at once, between requests; fstrim may wait",
        "nodiscard",
    ),
    ("strictatime", false, "each read leaves a write behind", "noatime"),
];

fn options(place: &StoragePlace<'_>) -> StorageFinding {
    let draft = FindingDraft::new(("mount-options", "Mount options"), place.name);
    let options: Vec<&str> = place.volume.options.split(',').filter(|of| !of.is_empty()).collect();
    // `ro` counts in any position: `rw` of the mount does not override `ro` of the file system.
    let bad = OPTIONS.iter().find(|(name, ..)| is_set(&options, name));
    match bad {
        None => draft.pass(place.volume.options.clone(), "none is in the way"),
        Some((name, fails, why, instead)) => {
            let finding = if *fails { draft.fail(*name, why) } else { draft.warn(*name, why) };
            mended_by(finding, format!("mount -o remount,{instead} {}", place.volume.mount_point))
        }
    }
}

/// Judges the allocation unit, for file systems that have one; those of Linux use extents.
fn allocation_unit(place: &StoragePlace<'_>) -> Option<StorageFinding> {
    let bytes = place.volume.allocation_unit_bytes?;
    let draft = FindingDraft::new(("allocation-unit", "Allocation unit"), place.name);
    let seen = Bytes(bytes).to_string();
    Some(if bytes == ALLOCATION_UNIT_BYTES {
        draft.pass(seen, "a page of a database lies in one unit")
    } else {
        let reason = "databases and logs belong on units of 64 KiB: smaller ones scatter a file";
        let remedy = format_command(&place.volume.mount_point, &place.volume.file_system);
        mended_by(draft.fail(seen, reason), format!("{remedy} (it erases the volume)"))
    })
}

/// The command for a volume with a drive letter, or one that is mounted in a folder.
fn format_command(mount_point: &str, file_system: &str) -> String {
    let root = mount_point.trim_end_matches('\\');
    match root.strip_suffix(':') {
        Some(drive) => format!("Format-Volume -DriveLetter {drive} -AllocationUnitSize 65536"),
        None => format!("format \"{root}\" /FS:{file_system} /A:64K /Q"),
    }
}

fn marks(place: &StoragePlace<'_>) -> Vec<StorageFinding> {
    place.volume.marks.iter().map(|mark| mark_finding(*mark, place.name)).collect()
}

fn mark_finding(mark: FileMark, subject: &str) -> StorageFinding {
    match mark {
        FileMark::Compressed => mended_by(
            FindingDraft::new(("compression", "Compression of files"), subject)
                .fail("on", "a database must not be compressed by the file system"),
            format!("compact /u /s:{subject} (Windows) or chattr -c {subject} (Linux)"),
        ),
        FileMark::Encrypted => mended_by(
            FindingDraft::new(("encryption", "Encryption of files"), subject)
                .fail("on", "a database must not be encrypted file by file"),
            "use BitLocker or dm-crypt, which encrypt the volume",
        ),
        FileMark::Integrity => mended_by(
            FindingDraft::new(("integrity-streams", "Integrity streams"), subject)
                .fail("on", "ReFS writes each page to a new place and checks what ESE checks"),
            format!("Set-FileIntegrity -FileName {subject} -Enable $false"),
        ),
        FileMark::OverwrittenInPlace => {
            FindingDraft::new(("copy-on-write", "Copy on write"), subject)
                .pass("off", "pages are overwritten in place")
        }
    }
}

fn is_set(options: &[&str], name: &str) -> bool {
    options.iter().any(|option| {
        let bare = option.split('=').next().unwrap_or_default();
        *option == name || (!name.contains('=') && bare == name)
    })
}

#[cfg(test)]
mod tests {
    use device_os::probe::{BitLocker, Caching, FileMark, VolumeFacts};
    use record::StorageRuling::{self, CannotJudge, Fail, Pass, Warn};

    use super::super::tests::{found, volume};
    use super::{StoragePlace, findings};

    fn check(name: &str, change: impl Fn(&mut VolumeFacts)) -> (StorageRuling, String) {
        let mut volume = volume();
        change(&mut volume);
        let all = findings(&StoragePlace { name: "/mail", volume: &volume, devices: &[] });
        let finding = found(&all, name);
        (finding.outcome, finding.remedy.clone().unwrap_or_default())
    }

    #[test]
    fn kinds_of_file_systems_are_told_apart() {
        let kind = |name: &str| check("file-system", |volume| volume.file_system = name.into()).0;
        for (names, outcome) in [
            (&["ext4", "xfs", "NTFS", "ReFS"][..], Pass),
            (&["btrfs", "zfs"], Warn),
            (&["nfs4", "cifs", "fuse.sshfs", "tmpfs"], Fail),
            (&["erofs", "fuse", "fuseblk", ""], CannotJudge),
        ] {
            for name in names {
                assert_eq!(kind(name), outcome, "{name}");
            }
        }
    }

    #[test]
    fn options_that_lie_or_cost_are_found() {
        let options = |text: &str| check("mount-options", |volume| volume.options = text.into());
        assert_eq!(options("rw,relatime,rw,errors=remount-ro,barrier=1").0, Pass);
        let nobarrier = options("rw,noatime,rw,nobarrier");
        assert_eq!(nobarrier, (Fail, "mount -o remount,barrier /mail".to_owned()));
        assert_eq!(options("rw,rw,barrier=0").0, Fail);
        assert_eq!(options("rw,rw,compress=zstd:3").0, Fail);
        assert_eq!(options("ro,relatime").0, Fail);
        assert_eq!(options("rw,rw,discard").0, Warn);
        assert_eq!(options("rw,lazytime,rw,syncfoo").0, Pass);
    }

    #[test]
    fn caches_in_the_way_fail_and_unknown_ones_cannot_be_judged() {
        let caching = |caching: Caching| check("unbuffered", |of| of.caching = caching.clone()).0;
        assert_eq!(caching(Caching::None), Pass);
        assert_eq!(caching(Caching::InFileSystem("a".into())), Fail);
        assert_eq!(caching(Caching::Below("a".into())), Fail);
        assert_eq!(caching(Caching::Unknown("a".into())), CannotJudge);
    }

    #[test]
    fn units_and_marks_of_windows_are_judged() {
        let unit = |bytes| check("allocation-unit", |of| of.allocation_unit_bytes = Some(bytes)).0;
        assert_eq!((unit(65536), unit(4096)), (Pass, Fail));
        let remedy = |mount_point: &str| {
            let (_, remedy) = check("allocation-unit", |of| {
                of.allocation_unit_bytes = Some(4096);
                (of.mount_point, of.file_system) = (mount_point.into(), "ReFS".into());
            });
            remedy
        };
        let letter =
            "Format-Volume -DriveLetter D -AllocationUnitSize 65536 (it erases the volume)";
        assert_eq!(remedy("D:\\"), letter);
        let folder =
            r#"format "C:\ExchangeVolumes\ExVol1" /FS:ReFS /A:64K /Q (it erases the volume)"#;
        assert_eq!(remedy("C:\\ExchangeVolumes\\ExVol1\\"), folder);
        for (mark, name, outcome) in [
            (FileMark::Compressed, "compression", Fail),
            (FileMark::Encrypted, "encryption", Fail),
            (FileMark::Integrity, "integrity-streams", Fail),
            (FileMark::OverwrittenInPlace, "copy-on-write", Pass),
        ] {
            assert_eq!(check(name, |of| of.marks = vec![mark]).0, outcome, "{name}");
        }
        let encrypted =
            |told: BitLocker| check("volume-encryption", |of| of.bitlocker = Some(told.clone())).0;
        let untold = BitLocker::Untold("asking was not permitted".to_owned());
        assert_eq!([BitLocker::On, BitLocker::Off].map(encrypted), [Pass, Pass]);
        assert_eq!(encrypted(untold), CannotJudge);
    }
}
