//! Flags of `format`.

use std::path::PathBuf;

use clap::Args;

/// Flags of `format`.
#[derive(Args, Debug)]
pub(crate) struct FormatFlags {
    /// Block device such as /dev/sdx, `nbd://HOST/EXPORT` of an NBD server, `iscsi://HOST/IQN/LUN`,
    /// or raw:FILE for a file that stands for a device
    #[arg(value_name = "DEVICE")]
    pub device: PathBuf,
    /// Format it whatever it holds: all of that is lost
    #[arg(long)]
    pub force: bool,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}
