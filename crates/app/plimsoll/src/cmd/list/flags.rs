//! Flags of `list`.

use std::path::PathBuf;

use clap::Args;

/// Flags of `list`.
#[derive(Args, Debug)]
pub(crate) struct ListFlags {
    /// Folder to search, three levels deep
    #[arg(value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
    /// Only runs with this tag; if given several times, runs with all of them
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}
