//! Flags of `verify`.

use std::path::PathBuf;

use clap::Args;

/// Flags of `verify`.
#[derive(Args, Debug)]
pub(crate) struct VerifyFlags {
    /// Database files
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Answer in JSON; for several files, as a list
    #[arg(long)]
    pub json: bool,
}
