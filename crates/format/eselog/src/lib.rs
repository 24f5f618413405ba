//! The transaction logs of the real Extensible Storage Engine, without any I/O policy.
//!
//! Bytes come in, facts and pages come out: what a log file holds, whether a set of them is
//! complete, what each record means, and what the pages of a database look like once the records
//! have been replayed and everything uncommitted has been undone. Nothing here opens a file or
//! knows the time. The byte tables are in `docs/format-log-genuine.md`.

mod bytes;
mod chain;
mod file;
mod layout;
mod record;
mod records;
mod redo;
mod segment;
mod set;

pub use chain::{LogChain, LostGenerations};
pub use file::{LogFile, LogSurvey, SegmentDamage, SegmentFault};
pub use layout::{Field, Part};
pub use record::{LogRecord, Value};
pub use records::{BadRecord, RecordFault, Records};
pub use redo::{
    Behind, BehindCause, DeletedRow, DeletedRows, LogReplay, PageStore, ReplaySummary, StoredPage,
};
pub use set::{Gap, LogMember, LogSet};
