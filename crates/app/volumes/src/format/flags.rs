//! Flags of `format`.

use std::path::PathBuf;

use clap::Args;

/// Flags of `format`.
#[derive(Args, Debug)]
pub struct FormatFlags {
    /// Block device such as /dev/sdx, `nbd://HOST/EXPORT` of an NBD server, `iscsi://HOST/IQN/LUN`,
    /// or raw:FILE for a file used as a device
    #[arg(value_name = "DEVICE")]
    pub(crate) device: PathBuf,
    /// Format it even if it contains data, which is lost
    #[arg(long)]
    pub(crate) force: bool,
    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}
