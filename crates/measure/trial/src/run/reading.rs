//! The passes that read whole databases: their requests to the storage, and their reports.

use device::Purpose;
use integrity::ReadShape;
use plan::TestKind;
use record::{Checksum, Event, Phase};

/// Why every database is read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// To verify the result of a load, as fast as possible.
    AfterLoad,
    /// As in the original's checksum pass.
    Checksum,
    /// As a backup does.
    Backup,
    /// To verify the copies made by a backup, as fast as possible.
    Copies,
}

impl Reading {
    /// The pass that a test of this kind consists of; `None` for tests that make a load.
    pub(super) const fn of(kind: TestKind) -> Option<Self> {
        match kind {
            TestKind::Performance | TestKind::Stress | TestKind::Recovery => None,
            TestKind::Backup => Some(Self::Backup),
            TestKind::Checksum => Some(Self::Checksum),
        }
    }

    /// The run phase of the pass.
    pub(super) const fn phase(self) -> Phase {
        match self {
            Self::AfterLoad | Self::Checksum | Self::Copies => Phase::Check,
            Self::Backup => Phase::Backup,
        }
    }

    /// Its requests for each database. The figures of the two tests are those of Jetstress 2010 and
    /// 2013.
    pub(super) const fn shape(self) -> ReadShape {
        let (purpose, block_bytes, in_flight) = match self {
            Self::AfterLoad => return ReadShape::FASTEST,
            Self::Copies => {
                return ReadShape { purpose: Purpose::BackupCopy, ..ReadShape::FASTEST };
            }
            Self::Checksum => (Purpose::Checksum, 64 << 10, 64),
            Self::Backup => (Purpose::Backup, 256 << 10, 2),
        };
        ReadShape { purpose, block_bytes, in_flight, copy: None }
    }

    /// Its findings, for the journal.
    pub(super) const fn event(self, found: Checksum) -> Event {
        match self {
            Self::AfterLoad | Self::Checksum => Event::Checksum(found),
            Self::Backup => Event::Backup(found),
            Self::Copies => Event::CopyChecksum(found),
        }
    }
}
