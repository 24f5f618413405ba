//! The live database: cache, trees, space, transactions, recovery.
//!
//! [`Database::open`] gives a database, [`Database::begin`] a [`Transaction`] on it. Everything
//! runs as tasks on one thread; every structural change is one synchronous function (see `stage`)
//! and one log record.

pub mod bulk;
mod cache;
mod core;
mod counters;
mod database;
mod error;
mod files;
pub mod flush_map_file;
mod hash;
mod header_file;
mod long_value;
mod long_value_numbers;
mod maintenance;
mod poison;
pub mod recovery;
mod row;
mod rows;
mod settings;
mod space;
mod stage;
mod table;
mod table_state;
mod tasks;
#[cfg(test)]
mod test_pages;
mod trail;
mod transaction;
mod tree;
mod undo;
mod versions;

pub use counters::{Counters, Mended};
pub use database::Database;
pub use error::{LostFlush, OpenError, PoisonCause, TransactionError, UnusablePage};
pub use files::DatabaseFiles;
pub use long_value::LONGEST_VALUE;
pub use row::Row;
pub use settings::{CheckpointMode, Settings, Verification};
pub use table::Table;
pub use transaction::{CommitMode, CommitPosition, Entry, Order, Scan, Transaction};
