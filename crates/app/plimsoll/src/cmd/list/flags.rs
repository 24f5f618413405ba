//! Flags of `list`.

use std::path::PathBuf;

use clap::Args;

/// Flags of `list`.
#[derive(Args, Debug)]
pub(crate) struct ListFlags {
    /// Folder to look in, three levels deep
    #[arg(value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
    /// Only runs with this tag; may be given several times, for runs with all of them
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}
