//! Flags of `watch`.

use std::path::PathBuf;

use clap::Args;

use console::args::NotifyFlags;

/// Flags of `watch`.
#[derive(Args, Debug)]
pub(crate) struct WatchFlags {
    /// Run folder or its record.jsonl; for a folder of runs, the newest
    #[arg(value_name = "RUN", default_value = ".")]
    pub run: PathBuf,
    #[command(flatten)]
    pub at_end: NotifyFlags,
    /// Print one JSON object for each event
    #[arg(long)]
    pub json: bool,
}
