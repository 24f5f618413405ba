//! Flags of `check`.

use std::path::PathBuf;

use clap::Args;

/// Flags of `check`.
#[derive(Args, Debug)]
pub struct CheckFlags {
    /// Database files; or logs of the real engine, or folders of them, checked as one set
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Read all pages past the end of the database, not only the first 64 MiB
    #[arg(long)]
    pub(crate) foreign: bool,
    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}
