//! Flags of `recover`.

use std::path::PathBuf;

use clap::Args;

/// Flags of `recover`.
#[derive(Args, Debug)]
pub(crate) struct RecoverFlags {
    /// Database file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Folder of its log [default: the folder of FILE]
    #[arg(long, value_name = "DIR")]
    pub log_folder: Option<PathBuf>,
    /// Base name of its log, such as E00 [default: as prepared, or the only one in that folder]
    #[arg(long, value_name = "BASE")]
    pub log_base: Option<String>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}
