//! Flags of `completions` and `man`, which are generated from these definitions.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

/// Flags of `completions`.
#[derive(Args, Debug)]
pub(crate) struct CompletionFlags {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

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
