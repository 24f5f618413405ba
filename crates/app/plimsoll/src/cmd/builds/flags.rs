//! Flags of `builds`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Flags of `builds`.
#[derive(Args, Debug)]
pub(crate) struct BuildsFlags {
    /// What to do
    #[command(subcommand)]
    pub action: BuildsAction,
    /// Table to use instead of the embedded one, e.g. a newer one, as CSV with the same columns
    #[arg(long, global = true, value_name = "FILE")]
    pub data: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long, global = true)]
    pub json: bool,
}

/// Actions of `builds`.
#[derive(Debug, Subcommand)]
pub(crate) enum BuildsAction {
    /// Name the release of versions, or of those in logs, reports, programs and databases
    Identify {
        /// A version in any of its forms, a name such as "2016 CU22", or a file
        #[arg(required = true, value_name = "VERSION|FILE")]
        subjects: Vec<String>,
    },
    /// Print the table
    List {
        /// Part of a product's name, such as 2019 or SE [default: all products]
        #[arg(value_name = "PRODUCT")]
        product: Option<String>,
    },
    /// Show the steps and prerequisites from one build to another
    Compare {
        /// One build: a version, a name or a file
        #[arg(value_name = "A")]
        one: String,
        /// The other
        #[arg(value_name = "B")]
        other: String,
    },
}
