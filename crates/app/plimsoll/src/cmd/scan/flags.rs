//! Flags of `scan`.

use std::path::PathBuf;

use clap::Args;
use units::Nanos;

use console::args::duration;

/// Flags of `scan`.
#[derive(Args, Debug)]
pub(crate) struct ScanFlags {
    /// Captures, pcap or pcapng
    #[arg(value_name = "CAPTURE", required_unless_present = "interface")]
    pub captures: Vec<PathBuf>,
    /// Listen on this Ethernet interface; Linux only
    #[arg(long, value_name = "NAME", conflicts_with = "captures")]
    pub interface: Option<String>,
    /// How long to listen; at least three intervals of the slowest router
    #[arg(long, default_value = "15s", value_parser = duration)]
    pub duration: Nanos,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}
