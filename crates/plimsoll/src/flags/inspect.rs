//! Flags of `inspect`.

use std::path::PathBuf;

use clap::Args;
use units::{Bytes, Nanos};

use super::{duration, size};

/// Flags of `inspect`.
#[derive(Args, Debug)]
pub(crate) struct InspectFlags {
    /// Folders or files
    #[arg(required_unless_present = "controller", value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Saved output of storcli, perccli, ssacli or arcconf, in place of what is installed here
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub controller: Vec<PathBuf>,
    /// Measure what durable writes meet: a file is written into each folder and removed again
    #[arg(long, requires = "paths")]
    pub measure: bool,
    /// Size of that file; no larger cache is seen
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "1GiB",
        requires = "measure")]
    pub measure_size: Bytes,
    /// Longest time of the writes that fill a cache
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "60s",
        requires = "measure")]
    pub measure_for: Nanos,
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
