//! Compares volumes with the plan: mount points, sizes, kinds, and separate disks.

use std::collections::{BTreeMap, BTreeSet};

use device_os::probe::Platform;
use record::StorageFinding;
use units::{Bytes, plural};

use super::{LayoutLook, PlannedVolume, SeenFolder, SeenVolume, VolumeUse, copies};
use crate::draft::{FindingDraft, mended_by};

/// Maximum overhead of a file system, in percent of its volume: ext4 uses 1.6 % for its inodes.
const OWN_PERCENT: u64 = 3;

/// Findings on one volume and its contents.
pub(super) fn findings(look: &LayoutLook<'_>, volume: &PlannedVolume) -> Vec<StorageFinding> {
    if volume.purpose == VolumeUse::MetaCache {
        let draft = FindingDraft::new(("layout-volume", "Volume of the plan"), &volume.name);
        let reason =
            "the product's own script makes and mounts it: ask Get-MailboxDatabaseCopyStatus";
        return vec![draft.unknown("an SSD for MetaCache databases", reason)];
    }
    let path = look.roots.mount_of(volume);
    let mut findings = vec![mounted(look, volume, &path)];
    if let Some(seen) = look.mounted(volume) {
        findings.push(size(volume, &path, &seen.volume));
        findings.push(file_system(look, &path, &seen.volume));
        findings.extend(copies::on_volume(look, volume, seen));
    }
    findings
}

fn mounted(look: &LayoutLook<'_>, volume: &PlannedVolume, path: &str) -> StorageFinding {
    let subject = format!("{} ({})", volume.name, volume.purpose.name());
    let draft = FindingDraft::new(("layout-volume", "Volume of the plan"), subject);
    let Some(seen) = look.at(path) else {
        let missing = format!("there is no {path}");
        let finding = draft.fail(missing, "what belongs on it has no place");
        return mended_by(finding, look.roots.mount(&volume.name, path));
    };
    if seen.volume.is_mounted_here {
        let kind = &seen.volume.file_system;
        let seen = format!("mounted at {path}: {kind}, {}", Bytes(seen.volume.total_bytes));
        return draft.pass(seen, "it is where the plan has it");
    }
    let seen = format!("{path} is a folder of the volume at {}", seen.volume.mount_point);
    let reason = "nothing is mounted there: what is written goes to a volume that was not meant";
    mended_by(draft.fail(seen, reason), look.roots.mount(&volume.name, path))
}

fn size(volume: &PlannedVolume, path: &str, seen: &SeenVolume) -> StorageFinding {
    let draft = FindingDraft::new(("layout-size", "Size of the volume"), path);
    let told = format!("{} of {} planned", Bytes(seen.total_bytes), Bytes(volume.bytes));
    if seen.total_bytes >= volume.bytes / 100 * (100 - OWN_PERCENT) {
        return draft.pass(told, "databases and logs have the room that was calculated");
    }
    let reason = "databases are full before their mailboxes are";
    mended_by(
        draft.fail(told, reason),
        "enlarge the volume, or plan with fewer or smaller mailboxes",
    )
}

fn file_system(look: &LayoutLook<'_>, path: &str, seen: &SeenVolume) -> StorageFinding {
    let draft = FindingDraft::new(("layout-file-system", "File system of the plan"), path);
    let planned = planned_file_system(look);
    let told = format!("{}, planned {planned}", seen.file_system);
    if seen.file_system.eq_ignore_ascii_case(&planned) {
        return draft.pass(told, "as planned");
    }
    let reason = "what was calculated and tried is another one, and copies are to be alike";
    let remedy = format!("format it with {planned} while nothing is on it, or change the plan");
    mended_by(draft.fail(told, reason), remedy)
}

/// The scripts for Linux use XFS instead of file systems that only Windows has.
fn planned_file_system(look: &LayoutLook<'_>) -> String {
    let planned = look.plan.file_system.as_str();
    match (look.roots.platform, planned.to_ascii_lowercase().as_str()) {
        (Platform::Linux, "ntfs" | "refs") => "XFS".to_owned(),
        _ => planned.to_owned(),
    }
}

