//! Every verb and flag, once: parsing, help and completions are views of this.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

/// Finds the load line of mailbox storage and proves it.
///
/// Exit status: 0 pass; 1 fail, the storage or a file is at fault; 2 could not measure.
#[derive(Debug, Parser)]
#[command(name = "plimsoll", version, arg_required_else_help = true)]
pub struct Arguments {
    /// Print answers and errors only: no progress, no explanations
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// What to do
    #[command(subcommand)]
    pub verb: Verb,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Create the databases of a plan and fill them
    Prepare(PrepareFlags),
    /// Verify the checksum of every page of database files; never writes
    Check(CheckFlags),
    /// Print the header of a database file and the state of its two copies
    Header(FileFlags),
    /// Say which tree owns how many pages of a database, and how many are free
    Space(FileFlags),
    /// Print one page of a database, field by field and node by node
    Dump(DumpFlags),
    /// Print the rows of a table; without --table, the names of the tables
    Export(ExportFlags),
    /// Say what stands under a path: file system, disk, caches, unbuffered I/O
    Inspect(InspectFlags),
    /// Print a commented plan to start from
    Plan,
    /// Print a completion script for a shell
    Completions(CompletionFlags),
}

/// Flags of `prepare`.
#[derive(Args, Debug)]
pub struct PrepareFlags {
    /// The plan; `plimsoll plan` prints one to start from
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `check`.
#[derive(Args, Debug)]
pub struct CheckFlags {
    /// Database files
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of the verbs that read one database file.
#[derive(Args, Debug)]
pub struct FileFlags {
    /// Database file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `dump`.
#[derive(Args, Debug)]
pub struct DumpFlags {
    /// Database file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Page number, counted from 1
    #[arg(long, value_name = "N")]
    pub page: u32,
    /// Answer in JSON, keys and data whole
    #[arg(long)]
    pub json: bool,
}

/// How rows are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Comma-separated values with a line of names first
    Csv,
    /// One JSON object per line
    Jsonl,
}

/// Flags of `export`.
#[derive(Args, Debug)]
pub struct ExportFlags {
    /// Database file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Table to print
    #[arg(long, value_name = "T")]
    pub table: Option<String>,
    /// How rows are printed
    #[arg(long, value_enum, default_value = "csv")]
    pub format: ExportFormat,
    /// The same as --format jsonl; without --table, the list of tables in JSON lines
    #[arg(long)]
    pub json: bool,
}

/// Flags of `inspect`.
#[derive(Args, Debug)]
pub struct InspectFlags {
    /// Folders or files
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `completions`.
#[derive(Args, Debug)]
pub struct CompletionFlags {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::Arguments;

    #[test]
    fn the_table_of_flags_is_consistent() {
        Arguments::command().debug_assert();
    }
}
