//! Flags of `verify`.

use std::path::PathBuf;

use clap::Args;

/// Flags of `verify`.
#[derive(Args, Debug)]
pub struct VerifyFlags {
    /// Database files
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Answer in JSON; for several files, as a list
    #[arg(long)]
    pub(crate) json: bool,
}
