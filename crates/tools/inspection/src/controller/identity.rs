//! Decides which outputs describe the same controller: those with the same serial number or from
//! the same file. Numbers, models and drives prove nothing, since two servers may share them.
//! Contradictory outputs are never merged.

use super::facts::{Controller, LogicalDrive, PhysicalDisk};

/// Controllers that came from one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputSource {
    /// Name of the file, or one name for all tools run on this machine.
    pub source: String,
    /// The controllers, in the order of the source.
    pub controllers: Vec<Controller>,
}

/// The controllers of all sources, each once.
pub fn merged(sources: Vec<OutputSource>) -> Vec<Controller> {
    let mut all: Vec<(String, Controller)> = Vec::new();
    for OutputSource { source, controllers } in sources {
        for told in controllers {
            let known = all.iter_mut().find(|(of, known)| is_one(known, &told, *of == source));
            match known {
                Some((_, known)) => known.learn(told),
                None => all.push((source.clone(), told)),
            }
        }
    }
    label(&mut all);
    all.into_iter().map(|(_, controller)| controller).collect()
}

/// Whether two outputs describe the same controller and agree.
fn is_one(known: &Controller, told: &Controller, is_one_source: bool) -> bool {
    let is_same = match (known.identity(), told.identity()) {
        (Some(one), Some(two)) => one == two && known.is_kin(told),
        _ => is_one_source && known.id == told.id && known.tool == told.tool,
    };
    is_same && (is_one_source || !known.contradicts(told))
}

/// Gives controllers of the same name distinct labels: by serial number, else by file.
fn label(all: &mut [(String, Controller)]) {
    let names: Vec<String> = all.iter().map(|(_, controller)| controller.name()).collect();
    let serials: Vec<_> = all.iter().map(|(_, of)| of.identity().map(str::to_owned)).collect();
    for (at, (source, controller)) in all.iter_mut().enumerate() {
        let others: Vec<usize> =
            (0..names.len()).filter(|&other| other != at && names[other] == names[at]).collect();
        if others.is_empty() {
            continue;
        }
        let is_own =
            serials[at].is_some() && others.iter().all(|&other| serials[other] != serials[at]);
        controller.label = Some(match &serials[at] {
            Some(serial) if is_own => format!("serial number {serial}"),
            _ => source.clone(),
        });
    }
}

impl Controller {
    /// The serial number, unless it was redacted before the output was passed on.
    pub(super) fn identity(&self) -> Option<&str> {
        let serial = self.serial.as_deref()?.trim();
        let is_blank = serial.chars().all(|c| matches!(c, '0' | 'x' | 'X' | '*' | '-' | '?' | ' '));
        let is_word = ["n/a", "na", "none", "unknown", "not available", "removed", "redacted"]
            .contains(&serial.to_ascii_lowercase().as_str());
        (!is_blank && !is_word && serial.len() > 3).then_some(serial)
    }

    /// Whether both tools are the same or of one maker.
    fn is_kin(&self, other: &Self) -> bool {
        use super::facts::Tool::{Megacli, Storcli, Storcli2};
        let of_one_maker =
            [self.tool, other.tool].iter().all(|tool| matches!(tool, Storcli | Storcli2 | Megacli));
        self.tool == other.tool || of_one_maker
    }

    fn contradicts(&self, other: &Self) -> bool {
        self.backup.contradicts(&other.backup)
            || self.status.contradicts(&other.status)
            || self.read_percent.contradicts(&other.read_percent)
            || self.caches_without_backup.contradicts(&other.caches_without_backup)
            || self.disk_caches.contradicts(&other.disk_caches)
            || self.passes_disks_through.contradicts(&other.passes_disks_through)
            || self.drives.iter().any(|drive| {
                let same = other.drives.iter().find(|same| same.id == drive.id);
                same.is_some_and(|same| drive.contradicts(same))
            })
    }

    /// Adds the facts that `other` has about the same controller.
    pub(super) fn learn(&mut self, other: Self) {
        if self.model.is_empty() {
            self.model = other.model;
        }
        self.serial = self.serial.take().or(other.serial);
        self.id = self.id.take().or(other.id);
        self.status.merge(other.status);
        self.memory.merge(other.memory);
        self.preserved_cache.merge(other.preserved_cache);
        self.cache.merge(other.cache);
        self.arrays.merge(other.arrays);
        self.cache_bytes.merge(other.cache_bytes);
        self.backup.merge(other.backup);
        self.read_percent.merge(other.read_percent);
        self.caches_without_backup.merge(other.caches_without_backup);
        self.disk_caches.merge(other.disk_caches);
        self.passes_disks_through.merge(other.passes_disks_through);
        self.tells_cache |= other.tells_cache;
        self.cache_details.extend(other.cache_details);
        self.gaps.extend(other.gaps);
        for drive in other.drives {
            self.drive(&drive.id.clone()).learn(drive);
        }
        for disk in other.disks {
            self.disk(&disk.name.clone()).learn(disk);
        }
    }
}

impl LogicalDrive {
    fn contradicts(&self, other: &Self) -> bool {
        self.level.contradicts(&other.level)
            || self.strip_bytes.contradicts(&other.strip_bytes)
            || self.writes.contradicts(&other.writes)
            || self.writes_set.contradicts(&other.writes_set)
            || self.reads_ahead.contradicts(&other.reads_ahead)
            || self.disk_caches.contradicts(&other.disk_caches)
            || self.state.contradicts(&other.state)
            || self.device.is_some() && other.device.is_some() && self.device != other.device
    }

    pub(super) fn learn(&mut self, other: Self) {
        self.level.merge(other.level);
        self.strip_bytes.merge(other.strip_bytes);
        self.writes.merge(other.writes);
        self.writes_set.merge(other.writes_set);
        self.reads_ahead.merge(other.reads_ahead);
        self.disk_caches.merge(other.disk_caches);
        self.disks.merge(other.disks);
        self.is_flash.merge(other.is_flash);
        self.state.merge(other.state);
        self.members.merge(other.members);
        self.device = self.device.take().or(other.device);
    }
}

impl PhysicalDisk {
    pub(super) fn learn(&mut self, other: Self) {
        self.cache.merge(other.cache);
        self.state.merge(other.state);
    }
}

#[cfg(test)]
mod tests;
