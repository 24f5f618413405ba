//! The live database: cache, log, trees, space, transactions, recovery.

mod codec;
pub mod edit;
pub mod log;
pub mod notify;

pub use codec::DecodeError;
