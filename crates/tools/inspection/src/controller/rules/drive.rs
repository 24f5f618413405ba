//! Logical drives and disks: strips, levels, states, and the caches of the disks themselves.

use record::{StorageFinding, StorageRuling};
use units::{Bytes, plural};

use super::super::known::doubted;
use super::super::{Controller, DiskCaches, Health, LogicalDrive, PhysicalDisk, Tool};
use crate::draft::{FindingDraft, mended_by};

/// Smaller strips split one request over two disks.
const LEAST_STRIP_BYTES: u64 = 256 << 10;
/// Maximum number of disks in a RAID 5: a rebuild reads every other disk, so more of them make the
/// next loss likely.
const MOST_RAID5_DISKS: u32 = 7;

/// Why caches of disks must be off.
const LOSES: &str = "the controller counts as written what power takes from a disk's cache";

/// Why states must be in order.
const REPAIR: &str = "a run would measure its repair, and the next lost disk may be mail";

const DISK_CACHE: (&str, &str) = ("disk-cache", "Caches of the disks themselves");

pub(super) fn disk_caches(
    controller: &Controller,
    drive: &LogicalDrive,
    subject: &str,
) -> StorageFinding {
    let draft = FindingDraft::new(DISK_CACHE, subject);
    let remedy = controller.set_disk_caches_off(&drive.id);
    let found = drive.disk_caches.judge(|caches| match caches {
        Some(DiskCaches::Off) => {
            draft.clone().pass("off", "only the controller keeps writes, and it keeps them")
        }
        Some(DiskCaches::On) => draft.clone().fail("on", LOSES),
        Some(DiskCaches::LeftToDisks) => draft
            .clone()
            .unknown("left to the disks", "what a disk does by itself is not in this output"),
        None => draft.clone().unknown("not told", "this output does not say"),
    });
    match remedy {
        Some(remedy) if found.outcome != StorageRuling::Pass => mended_by(found, remedy),
        _ => found,
    }
}

pub(super) fn strip(
    controller: &Controller,
    drive: &LogicalDrive,
    subject: &str,
) -> Option<StorageFinding> {
    let draft = FindingDraft::new(("strip-size", "Strip on each disk"), subject);
    let found = drive.strip_bytes.judge(|bytes| match bytes {
        Some(&bytes) if bytes < LEAST_STRIP_BYTES => {
            let reason = "requests of a backup or of maintenance, 256 KiB, keep several disks busy";
            let found = draft.clone().fail(Bytes(bytes).to_string(), reason);
            mended_by(found, "make the drive anew with strips of 256 KiB or 512 KiB")
        }
        Some(&bytes) => {
            draft.clone().pass(Bytes(bytes).to_string(), "one request keeps one disk busy")
        }
        None => draft.clone().unknown("not told", "this output does not say"),
    });
    // A plain mirror has no strips, and mdadm reports none.
    let is_mirror =
        controller.tool == Tool::Mdadm && drive.level.only().is_some_and(|of| of == "RAID 1");
    (drive.strip_bytes.is_told() && !is_mirror).then_some(found)
}

pub(super) fn level(drive: &LogicalDrive, subject: &str) -> Option<StorageFinding> {
    let draft = FindingDraft::new(("raid-level", "RAID level"), subject);
    let cases = drive
        .level
        .cases()
        .into_iter()
        .flat_map(|level| drive.disks.cases().into_iter().map(move |disks| (level, disks)));
    let doubt = drive.level.doubt().or_else(|| drive.disks.doubt());
    let all = cases.map(|(level, disks)| level_case(&draft, level, disks));
    let found = all.max_by_key(|finding| finding.outcome);
    let found = doubted(found.unwrap_or_else(|| level_case(&draft, None, None)), doubt);
    drive.disks.is_told().then_some(found)
}

fn level_case(draft: &FindingDraft, level: Option<&String>, disks: Option<&u32>) -> StorageFinding {
    let draft = draft.clone();
    let (Some(level), Some(&disks)) = (level, disks) else {
        return draft.unknown("not told", "the output has no level, or no number of disks");
    };
    let digits: String = level.chars().filter(char::is_ascii_digit).collect();
    let seen = format!("{level} of {}", plural(disks.into(), "disk"));
    match digits.as_str() {
        "5" if disks > MOST_RAID5_DISKS => mended_by(
            draft.fail(seen, "a second disk is likely to be lost while the first is rebuilt"),
            "use RAID 10, or RAID 5 of at most seven disks",
        ),
        "0" if disks > 1 => mended_by(
            draft.warn(seen, "any one disk takes all of the drive with it"),
            "one disk per RAID 0, and three copies or more of each database",
        ),
        "0" => draft.pass(seen, "one disk behind the cache; copies of databases are the safety"),
        "1" | "10" | "5" | "50" | "6" | "60" => draft.pass(seen, "a lost disk loses no mail"),
        _ => draft.unknown(seen, "what this level does when a disk is lost is not known"),
    }
}

