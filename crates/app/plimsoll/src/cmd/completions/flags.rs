//! Flags of `completions`.

use clap::Args;
use clap_complete::Shell;

/// Flags of `completions`.
#[derive(Args, Debug)]
pub(crate) struct CompletionFlags {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}
