//! Flags of `doctor` and `logs`, which help when a test does not start or is not understood.

use std::path::PathBuf;

use clap::Args;

/// Flags of `doctor`.
#[derive(Args, Debug)]
pub(crate) struct DoctorFlags {
    /// Command to look after, such as iscsi; exit status 2 if it lacks something it needs
    /// [default: all commands]
    #[arg(value_name = "COMMAND")]
    pub command: Option<String>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `logs`.
#[derive(Args, Debug)]
pub(crate) struct LogsFlags {
    /// Folder of the run
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// The archive [default: the name of the folder with -logs.tar]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    pub force: bool,
}
