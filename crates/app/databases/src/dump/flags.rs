//! Flags of `dump`.

use std::path::PathBuf;

use clap::Args;

/// Flags of `dump`.
#[derive(Args, Debug)]
pub struct DumpFlags {
    /// Database file, or a log of the real engine, or a folder of its logs
    #[arg(value_name = "FILE|DIR")]
    pub(crate) file: PathBuf,
    /// Page number, counted from 1; for logs, show only records that change this page
    #[arg(long, value_name = "N")]
    pub(crate) page: Option<u32>,
    /// For logs, show only records that change this table, given by its name or the object number
    /// of a tree
    #[arg(long, value_name = "T")]
    pub(crate) table: Option<String>,
    /// Database from which to learn the trees of the table [default: the one next to the logs]
    #[arg(long, value_name = "FILE", requires = "table")]
    pub(crate) database: Option<PathBuf>,
    /// Answer in JSON with untruncated keys and data; for logs, one line per record
    #[arg(long)]
    pub(crate) json: bool,
}
