//! Flags of `limits`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use units::Bytes;

use console::args::size;

/// Flags of `limits`.
#[derive(Args, Debug)]
pub(crate) struct LimitsFlags {
    /// What to do
    #[command(subcommand)]
    pub action: LimitsAction,
    /// Answer in JSON
    #[arg(long, global = true)]
    pub json: bool,
}

/// Actions of `limits`.
#[derive(Debug, Subcommand)]
pub(crate) enum LimitsAction {
    /// Show the limit of each protocol and direction, and the file that decides
    Show {
        /// Folder of a server's web.config files, or of several servers: an installation of
        /// Exchange, its drive, or files collected under their virtual directories' names
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Set the limit of a protocol in all of its files; without --write, only show the changes
    Set(LimitsSetFlags),
}

/// Flags of `limits set`.
#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("protocol").required(true).multiple(true))]
pub(crate) struct LimitsSetFlags {
    /// The same folder as for `limits show`
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Limit of Outlook on the web, such as 50MiB
    #[arg(long, value_name = "SIZE", value_parser = size, group = "protocol")]
    pub owa: Option<Bytes>,
    /// Limit of Exchange Web Services
    #[arg(long, value_name = "SIZE", value_parser = size, group = "protocol")]
    pub ews: Option<Bytes>,
    /// Limit of mobile devices
    #[arg(long, value_name = "SIZE", value_parser = size, group = "protocol")]
    pub activesync: Option<Bytes>,
    /// Write the files; each old one is kept next to the new one
    #[arg(long)]
    pub write: bool,
}
