//! Readers of ESE files by other projects, so that independent code judges our files.
//!
//! libesedb is linked in; dissect.esedb and impacket run in a Python virtual environment that
//! [`set_up`] makes and `cargo xtask test` names in `PLIMSOLL_PEERS`. Each reader returns a
//! [`TableDigest`] of a table; equal digests mean that the readers saw the same records, byte for
//! byte.

mod digest;
mod environment;
mod libesedb;
mod own;

pub(crate) use digest::{ColumnKind, DigestBuilder};
pub use digest::{Digest, LongValues, TableDigest};
pub use environment::{PythonReader, PythonReaders, SetUpError, set_up};
pub use libesedb::read_with_libesedb;
pub use own::read_with_ours;

/// Why a reader returned no digest.
#[derive(Debug)]
pub struct PeerError {
    /// Name of the reader.
    pub reader: String,
    /// Path of the file that it was asked to read.
    pub file: String,
    /// The message of the reader.
    pub message: String,
}

impl std::fmt::Display for PeerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} cannot read {}: {}", self.reader, self.file, self.message)
    }
}

impl std::error::Error for PeerError {}
