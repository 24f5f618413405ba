//! The live database: cache, log, trees, space, transactions, recovery.
//!
//! [`Database::open`] gives a database, [`Database::begin`] a [`Transaction`] on it. Everything
//! runs as tasks on one thread; every structural change is one synchronous function (see `stage`)
//! and one log record.

pub mod bulk;
mod codec;
mod counters;
mod database;
pub mod edit;
mod error;
pub mod log;
pub mod notify;
mod row;
mod settings;
mod table;
mod transaction;

pub use codec::DecodeError;
pub use counters::Counters;
pub use database::{Database, DatabaseFiles};
pub use error::{Latch, OpenError, PageDamage, TransactionError};
pub use row::Row;
pub use settings::Settings;
pub use table::Table;
pub use transaction::{CommitPosition, Durability, Entry, Order, Scan, Transaction};
