//! Journals as text, so that a record outlives the program that wrote it.
//!
//! One module per schema version; this one selects it by the first line.

mod follow;
mod schema;
mod seal;
pub mod v1;

pub use follow::JournalPieces;
pub use schema::journal_schema;
pub(crate) use seal::SealCheck;
pub use seal::{ChainHash, Seal, Sealer};
pub use v1::{DecodeError, decode, encode};

/// The schema version that this program writes, and the newest that it reads.
pub const SCHEMA: u32 = 1;
