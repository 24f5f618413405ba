//! Flags of `iscsi`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// Flags of `iscsi`.
#[derive(Args, Debug)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub struct IscsiFlags {
    /// What to do
    #[command(subcommand)]
    pub(crate) action: IscsiAction,
}

/// Actions on LUNs.
#[derive(Subcommand, Debug)]
pub(crate) enum IscsiAction {
    /// Show the LUNs and targets of a document, and any problems with them; without a
    /// document, print one to start from
    Plan(IscsiPlanFlags),
    /// Create the files, targets and secrets of the document; repeating it changes nothing
    Apply(IscsiApplyFlags),
    /// Log in to every LUN as its initiator does, and compare with the document; exit status 1
    /// if it finds something to fix
    Verify(IscsiVerifyFlags),
    /// Grow LUNs to the size in the document, and show what initiators have to do
    Grow(IscsiGrowFlags),
    /// Remove every target, file and secret that `apply` made, and nothing else
    Destroy(IscsiDestroyFlags),
}

/// Selects LUNs.
#[derive(Args, Debug)]
pub(crate) struct IscsiDocumentFlags {
    /// The document
    #[arg(value_name = "LUNS.toml")]
    pub(crate) document: PathBuf,
    /// Record of the created objects [default: the document's name with .state.json]
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// Its secrets, for its owner alone [default: the document's name with .secrets.json]
    #[arg(long, value_name = "FILE")]
    pub(crate) secrets: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Flags of `iscsi plan`.
#[derive(Args, Debug)]
pub(crate) struct IscsiPlanFlags {
    /// The document
    #[arg(value_name = "LUNS.toml")]
    pub(crate) document: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Software that creates the LUNs of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum IscsiBackend {
    /// tgtd on this machine
    Tgt,
    /// Print the steps for tgtd
    Print,
    /// Write the configuration for `targetcli restoreconfig`; it holds the secrets
    Lio,
    /// Print the script for a Windows target server
    Windows,
    /// Print the scripts for initiators on Linux
    OpenIscsi,
    /// Print the scripts for initiators on `ESXi`
    Esxi,
    /// Print the scripts for initiators on Windows
    WindowsInitiator,
}

/// Flags of `iscsi apply`.
#[derive(Args, Debug)]
pub(crate) struct IscsiApplyFlags {
    #[command(flatten)]
    pub(crate) what: IscsiDocumentFlags,
    /// Software that creates them
    #[arg(long, value_enum, default_value = "tgt")]
    pub(crate) backend: IscsiBackend,
    /// File for the configuration of --backend lio
    #[arg(long, short, value_name = "FILE", required_if_eq("backend", "lio"))]
    pub(crate) output: Option<PathBuf>,
    /// Only the script of this initiator
    #[arg(long, value_name = "NAME")]
    pub(crate) initiator: Option<String>,
    /// Change targets even if initiators are logged in: their requests in flight fail
    #[arg(long)]
    pub(crate) force: bool,
}

/// Flags of `iscsi verify`.
#[derive(Args, Debug)]
pub(crate) struct IscsiVerifyFlags {
    #[command(flatten)]
    pub(crate) what: IscsiDocumentFlags,
    /// Write a pattern to blank LUNs, read it back and remove it
    #[arg(long)]
    pub(crate) write: bool,
    /// Write a page as well
    #[arg(long, short = 'o', value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Replace an existing page
    #[arg(long, requires = "html")]
    pub(crate) force: bool,
}

/// Flags of `iscsi grow`.
#[derive(Args, Debug)]
pub(crate) struct IscsiGrowFlags {
    #[command(flatten)]
    pub(crate) what: IscsiDocumentFlags,
    /// Grow LUNs even if initiators are logged in: their requests in flight fail
    #[arg(long)]
    pub(crate) force: bool,
}

/// Flags of `iscsi destroy`.
#[derive(Args, Debug)]
pub(crate) struct IscsiDestroyFlags {
    #[command(flatten)]
    pub(crate) what: IscsiDocumentFlags,
    /// Destroy targets even if initiators are logged in
    #[arg(long)]
    pub(crate) force: bool,
}
