//! Flags of `selftest`.

use std::path::PathBuf;

use clap::Args;

/// Flags of `selftest`.
#[derive(Args, Debug)]
pub(crate) struct SelftestFlags {
    /// Folder on the storage; files created in it are removed, unless a problem is found
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}
