//! Flags of `compare`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use report::ReportForm;

/// Forms of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ComparisonFormat {
    /// Plain text
    Text,
    /// One self-contained page
    Html,
    /// For programs
    Json,
    /// Comma-separated values, one line per metric and run
    Csv,
}

impl ComparisonFormat {
    /// The same for `report`, with text in lines of at most `width` characters.
    pub(super) const fn form(self, width: usize) -> ReportForm {
        match self {
            Self::Text => ReportForm::Text { width },
            Self::Html => ReportForm::Page,
            Self::Json => ReportForm::Json,
            Self::Csv => ReportForm::Csv,
        }
    }
}

/// Flags of `compare`.
#[derive(Args, Debug)]
pub(crate) struct CompareFlags {
    /// Run folders or their record.jsonl, folders of sets of tests, or fleet runs; the others are
    /// compared with the first. The hosts of one fleet run are compared with each other
    #[arg(value_name = "RUN", num_args = 1.., required = true)]
    pub runs: Vec<PathBuf>,
    /// Form [default: by the ending of --output, else text]
    #[arg(long, value_enum)]
    pub format: Option<ComparisonFormat>,
    /// File to write [default: the standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace the file if it already exists
    #[arg(long, requires = "output")]
    pub force: bool,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
}
