//! The write-ahead log of one database: records, their writer, their reader.
//!
//! A stream of 1 MiB generations in a folder, in ESE's envelope: `E00.plg` is being written,
//! `E00tmp.plg` formatted ahead, `E0000000A.plg` closed, `E00.pck` the checkpoint. [`Log`] writes;
//! [`LogChain`] finds the files and [`LogReader`] reads them back after a crash.

mod chain;
mod checkpoint_file;
mod error;
mod framing;
mod names;
mod next_file;
mod read_back;
mod reader;
pub(crate) mod record;
mod replication;
mod stream;
mod tail;
mod writer;

#[cfg(test)]
pub(crate) mod tests;

pub use chain::{LogChain, LogEnd};
pub use checkpoint_file::read_checkpoint;
pub use error::LogError;
pub use names::LogNames;
pub use reader::LogReader;
pub use record::LogRecord;
pub use stream::{LogFolder, LogIdentity, LogSettings};
pub use tail::Span;
pub use writer::{Log, LogCounters};
