//! Flags of `recover`.

use std::path::PathBuf;

use clap::Args;

/// Flags of `recover`.
#[derive(Args, Debug)]
pub struct RecoverFlags {
    /// Database file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Folder of its log [default: the folder of FILE]
    #[arg(long, value_name = "DIR")]
    pub(crate) log_folder: Option<PathBuf>,
    /// Base name of its log, such as E00 [default: as prepared, or the only one in that folder]
    #[arg(long, value_name = "BASE")]
    pub(crate) log_base: Option<String>,
    /// Make a copy of a database of the real engine, brought forward by its logs; FILE is unchanged
    #[arg(long, value_name = "COPY")]
    pub(crate) into: Option<PathBuf>,
    /// Folder of the real engine's logs [default: the folder of FILE]
    #[arg(long, value_name = "DIR", requires = "into")]
    pub(crate) logs: Option<PathBuf>,
    /// Stop after redo: the copy shows uncommitted changes, and can never be undone
    #[arg(long, requires = "into")]
    pub(crate) no_undo: bool,
    /// Replay an incomplete or damaged log as far as possible, and list the losses
    #[arg(long, requires = "into")]
    pub(crate) lossy: bool,
    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}
