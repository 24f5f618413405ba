//! Flags of `dump`.

use std::path::PathBuf;

use clap::Args;

/// Flags of `dump`.
#[derive(Args, Debug)]
pub(crate) struct DumpFlags {
    /// Database file, or a log of the real engine, or a folder of its logs
    #[arg(value_name = "FILE|DIR")]
    pub file: PathBuf,
    /// Page number, counted from 1; of logs, only records that change this page
    #[arg(long, value_name = "N")]
    pub page: Option<u32>,
    /// Of logs, only records that change this table, by its name or the object number of a tree
    #[arg(long, value_name = "T")]
    pub table: Option<String>,
    /// Database that says which trees the table has [default: the one beside the logs]
    #[arg(long, value_name = "FILE", requires = "table")]
    pub database: Option<PathBuf>,
    /// Answer in JSON, keys and data whole; of logs, a line a record
    #[arg(long)]
    pub json: bool,
}
