//! Flags of `cache`.

use clap::{Args, Subcommand};

use super::size::flags::CacheSizeFlags;

/// Flags of `cache`.
#[derive(Args, Debug)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct CacheFlags {
    /// What to do
    #[command(subcommand)]
    pub action: CacheAction,
}

/// Actions on caches.
#[derive(Subcommand, Debug)]
pub(crate) enum CacheAction {
    /// Show what caches of several sizes would answer of a trace, or bring a plan on an array;
    /// nothing is bought or written
    Size(CacheSizeFlags),
}
