//! The verbs that prepare volumes and offer them to others: inspect, format, cache and iSCSI.

pub mod cache;
mod format;
mod inspect;
mod iscsi;
mod layout;

use cache::flags::CacheFlags;
use clap::Subcommand;
use console::error::CommandError;
use console::{Console, Outcome};
use format::flags::FormatFlags;
use inspect::flags::InspectFlags;
use iscsi::flags::IscsiFlags;

/// What to do with a volume.
#[derive(Debug, Subcommand)]
pub enum VolumeVerb {
    /// Turn a raw block device into a volume for test databases; its contents are lost
    Format(FormatFlags),
    /// Show the layers underneath a path: file system, disk, caches, unbuffered I/O
    Inspect(InspectFlags),
    /// Size, make, serve, examine and remove a flash cache in front of volumes, over NBD
    Cache(CacheFlags),
    /// Plan, make, verify, grow and remove LUNs over iSCSI for mail servers
    Iscsi(IscsiFlags),
}

/// Runs a command.
///
/// # Errors
///
/// The input is invalid, or something that the command needs is missing.
pub fn run(verb: &VolumeVerb, console: &mut Console) -> Result<Outcome, CommandError> {
    match verb {
        VolumeVerb::Format(flags) => format::run(flags, console),
        VolumeVerb::Inspect(flags) => inspect::run(flags, console),
        VolumeVerb::Cache(flags) => cache::run(flags, console),
        VolumeVerb::Iscsi(flags) => iscsi::run(flags, console),
    }
}
