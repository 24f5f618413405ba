//! The write-ahead log of one database: records, their writer, their reader.
//!
//! A stream of 1 MiB generations in a folder, in ESE's envelope: `E00.plg` is being written,
//! `E00tmp.plg` formatted ahead, `E0000000A.plg` closed, `E00.pck` the checkpoint. `Log` writes;
//! [`LogChain`] finds the files and `LogReader` reads them back after a crash.

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

pub use chain::LogChain;
pub(crate) use chain::LogEnd;
pub(crate) use checkpoint_file::read_checkpoint;
pub use error::LogError;
pub(crate) use names::LogNames;
pub(crate) use reader::LogReader;
pub(crate) use record::LogRecord;
pub(crate) use stream::LogSettings;
pub use stream::{LogFolder, LogIdentity};
pub(crate) use tail::Span;
pub(crate) use writer::Log;

/// The encoding of the record decoded from `record`; `None` if the bytes are not a record. Each
/// record has exactly one encoding, which fuzzing verifies.
pub fn encoded_again(record: &[u8]) -> Option<Vec<u8>> {
    let decoded = LogRecord::decode(record).ok()?;
    let mut again = Vec::new();
    decoded.encode(&mut again);
    Some(again)
}
