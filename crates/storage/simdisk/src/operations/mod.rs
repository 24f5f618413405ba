//! Level 2: the requests of a database engine without the engine.
//!
//! The storage requests of sessions, log and background tasks are measured once, from the engine
//! itself on page images (level 1), as an [`OperationProfile`]: how many reads a batch waits for,
//! how many bytes it adds to the log, how page writes come in bursts. [`OperationRun`] replays it
//! on arrays of any size, with addresses spread over databases of any size, and stores nothing. It
//! has no pages, files or clock: its caller advances the time.

mod database;
mod flow;
mod load;
mod log;
mod profile;
mod run;

pub use crate::array::ArrayUsage;
pub use load::{
    LoadedDatabase, OperationFlow, OperationLoad, OperationPace, OperationPlace, ScanShape,
};
pub use profile::{
    BatchShape, BesidePlace, CheckpointShape, ColdCache, LogShape, OperationProfile, Placement,
    RequestBeside, SpanShape, WriteBurst, WriteShape,
};
pub use run::{OperationAnswer, OperationRun};

use device::Durability;

use crate::array::HostWork;

/// Purpose of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OperationKind {
    /// Not a request: a whole batch of a session.
    Batch,
    /// A write of the database.
    DatabaseWrite,
    /// A read of the database that a session waits for, or that its batch causes.
    DatabaseRead,
    /// A write of the log.
    LogWrite,
    /// A write that prepares log space.
    LogFormat,
    /// Log read back.
    LogRead,
    /// A log read for an additional copy.
    ReplicationRead,
    /// A read of the background scan.
    MaintenanceRead,
    /// A write of a header or a checkpoint.
    HeaderWrite,
    /// A cache flush.
    Flush,
}

impl OperationKind {
    /// Operation on the array: the engine waits until its log and headers are durable.
    const fn work(self) -> HostWork {
        match self {
            Self::LogWrite | Self::HeaderWrite => HostWork::Write(Durability::Durable),
            Self::DatabaseWrite | Self::LogFormat => HostWork::Write(Durability::Volatile),
            Self::Flush => HostWork::Flush,
            Self::Batch
            | Self::DatabaseRead
            | Self::LogRead
            | Self::ReplicationRead
            | Self::MaintenanceRead => HostWork::Read,
        }
    }
}

#[cfg(test)]
mod tests;
