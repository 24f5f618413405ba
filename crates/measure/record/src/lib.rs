//! Events of a run, as plain data: the single source for verdicts and reports.
//!
//! A run writes [`Event`]s, one JSON line each ([`codec`]), as it proceeds; a crash preserves
//! everything up to the last complete line. [`RunRecord::load`] folds a journal into totals per
//! database and phase and one row per interval.
//!
//! Every time is in nanoseconds since the run's own start, so that the record of a simulated run
//! reads like that of a real one.

pub mod codec;
mod day;
mod digest;
mod event;
mod flash_cache;
mod further_errors;
mod hexadecimal;
mod histogram;
mod imported;
mod inspection;
mod interval;
mod log_place;
mod pause;
mod phase;
mod processors;
mod resumption;
mod run;
mod server;
mod simulated;
mod spread;
mod start;
#[cfg(feature = "synthetic")]
pub mod synthetic;

pub use codec::{ChainHash, Seal, journal_schema};
pub use day::{HOUR_NS, hourly_share};
pub use digest::digest;
pub use event::{
    Attached, BackupCopy, Checksum, Edge, Event, Finished, Issue, IssueKind, LogLine, LongRequest,
    OtherRun, PhaseMark, Replay, Resumed, Severity, Tuned, VolumeReads,
};
pub use flash_cache::{FlashCacheClass, FlashCacheInterval};
pub use further_errors::FurtherErrors;
pub use histogram::{Histogram, Summary};
pub use imported::{
    ImportedResult, PublishedBackup, PublishedChecksum, PublishedCounter, PublishedFact,
    PublishedInstance, PublishedIo, PublishedLoad, PublishedOutcome, PublishedReplay,
    PublishedRequests,
};
pub use inspection::{StorageFinding, StorageRuling, WriteSamples};
pub use interval::{
    DatabaseInterval, Gauges, HostSample, Interval, IntervalCounters, STALL_MINIMUM_NS, Series,
    SeriesInterval, Unanswered,
};
pub use log_place::LogPlace;
pub use phase::Phase;
pub use processors::{ProcessorShares, ProgramShare};
pub use resumption::{NotResumable, Resumption};
pub use run::{
    Break, DatabaseRow, DigestFault, IntervalRow, JournalLine, LoadError, PhaseSpan, PhaseTotals,
    RunRecord, Sequel, SeriesRow, SeriesTotal, journal_lines,
};
pub use server::{ServerBackup, ServerLoad, ServerReplay};
pub use simulated::{Simulation, SimulationDetail, scenario_names, true_range};
pub use spread::LatencySpread;
pub use start::{
    DatabaseFacts, Machine, OperationMix, Settings, Start, TestOfSet, TestType, Thresholds,
    VolumeFacts,
};

/// File name of the journal in a run's folder.
pub const JOURNAL: &str = "record.jsonl";

/// File name of the journal's digest, next to it: see [`RunRecord::digest`].
pub const DIGEST: &str = "record.digest";
