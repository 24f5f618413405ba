//! Flags of `selftest`.

use std::path::PathBuf;

use clap::Args;

/// Flags of `selftest`.
#[derive(Args, Debug)]
pub(crate) struct SelftestFlags {
    /// Folder on the storage; files made in it are removed, unless something is wrong
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}
