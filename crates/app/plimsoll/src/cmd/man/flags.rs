//! Flags of `man`.

use std::path::PathBuf;

use clap::Args;

/// Flags of `man`.
#[derive(Args, Debug)]
pub(crate) struct ManFlags {
    /// Command whose page is printed, such as run or "iscsi apply" [default: the one of all]
    #[arg(value_name = "COMMAND", conflicts_with = "output")]
    pub command: Option<String>,
    /// Folder that gets the page of every command, such as /usr/local/share/man/man1
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,
}
