//! Flags of `man`.

use std::path::PathBuf;

use clap::Args;

/// Flags of `man`.
#[derive(Args, Debug)]
pub(crate) struct ManFlags {
    /// Command to print the page of, such as run or "iscsi apply" [default: the page of the whole
    /// program]
    #[arg(value_name = "COMMAND", conflicts_with = "output")]
    pub command: Option<String>,
    /// Folder to write the pages of all commands to, such as /usr/local/share/man/man1
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,
}
