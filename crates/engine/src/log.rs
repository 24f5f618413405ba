//! The write-ahead log of one database: records, their writer, their reader.

mod record;

pub use record::LogRecord;
