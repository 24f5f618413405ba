//! The verbs that people use on database files and logs, ours and those of other programs.

pub mod check;
pub mod dump;
pub mod export;
mod genuine_log;
pub mod header;
mod opened;
pub mod recover;
pub mod schema;
pub mod space;
pub mod verify;
