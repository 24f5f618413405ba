//! Flags of `quick`.

use std::path::PathBuf;

use clap::Args;
use plan::Sessions;
use units::{Bytes, Nanos};

use console::args::{RecordedRunFlags, duration, sessions, size};

/// Flags of `quick`.
#[derive(Args, Debug)]
pub(crate) struct QuickFlags {
    /// Folder on the disk in question, which must exist, or a raw device that was formatted
    /// [default: plimsoll-quick, made here]
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Length of the measurement, e.g. 45s; a verdict takes 30s or more
    #[arg(long, value_parser = duration)]
    pub duration: Option<Nanos>,
    /// Size of each of the two databases [default: that of existing ones, else 1GiB, or less if
    /// that would leave little room]
    #[arg(long, value_parser = size)]
    pub size: Option<Bytes>,
    /// Fill the databases anew, with `--size` or as they were at first; the content of those that
    /// are there is lost
    #[arg(long)]
    pub reset: bool,
    /// Folder for journal and reports [default: run-NAME-DATE-TIME in DIR]
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Sessions per database, or auto
    #[arg(long, value_name = "N|auto", value_parser = sessions)]
    pub threads: Option<Sessions>,
    /// Hold the load at N database reads and writes per second in total; fail if the storage does
    /// not reach it [default: as many as possible]
    #[arg(long, value_name = "N")]
    pub target_iops: Option<u32>,
    #[command(flatten)]
    pub recorded: RecordedRunFlags,
    /// Answer in JSON: the content of report.json
    #[arg(long)]
    pub json: bool,
}
