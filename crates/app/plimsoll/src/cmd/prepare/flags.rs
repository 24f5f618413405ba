//! Flags of `prepare`.

use std::path::PathBuf;

use clap::Args;

/// Flags of `prepare`.
#[derive(Args, Debug)]
pub(crate) struct PrepareFlags {
    /// The plan; `plimsoll plan` prints one to start from
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    /// Repopulate complete databases, whatever plan filled them: they grow with every run, and runs
    /// on databases of different sizes are not comparable
    #[arg(long)]
    pub reset: bool,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}
