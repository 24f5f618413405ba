//! Decisions, as opposed to calculated numbers, with the workbook's names.

use plan::deployment::Raid;

/// A value that is decided, not calculated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Whether something is so.
    Answer(bool),
    /// What lies on a volume.
    Volumes(VolumeArchitecture),
    /// What volumes lie on.
    Build(Build),
    /// RAID level of redundant groups.
    Raid(Raid),
    /// Location of the queue database.
    Queue(QueuePlace),
}

impl Decision {
    /// The name that the workbook uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Answer(true) => "Yes",
            Self::Answer(false) => "No",
            Self::Volumes(volumes) => volumes.name(),
            Self::Build(build) => build.name(),
            Self::Raid(raid) => raid.word(),
            Self::Queue(place) => place.name(),
        }
    }
}

/// How databases are laid out on volumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VolumeArchitecture {
    /// Several databases with their logs.
    SeveralDatabases,
    /// One database with its log.
    OnePerDatabase,
    /// One for the database, one for its log.
    TwoPerDatabase,
    /// One for the databases backed up on the same day, one for their logs.
    TwoPerBackupSet,
}

impl VolumeArchitecture {
    /// The name that the workbook uses.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::SeveralDatabases => "Multiple DBs / Volume",
            Self::OnePerDatabase => "1 Volume / DB",
            Self::TwoPerDatabase => "2 Volumes / DB",
            Self::TwoPerBackupSet => "2 Volumes / Backup Set",
        }
    }
}

/// Redundant groups or single disks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Build {
    /// Redundant groups.
    Raid,
    /// Single disks.
    Jbod,
}

impl Build {
    /// The name that the workbook uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Raid => "RAID",
            Self::Jbod => "JBOD",
        }
    }
}

/// Location of the queue database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueuePlace {
    /// Beside the system.
    SystemDisk,
    /// On a dedicated mirrored pair of disks.
    OwnDisks,
}

impl QueuePlace {
    /// The name that the workbook uses.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::SystemDisk => "System Disk",
            Self::OwnDisks => "Dedicated RAID-1 Disk",
        }
    }
}