/// Whether each volume is separate, and on a separate disk if the plan says so.
pub(super) fn apart(look: &LayoutLook<'_>) -> Vec<StorageFinding> {
    let mut volumes: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
    let mut disks: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut untold = Vec::new();
    for volume in &look.plan.volumes {
        let Some(SeenFolder { volume: seen, .. }) = look.mounted(volume) else {
            continue;
        };
        volumes.entry(seen.number).or_default().push(&volume.name);
        match &seen.disk {
            Some(disk) => disks.entry(disk).or_default().push(&volume.name),
            None => untold.push(volume.name.as_str()),
        }
    }
    let mut findings = vec![same_volume(&volumes)];
    if look.plan.has_disk_each {
        findings.push(same_disk(&disks, &untold));
    }
    findings
}

fn same_volume(volumes: &BTreeMap<u64, Vec<&str>>) -> StorageFinding {
    let draft = FindingDraft::new(("layout-volumes-apart", "Volumes that are one"), "all volumes");
    let shared: Vec<String> =
        volumes.values().filter(|names| names.len() > 1).map(|names| names.join(" and ")).collect();
    if shared.is_empty() {
        return draft
            .pass(plural(volumes.len() as u64, "volume"), "no two places are the same volume");
    }
    let reason = "one volume stands in several places, so that the others are missing";
    let remedy = "mount the volume with the right label at each place";
    mended_by(draft.fail(shared.join("; "), reason), remedy)
}

fn same_disk(disks: &BTreeMap<&str, Vec<&str>>, untold: &[&str]) -> StorageFinding {
    let draft = FindingDraft::new(("layout-disks", "One volume a disk"), "all volumes");
    let shared: Vec<String> = disks
        .iter()
        .filter(|(_, names)| names.len() > 1)
        .map(|(disk, names)| format!("{disk} has {}", names.join(" and ")))
        .collect();
    if !shared.is_empty() {
        let reason = "a disk that fails takes all of them, which the plan's failures do not have, \
                      and they share its I/O";
        let finding = draft.fail(shared.join("; "), reason);
        return mended_by(finding, "give each volume a disk of its own, with one partition");
    }
    if !untold.is_empty() {
        let reason = "the system does not tell which disks these volumes are on";
        return draft.unknown(untold.join(", "), reason);
    }
    draft.pass(plural(disks.len() as u64, "disk"), "a disk that fails takes one volume")
}

/// Mounts in the planned folders that are not volumes of the plan.
pub(super) fn unplanned(look: &LayoutLook<'_>) -> Vec<StorageFinding> {
    let planned: BTreeSet<String> =
        look.plan.volumes.iter().map(|volume| look.roots.mount_of(volume)).collect();
    let root = &look.roots.volumes;
    let names = look.at(root).map_or(&[][..], |seen| &seen.names);
    let paths = names.iter().map(|name| look.roots.inside(root, name));
    paths
        .filter(|path| !planned.contains(path))
        .filter(|path| look.at(path).is_some_and(|seen| seen.volume.is_mounted_here))
        .map(|path| {
            let draft = FindingDraft::new(
                ("layout-unplanned", "Volume that is not planned"),
                path.as_str(),
            );
            let reason = match look.roots.databases {
                Some(_) => "AutoReseed takes it for a spare, and the disk reclaimer may format it",
                None => "nothing is known of what it is for",
            };
            let finding = draft.warn("mounted beside the volumes of the plan", reason);
            mended_by(finding, "mount it elsewhere, or plan it")
        })
        .collect()
}

impl VolumeUse {
    /// Name of the purpose for people.
    const fn name(self) -> &'static str {
        match self {
            Self::Databases => "databases",
            Self::Logs => "logs",
            Self::Restore => "restore",
            Self::Spare => "spare",
            Self::MetaCache => "MetaCache",
        }
    }
}
