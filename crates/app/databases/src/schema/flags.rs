//! Flags of `schema`.

use std::path::PathBuf;

use clap::Args;

/// Flags of `schema`.
#[derive(Args, Debug)]
pub struct SchemaFlags {
    /// Database file; or, for its JSON Schema, one of plan, deployment, report, `set_report`,
    /// `imported_report`, journal, events or answers
    #[arg(value_name = "FILE|KIND")]
    pub(crate) file: PathBuf,
    /// Table [default: all]
    #[arg(value_name = "TABLE")]
    pub(crate) table: Option<String>,
    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}
