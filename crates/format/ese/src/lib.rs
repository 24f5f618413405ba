//! The Extensible Storage Engine file format, without any I/O policy.
//!
//! Everything here works on bytes in memory: pages, headers, records, trees. Nothing opens a file,
//! waits, or reads a clock. The byte tables are in `docs/format.md`.

mod bytes;
pub mod catalog;
pub mod checksum;
pub mod compression;
mod fetch;
mod flag_names;
pub mod flush_map;
pub mod header;
pub mod key;
mod lgpos;
pub mod log_file;
mod log_time;
pub mod long_value;
pub mod page;
pub mod page_check;
pub mod page_set;
pub mod page_state;
pub mod reader;
pub mod record;
pub mod schema;
mod signature;
pub mod space;
pub mod value;
pub mod verify;

pub use lgpos::Lgpos;
pub use log_time::LogTime;
pub use signature::Signature;
