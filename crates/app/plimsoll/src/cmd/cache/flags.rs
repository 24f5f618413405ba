//! Flags of `cache`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use units::Bytes;

use super::size::flags::CacheSizeFlags;
use crate::args::size;

/// Flags of `cache`.
#[derive(Args, Debug)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct CacheFlags {
    /// What to do
    #[command(subcommand)]
    pub action: CacheAction,
}

/// Actions on a cache.
#[derive(Subcommand, Debug)]
pub(crate) enum CacheAction {
    /// Show what caches of several sizes would answer of a trace, or bring a plan on an array;
    /// writes nothing
    Size(CacheSizeFlags),
    /// Make an empty cache on a flash device, or in a new file; refuses anything that holds data
    Create(CacheCreateFlags),
    /// Show what a cache holds and what it brought, live if it is being served
    Status(CacheStatusFlags),
    /// Examine a cache that is not in use; reads only
    Check(CacheCheckFlags),
}

/// Flags of `cache create`.
#[derive(Args, Debug)]
pub(crate) struct CacheCreateFlags {
    /// Flash device such as /dev/nvme0n1, or a file
    #[arg(value_name = "FLASH")]
    pub flash: PathBuf,
    /// Create a file of this size, such as 100GiB
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub size: Option<Bytes>,
    /// Size of a cached block: a power of two from 4KiB to 256KiB
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "32KiB")]
    pub block: Bytes,
    /// Overwrite data, or an older cache
    #[arg(long)]
    pub force: bool,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `cache status`.
#[derive(Args, Debug)]
pub(crate) struct CacheStatusFlags {
    /// Flash device or file of the cache
    #[arg(value_name = "FLASH")]
    pub flash: PathBuf,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `cache check`.
#[derive(Args, Debug)]
pub(crate) struct CacheCheckFlags {
    /// Flash device or file of the cache
    #[arg(value_name = "FLASH")]
    pub flash: PathBuf,
    /// Read the index only, not every cached block
    #[arg(long)]
    pub fast: bool,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}
