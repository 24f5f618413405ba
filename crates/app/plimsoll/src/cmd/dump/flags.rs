//! Flags of `dump`.

use std::path::PathBuf;

use clap::Args;

/// Flags of `dump`.
#[derive(Args, Debug)]
pub(crate) struct DumpFlags {
    /// Database file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Page number, counted from 1
    #[arg(long, value_name = "N")]
    pub page: u32,
    /// Answer in JSON, keys and data whole
    #[arg(long)]
    pub json: bool,
}
