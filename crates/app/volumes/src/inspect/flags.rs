//! Flags of `inspect`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use units::{Bytes, Nanos};

use console::args::{duration, size};

/// Flags of `inspect`.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    disable_help_subcommand = true
)]
pub struct InspectFlags {
    /// Folders, files, raw devices, `nbd://HOST/EXPORT` or `iscsi://[USER@]HOST/IQN/LUN`
    #[arg(required_unless_present = "controller", value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Saved output of storcli, perccli, `MegaCli`, ssacli, arcconf, mdadm or nvme, in place of
    /// the tools installed here
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) controller: Vec<PathBuf>,
    /// Measure how durable writes behave: writes a file into each folder and removes it
    #[arg(long, requires = "paths")]
    pub(crate) measure: bool,
    /// Size of that file; larger caches go undetected
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "1GiB",
        requires = "measure")]
    pub(crate) measure_size: Bytes,
    /// Longest time of the writes that fill a cache
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "60s",
        requires = "measure")]
    pub(crate) measure_for: Nanos,
    #[command(flatten)]
    pub(crate) answer: InspectAnswerFlags,
    /// Something other than paths
    #[command(subcommand)]
    pub(crate) what: Option<InspectWhat>,
}

/// Output of `inspect`.
#[derive(Args, Debug)]
pub(crate) struct InspectAnswerFlags {
    /// Write a page as well
    #[arg(long, short = 'o', value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Replace an existing page
    #[arg(long, requires = "html")]
    pub(crate) force: bool,
    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Subjects other than paths.
#[derive(Subcommand, Debug)]
pub(crate) enum InspectWhat {
    /// Compare this server with the plan it was built from: volumes, mounts, copies, spares
    Layout(LayoutFlags),
}

/// Flags of `inspect layout`.
#[derive(Args, Debug)]
pub(crate) struct LayoutFlags {
    /// A deployment, or the provision.json that `plan DEPLOYMENT -o DIR` writes
    #[arg(value_name = "PLAN")]
    pub(crate) plan: PathBuf,
    /// This machine's server in the plan; default: the one with the same name, or the only one
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<String>,
    /// Folder below which every volume is mounted
    #[arg(long, value_name = "DIR")]
    pub(crate) volumes_root: Option<PathBuf>,
    /// Folder below which volumes are mounted again by database, as automatic reseeding needs it
    #[arg(long, value_name = "DIR")]
    pub(crate) databases_root: Option<PathBuf>,
    /// Mount point of the volume for restores, if not below the others
    #[arg(long, value_name = "DIR")]
    pub(crate) restore_folder: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) answer: InspectAnswerFlags,
}
