//! Flags of `export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// How rows are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Comma-separated values with a header line
    Csv,
    /// One JSON object per line
    Jsonl,
}

/// Flags of `export`.
#[derive(Args, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own on the command line"
)]
pub struct ExportFlags {
    /// Database file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Table to print
    #[arg(long, value_name = "T", group = "rows", conflicts_with = "all")]
    pub(crate) table: Option<String>,
    /// Write every table to a separate file
    #[arg(long, group = "rows", requires = "output")]
    pub(crate) all: bool,
    /// File for the rows of --table, or folder for --all [default: the standard output]
    #[arg(long, short, value_name = "FILE|DIR", requires = "rows")]
    pub(crate) output: Option<PathBuf>,
    /// Replace existing files
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    /// Include rows that are deleted and not yet removed; a first column marks them
    #[arg(long)]
    pub(crate) deleted: bool,
    /// Replay the logs of the real engine in this folder first, in memory; no file is changed
    #[arg(long, value_name = "DIR")]
    pub(crate) with_logs: Option<PathBuf>,
    /// Accept pages without a checksum, as in an engine's temporary database
    #[arg(long)]
    pub(crate) without_checksums: bool,
    /// Row format [default: by the extension of --output, else csv]
    #[arg(long, value_enum)]
    pub(crate) format: Option<ExportFormat>,
    /// Same as --format jsonl; without --table, list the tables as JSON lines
    #[arg(long)]
    pub(crate) json: bool,
}
