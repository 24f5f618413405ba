//! Flags of `report`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Forms of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// One self-contained page
    Html,
    /// Plain text
    Text,
    /// For programs
    Json,
    /// A load's result in the XML of Jetstress, for programs that read that
    Xml,
    /// Every interval as comma-separated values
    Csv,
    /// The white paper of a solution, as HTML; as DOCX if the output ends in .docx
    Esrp,
}

/// Flags of `report`.
#[derive(Args, Clone, Debug)]
pub(crate) struct ReportFlags {
    /// Run folder, its record.jsonl, or the folder of a set of tests or of a sweep; a white paper
    /// takes several
    #[arg(value_name = "RUN", required_unless_present = "vendor_template")]
    pub runs: Vec<PathBuf>,
    /// Format [default: by the extension of --output; without either, all formats in the run folder
    /// are rewritten]
    #[arg(long, value_enum)]
    pub format: Option<ReportFormat>,
    /// File to write [default: the standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace existing files
    #[arg(long, requires = "output")]
    pub force: bool,
    /// With --format esrp: the vendor's facts about the solution
    #[arg(long, value_name = "FILE")]
    pub vendor: Option<PathBuf>,
    /// Print a vendor's file with every key, ready to fill in
    #[arg(long, conflicts_with_all = ["runs", "format", "output", "vendor"])]
    pub vendor_template: bool,
}
