//! Flags of `watch`.

use std::path::PathBuf;

use clap::Args;

use super::NotifyFlags;

/// Flags of `watch`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    plimsoll watch\n  \
    plimsoll watch run-example-20261124-093000 --json\n  \
    plimsoll watch --notify 'mail -s \"$PLIMSOLL_HEADLINE\" me@example.org < \
    \"$PLIMSOLL_RUN/report.txt\"'")]
pub(crate) struct WatchFlags {
    /// Run folder or its record.jsonl; of a folder of runs, the newest
    #[arg(value_name = "RUN", default_value = ".")]
    pub run: PathBuf,
    #[command(flatten)]
    pub at_end: NotifyFlags,
    /// Print one JSON object for each event
    #[arg(long)]
    pub json: bool,
}
