//! Readers of ESE files written elsewhere, so that our files are judged by strangers.
//!
//! libesedb is linked in; dissect.esedb and impacket run in a Python virtual environment that
//! [`set_up`] makes and `cargo xtask test` names in `PLIMSOLL_PEERS`. Each reader gives a
//! [`TableDigest`] of a table; equal digests mean that it saw the same records, byte for byte.

mod digest;
mod environment;
mod libesedb;
mod own;

pub use digest::{ColumnKind, Digest, DigestBuilder, LongValues, TableDigest};
pub use environment::{PythonReader, PythonReaders, SetUpError, set_up};
pub use libesedb::read_with_libesedb;
pub use own::read_with_ours;

/// Why a reader returned no digest.
#[derive(Debug)]
pub struct PeerError {
    /// The reader's name.
    pub reader: String,
    /// The file it was asked to read.
    pub file: String,
    /// The reader's error.
    pub message: String,
}

impl std::fmt::Display for PeerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} cannot read {}: {}", self.reader, self.file, self.message)
    }
}

impl std::error::Error for PeerError {}
