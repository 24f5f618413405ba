//! The write-ahead log of one database: records, their writer, their reader.
//!
//! A stream of 1 MiB generations in a folder, in ESE's envelope: `E00.plg` is being written,
//! `E00tmp.plg` formatted ahead, `E0000000A.plg` closed, `E00.pck` the checkpoint. [`Log`] writes;
//! [`LogChain`] finds the files and [`LogReader`] reads them back after a crash. A record holds
//! page [edits](edit), which run time and redo apply with the same function.
//!
//! It is a separate crate so that the log cannot depend on the cache or the trees: recovery reads
//! it before either can be used.

mod chain;
mod checkpoint_file;
mod codec;
pub mod edit;
mod error;
mod framing;
mod names;
mod next_file;
mod not_as_written;
mod read_back;
mod reader;
mod record;
mod replication;
mod stream;
mod tail;
mod writer;

#[cfg(test)]
mod tests;

pub use chain::{LogChain, LogEnd};
pub use checkpoint_file::read_checkpoint;
pub use codec::DecodeError;
pub use error::LogError;
pub(crate) use names::LogNames;
pub use not_as_written::{NotAsWritten, Written, difference};
pub use reader::LogReader;
pub use record::LogRecord;
pub use stream::{LogFolder, LogIdentity, LogSettings};
pub use tail::Span;
pub use writer::{Log, LogCounters};

/// The encoding of the record decoded from `record`; `None` if the bytes are not a record. Each
/// record has exactly one encoding, which fuzzing verifies.
pub fn encoded_again(record: &[u8]) -> Option<Vec<u8>> {
    let decoded = LogRecord::decode(record).ok()?;
    let mut again = Vec::new();
    decoded.encode(&mut again);
    Some(again)
}
