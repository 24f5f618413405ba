//! Flags of `line`.

use std::path::PathBuf;

use clap::Args;
use units::Nanos;

use console::args::{RecordedRunFlags, duration};

/// Flags of `line`.
#[derive(Args, Debug)]
pub(crate) struct LineFlags {
    /// The plan that the databases were prepared with
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    /// Length of each measured load; less than 30s is not judged
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration)]
    pub step: Nanos,
    /// Folder for journals and reports [default: run-NAME-DATE-TIME]
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub recorded: RecordedRunFlags,
    /// Answer in JSON: the content of line.json
    #[arg(long)]
    pub json: bool,
}
