//! Compares a server with the plan it was built from: its volumes, their mount points, their
//! contents, and the requirements of `AutoReseed`.
//!
//! `AutoReseed` requires every volume, spares included, to be mounted below one folder, and below
//! another once for each database on it. A database has its file and its log in two folders of the
//! same volume (Microsoft, "`AutoReseed`" and "Configure `AutoReseed` for a database availability
//! group").

mod commands;
mod copies;
mod plan;
mod volumes;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use device_os::probe::Platform;
use record::StorageFinding;

pub use plan::{LayoutPlan, LayoutPlanError};
pub(crate) use plan::{PlannedVolume, VolumeUse};

/// Mount points of volumes and databases.
#[derive(Clone, Debug)]
pub struct LayoutRoots {
    /// Folder below which every volume is mounted.
    pub volumes: String,
    /// Folder below which volumes are mounted again, once for each database, as `AutoReseed`
    /// requires; `None` if databases only have folders on the volumes.
    pub databases: Option<String>,
    /// Mount point of the volume for restores; `None` if it is mounted below `volumes`.
    pub restore: Option<String>,
    /// Platform of these paths and commands.
    pub platform: Platform,
}

/// A folder found on the server.
#[derive(Clone, Debug)]
pub struct SeenFolder {
    /// The volume that holds the folder.
    pub volume: SeenVolume,
    /// Names of the folder's entries.
    pub names: Vec<String>,
}

/// A volume, as the system reports it.
#[derive(Clone, Debug)]
pub struct SeenVolume {
    /// Distinguishes the volume from all others mounted now.
    pub number: u64,
    /// Whether the volume is mounted at exactly this path.
    pub is_mounted_here: bool,
    /// Mount point as the system reports it.
    pub mount_point: String,
    /// File system as the system names it.
    pub file_system: String,
    /// Size in bytes, minus the overhead of the file system.
    pub total_bytes: u64,
    /// The whole disk below the volume, if there is one.
    pub disk: Option<String>,
}

/// Plan and server, side by side.
#[derive(Clone, Copy, Debug)]
pub struct LayoutLook<'a> {
    /// The planned server.
    pub plan: &'a LayoutPlan,
    /// The mount points to check.
    pub roots: &'a LayoutRoots,
    /// Contents by path: of [`LayoutRoots::places`] and of everything in the two roots.
    pub seen: &'a BTreeMap<String, SeenFolder>,
}

impl LayoutRoots {
    /// `name` in the folder `folder`.
    pub fn inside(&self, folder: &str, name: &str) -> String {
        let separator = if self.platform == Platform::Windows { '\\' } else { '/' };
        format!("{}{separator}{name}", folder.trim_end_matches(separator))
    }

    /// Every path that `plan` mentions.
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

    /// Mount point of a volume.
    fn mount_of(&self, volume: &PlannedVolume) -> String {
        match (&self.restore, volume.purpose) {
            (Some(restore), VolumeUse::Restore) => restore.clone(),
            _ => self.inside(&self.volumes, &volume.name),
        }
    }

    /// The folders of a database on a volume: the database's folder, and those in it.
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
    /// Findings on the server, good and bad.
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

    /// The contents of `path`; `None` if it does not exist.
    fn at(&self, path: &str) -> Option<&SeenFolder> {
        self.seen.get(path)
    }

    /// The volume of the plan, if it is mounted at its place.
    fn mounted(&self, volume: &PlannedVolume) -> Option<&SeenFolder> {
        self.at(&self.roots.mount_of(volume)).filter(|seen| seen.volume.is_mounted_here)
    }
}
