//! Flags of `selftest`.

use std::path::PathBuf;

use clap::Args;

/// Flags of `selftest`.
#[derive(Args, Debug)]
pub(crate) struct SelftestFlags {
    /// Folder on the storage; what is made in it is removed, unless something is wrong
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}