pub(super) fn state(drive: &LogicalDrive, subject: &str) -> StorageFinding {
    let draft = FindingDraft::new(("drive-state", "State of the logical drive"), subject);
    drive.state.judge(|state| match state {
        Some(Health::Ok) => draft.clone().pass("in order", "no disk is missing or being rebuilt"),
        Some(Health::Limited(words)) => {
            draft.clone().warn(words, "a run would measure this work as well: wait for its end")
        }
        Some(Health::Bad(words)) => draft.clone().fail(words, REPAIR),
        None => draft.clone().unknown("not told", "this output does not say"),
    })
}

/// Finding on faulty disks of a drive.
pub(super) fn members(drive: &LogicalDrive, subject: &str) -> Option<StorageFinding> {
    let draft = FindingDraft::new(("drive-disks", "Disks of the logical drive"), subject);
    let found = drive.members.judge(|state| match state {
        Some(Health::Ok) => draft.clone().pass("in order", "none is missing"),
        Some(Health::Limited(words)) => draft.clone().warn(words, REPAIR),
        Some(Health::Bad(words)) => draft.clone().fail(words, REPAIR),
        None => draft.clone().unknown("not told", "this output does not say"),
    });
    let is_bad = found.outcome != StorageRuling::Pass;
    (drive.members.is_told() && is_bad).then_some(found)
}

/// Disks whose own caches are reported one by one.
pub(super) fn each_disk(controller: &Controller) -> Option<StorageFinding> {
    let draft = FindingDraft::new(DISK_CACHE, controller.name());
    let on: Vec<&str> = controller
        .disks
        .iter()
        .filter(|disk| disk.cache.told().contains(&DiskCaches::On))
        .map(|disk| disk.name.as_str())
        .collect();
    if !controller.disks.iter().any(|disk| disk.cache.is_told()) {
        return None;
    }
    if !on.is_empty() {
        return Some(draft.fail(format!("on: {}", on.join(", ")), LOSES));
    }
    let is_off = Some(&DiskCaches::Off);
    let off = controller.disks.iter().filter(|disk| disk.cache.only() == is_off).count();
    let members: Option<u32> =
        controller.drives.iter().map(|drive| drive.disks.only().copied()).sum();
    let wanted = members.filter(|&members| members > 0).map(|members| members as usize);
    let is_whole = off == controller.disks.len() && wanted.is_some_and(|wanted| off >= wanted);
    Some(if is_whole {
        draft.pass(
            format!("off on {}", plural(off as u64, "disk")),
            "only the controller keeps writes",
        )
    } else {
        let all = wanted.unwrap_or(0).max(controller.disks.len());
        draft.unknown(format!("off on {off} of {all} disks or more"), "the others are not told")
    })
}

/// Findings on faulty disks.
pub(super) fn states_of_disks(controller: &Controller) -> Vec<StorageFinding> {
    // One line for each good disk would hide the bad ones.
    controller
        .disks
        .iter()
        .filter(|disk| disk.state.is_told())
        .map(|disk| state_of_disk(controller, disk))
        .filter(|found| found.outcome != StorageRuling::Pass)
        .collect()
}

fn state_of_disk(controller: &Controller, disk: &PhysicalDisk) -> StorageFinding {
    let subject = format!("{}, disk {}", controller.name(), disk.name);
    let draft = FindingDraft::new(("disk-state", "State of a disk"), subject);
    disk.state.judge(|state| match state {
        Some(Health::Ok) => draft.clone().pass("in order", "it works"),
        Some(Health::Limited(words)) => {
            draft.clone().warn(words, "it works, and may be the next to fail")
        }
        Some(Health::Bad(words)) => draft
            .clone()
            .fail(words, "a failed or rebuilding disk slows down its array and endangers it"),
        None => draft.clone().unknown("not told", "this output does not say"),
    })
}
