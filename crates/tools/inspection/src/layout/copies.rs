//! Compares databases with the plan: the copies on each volume, and what `AutoReseed` requires to
//! find and replace them.

use std::collections::BTreeSet;

use record::StorageFinding;

use super::{LayoutLook, PlannedVolume, SeenFolder, VolumeUse};
use crate::draft::{FindingDraft, mended_by};

/// Entries that file systems put into every volume.
const OF_THE_SYSTEM: [&str; 3] = ["lost+found", "System Volume Information", "$RECYCLE.BIN"];

/// Findings on the contents of a planned volume, `seen` at its mount point.
pub(super) fn on_volume(
    look: &LayoutLook<'_>,
    volume: &PlannedVolume,
    seen: &SeenFolder,
) -> Vec<StorageFinding> {
    match volume.purpose {
        VolumeUse::Spare => vec![spare(look, volume, seen)],
        VolumeUse::Restore | VolumeUse::MetaCache => Vec::new(),
        VolumeUse::Databases | VolumeUse::Logs => {
            let mut findings = vec![strangers(look, volume, seen)];
            for database in &volume.databases {
                findings.push(database_on(look, volume, database, seen));
            }
            findings
        }
    }
}

/// Planned databases found on this volume that belong on others.
fn strangers(look: &LayoutLook<'_>, volume: &PlannedVolume, seen: &SeenFolder) -> StorageFinding {
    let path = look.roots.mount_of(volume);
    let draft = FindingDraft::new(("layout-copies", "Copies on the volume"), path.as_str());
    let wrong: Vec<String> = here(look, seen)
        .into_iter()
        .filter(|database| !volume.databases.contains(database))
        .map(|database| format!("{database} ({})", home(look, &database)))
        .collect();
    if wrong.is_empty() {
        let told = volume.databases.join(", ");
        return draft.pass(told, "no copy lies here that the plan has on another volume");
    }
    let reason = "a volume that fails takes other copies than the plan's failures have, and its \
                  I/O was not calculated for them";
    mended_by(draft.fail(wrong.join(", "), reason), "move each copy to its volume, or plan anew")
}

/// Planned location of a database.
fn home(look: &LayoutLook<'_>, database: &str) -> String {
    let mut volumes = look.plan.volumes.iter();
    let home = volumes.find(|volume| volume.databases.iter().any(|name| name == database));
    home.map_or("not of this server".to_owned(), |volume| format!("belongs on {}", volume.name))
}

/// Databases that have a folder on the volume, or are mounted from it.
fn here(look: &LayoutLook<'_>, seen: &SeenFolder) -> BTreeSet<String> {
    let Some(root) = &look.roots.databases else {
        let planned: BTreeSet<&String> =
            look.plan.volumes.iter().flat_map(|volume| &volume.databases).collect();
        return seen.names.iter().filter(|name| planned.contains(name)).cloned().collect();
    };
    let names = look.at(root).map_or(&[][..], |folder| &folder.names);
    names
        .iter()
        .filter(|name| {
            let mounted = look.at(&look.roots.inside(root, name));
            mounted.is_some_and(|it| {
                it.volume.is_mounted_here && it.volume.number == seen.volume.number
            })
        })
        .cloned()
        .collect()
}

/// Whether all folders of a database exist and are on its volume.
fn database_on(
    look: &LayoutLook<'_>,
    volume: &PlannedVolume,
    database: &str,
    seen: &SeenFolder,
) -> StorageFinding {
    let draft = FindingDraft::new(("layout-database", "Folders of the database"), database);
    let folders = look.roots.folders_of(volume, database);
    let mount = look.roots.mount_of(volume);
    for (number, folder) in folders.iter().enumerate() {
        let is_mount = number == 0 && look.roots.databases.is_some();
        let Some(found) = look.at(folder) else {
            let finding = draft.fail(format!("there is no {folder}"), "the copy has no place");
            let remedy = if is_mount {
                look.roots.mount_again(&volume.name, &mount, folder)
            } else {
                look.roots.make(folder)
            };
            return mended_by(finding, remedy);
        };
        let is_right = found.volume.number == seen.volume.number
            && (found.volume.is_mounted_here || !is_mount);
        if !is_right {
            let told = format!("{folder} is on the volume at {}", found.volume.mount_point);
            let finding = draft.fail(told, "database and log are to lie on the volume of the plan");
            let remedy = look.roots.mount_again(&volume.name, &mount, &folders[0]);
            return mended_by(finding, remedy);
        }
    }
    draft.pass(folders.join(", "), "on the volume that the plan has it on")
}

/// A spare must be empty and assigned to no database.
fn spare(look: &LayoutLook<'_>, volume: &PlannedVolume, seen: &SeenFolder) -> StorageFinding {
    let path = look.roots.mount_of(volume);
    let draft = FindingDraft::new(("layout-spare", "Spare volume"), path.as_str());
    let mut names = seen.names.iter().filter(|name| !OF_THE_SYSTEM.contains(&name.as_str()));
    if let Some(name) = names.next() {
        let reason = "it is no spare: nothing takes a volume with files for one that failed";
        let finding = draft.fail(format!("holds {name}"), reason);
        return mended_by(finding, "see whose that is, and move it; a spare is empty");
    }
    let used = here(look, seen);
    if let Some(database) = used.first() {
        let reason = "what is mounted for a database is not taken for a spare";
        let finding = draft.fail(format!("is mounted for {database}"), reason);
        return mended_by(finding, "take that mount away; a spare is mounted in one place");
    }
    draft.pass("empty", "it can take the place of a volume that fails")
}

/// Checks whether the plan lets `AutoReseed` replace a failed volume.
pub(super) fn reseed(look: &LayoutLook<'_>) -> Vec<StorageFinding> {
    if look.roots.databases.is_none() {
        return Vec::new();
    }
    let draft = FindingDraft::new(("layout-reseed", "AutoReseed"), look.plan.server.as_str());
    if look.plan.has(VolumeUse::Logs) {
        let reason = "it needs database and log on one volume, and the plan has them apart";
        let finding = draft.fail("logs have volumes of their own", reason);
        return vec![mended_by(finding, "plan without volumes for logs, or do without AutoReseed")];
    }
    if look.plan.has(VolumeUse::Spare) {
        let reason = "a copy whose volume fails is seeded to a spare without a person";
        return vec![draft.pass("spares are planned", reason)];
    }
    let finding = draft.warn("no spare is planned", "a volume that fails waits for a person");
    vec![mended_by(finding, "give `autoreseed_volumes` to [storage] of the deployment")]
}
