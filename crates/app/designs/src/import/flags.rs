//! Flags of `import`.

use std::path::PathBuf;

use clap::Args;

/// Flags of `import`.
#[derive(Args, Debug)]
pub struct ImportFlags {
    /// The configuration, or the result as HTML or XML
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// File for the plan [default: the standard output], or folder for the record of a result
    /// [default: plimsoll-import-NAME, made here]
    #[arg(long, short, value_name = "PLAN|DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Folder below which the Windows folders are expected
    #[arg(long, value_name = "DIR", default_value = "/mnt/mail")]
    pub(crate) root: PathBuf,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) force: bool,
}
