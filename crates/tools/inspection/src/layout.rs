//! Whether a server looks like the plan that it was built by: its volumes, where they are mounted,
//! what lies on each, and what `AutoReseed` needs of them.
//!
//! `AutoReseed` has every volume mounted below one folder, spares too, and once more below another
//! for each database on it; a database has its file and its log in two folders of the same volume
//! (Microsoft, "`AutoReseed`" and "Configure `AutoReseed` for a database availability group").

mod commands;
mod copies;
mod plan;
mod volumes;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use device_os::probe::Platform;
use record::StorageFinding;

pub use plan::{LayoutPlan, LayoutPlanError, PlannedVolume, VolumeUse};

/// Where volumes and databases are to be mounted.
#[derive(Clone, Debug)]
pub struct LayoutRoots {
    /// Folder below which every volume is mounted.
    pub volumes: String,
    /// Folder below which they are mounted once more, by database, as `AutoReseed` needs it; none
    /// where databases have folders on the volumes alone.
    pub databases: Option<String>,
    /// Where the volume for restores is mounted; none for a folder below that of the volumes.
    pub restore: Option<String>,
    /// Whose paths and commands these are.
    pub platform: Platform,
}

/// What there is at a path.
#[derive(Clone, Debug)]
pub struct SeenFolder {
    /// The volume that it lies on.
    pub volume: SeenVolume,
    /// Names of what is in it.
    pub names: Vec<String>,
}

/// A volume, as the system tells of it.
#[derive(Clone, Debug)]
pub struct SeenVolume {
    /// Tells it from all others at the moment.
    pub number: u64,
    /// Whether it is mounted at the very path.
    pub is_mounted_here: bool,
    /// Where it is mounted.
    pub mount_point: String,
    /// Its kind.
    pub file_system: String,
    /// Its length in bytes, without what its file system keeps for itself.
    pub total_bytes: u64,
    /// The whole disk that it is on, where that is one.
    pub disk: Option<String>,
}

/// Plan and server, side by side.
#[derive(Clone, Copy, Debug)]
pub struct LayoutLook<'a> {
    /// What was to be built.
    pub plan: &'a LayoutPlan,
    /// Where.
    pub roots: &'a LayoutRoots,
    /// What there is, by path: at [`LayoutRoots::places`] and at everything in the two roots.
    pub seen: &'a BTreeMap<String, SeenFolder>,
}

impl LayoutRoots {
    /// `name` in the folder `folder`.
    pub fn inside(&self, folder: &str, name: &str) -> String {
        let separator = if self.platform == Platform::Windows { '\\' } else { '/' };
        format!("{}{separator}{name}", folder.trim_end_matches(separator))
    }

    /// Every path that `plan` says something of.
    pub fn places(&self, plan: &LayoutPlan) -> Vec<String> {
        let mut places = vec![self.volumes.clone()];
        places.extend(self.databases.clone());
        for volume in &plan.volumes {
            places.push(self.mount_of(volume));
            for database in &volume.databases {
                places.extend(self.folders_of(volume, database));
            }
        }
        places
    }

    /// Where a volume is mounted.
    fn mount_of(&self, volume: &PlannedVolume) -> String {
        match (&self.restore, volume.purpose) {
            (Some(restore), VolumeUse::Restore) => restore.clone(),
            _ => self.inside(&self.volumes, &volume.name),
        }
    }

    /// The folders that a database has on a volume: its own one, and those in it.
    fn folders_of(&self, volume: &PlannedVolume, database: &str) -> Vec<String> {
        let Some(databases) = &self.databases else {
            return vec![self.inside(&self.mount_of(volume), database)];
        };
        let mount = self.inside(databases, database);
        let inner = ["db", "log"].map(|end| self.inside(&mount, &format!("{database}.{end}")));
        [vec![mount], inner.to_vec()].concat()
    }
}

impl LayoutLook<'_> {
    /// What is right and wrong with the server.
    pub fn findings(&self) -> Vec<StorageFinding> {
        let mut findings = Vec::new();
        for volume in &self.plan.volumes {
            findings.extend(volumes::findings(self, volume));
        }
        findings.extend(volumes::apart(self));
        findings.extend(copies::reseed(self));
        findings.extend(volumes::unplanned(self));
        findings
    }

    /// What there is at `path`; none where there is nothing.
    fn at(&self, path: &str) -> Option<&SeenFolder> {
        self.seen.get(path)
    }

    /// The volume of the plan, where it is mounted at its place.
    fn mounted(&self, volume: &PlannedVolume) -> Option<&SeenFolder> {
        self.at(&self.roots.mount_of(volume)).filter(|seen| seen.volume.is_mounted_here)
    }
}
