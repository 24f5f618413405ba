//! Flags of `inspect`.

use std::path::PathBuf;

use clap::Args;

/// Flags of `inspect`.
#[derive(Args, Debug)]
pub(crate) struct InspectFlags {
    /// Folders or files
    #[arg(required_unless_present = "controller", value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Saved output of storcli, perccli, ssacli or arcconf, in place of what is installed here
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub controller: Vec<PathBuf>,
    /// Write a page as well
    #[arg(long, short = 'o', value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Replace a page that is there already
    #[arg(long, requires = "html")]
    pub force: bool,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}
