//! Places of load: databases, volumes and devices of a host. The database, the volume and the disk
//! all count the same request, so only the best kind of a host's places is used.

use std::fmt;

/// Kind of place, the best source first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlaceKind {
    /// A database, by the engine's own counters: logs separate from pages.
    Database,
    /// A volume.
    LogicalDisk,
    /// A disk.
    PhysicalDisk,
    /// A device of a block trace.
    Device,
}

impl PlaceKind {
    /// Kinds of places, in order of preference.
    pub(super) const BEST_FIRST: [Self; 4] =
        [Self::Database, Self::LogicalDisk, Self::PhysicalDisk, Self::Device];

    /// Its name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Database => "database",
            Self::LogicalDisk => "volume",
            Self::PhysicalDisk => "disk",
            Self::Device => "device",
        }
    }
}

/// A place whose requests were counted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LoadPlace {
    /// Name of the host; empty if the file does not say.
    pub host: String,
    /// Kind of the place.
    pub kind: PlaceKind,
    /// Its name.
    pub name: String,
    /// Whether it is the sum of the other places of its host and kind.
    pub(super) is_total: bool,
}

impl fmt::Display for LoadPlace {
    /// As `DB01 on EX1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if self.host.is_empty() { Ok(()) } else { write!(f, " on {}", self.host) }
    }
}

/// Selects the places that count: for each host, those of its best kind; a sum only if it is alone.
pub(super) fn counted<'p>(all: &[&'p LoadPlace]) -> Vec<&'p LoadPlace> {
    all.iter().filter(|place| is_counted(place, all)).copied().collect()
}

fn is_counted(place: &LoadPlace, all: &[&LoadPlace]) -> bool {
    let mut kinds = PlaceKind::BEST_FIRST.into_iter();
    let best = kinds.find(|kind| all.iter().any(|of| of.host == place.host && of.kind == *kind));
    let mut parts = all.iter().filter(|of| of.host == place.host && of.kind == place.kind);
    best == Some(place.kind) && (!place.is_total || parts.all(|of| of.is_total))
}
