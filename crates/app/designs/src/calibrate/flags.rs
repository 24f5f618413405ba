//! Flags of `calibrate`.

use std::path::PathBuf;

use clap::Args;
use units::{Bytes, Nanos};

use console::args::{duration, size};

/// Flags of `calibrate`.
#[derive(Args, Debug)]
pub struct CalibrateFlags {
    /// Existing folder on the storage in question
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// The array file
    #[arg(long, short, value_name = "FILE", default_value = "array.toml")]
    pub(crate) output: PathBuf,
    /// Size of the file that requests go to; a cache of that size would answer instead of the
    /// storage
    #[arg(long, value_parser = size, default_value = "2GiB")]
    pub(crate) size: Bytes,
    /// Length of each of the eleven loads
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "5s")]
    pub(crate) each: Nanos,
    /// Then predict a held run in the folder, run it, and compare both
    #[arg(long)]
    pub(crate) prove: bool,
    /// Replace an existing array file
    #[arg(long)]
    pub(crate) force: bool,
}
