//! Flags of `plan`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use console::args::percent;

/// Arrays with known rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ArrayKind {
    /// EMC `VNXe3300`, according to its published test report
    Vnxe3300,
}

/// Exports of `plan`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportKind {
    /// All but csv-v6
    All,
    /// The tables of the official calculator, version 7, with `EDBFilePath`
    Csv,
    /// The tables of version 6, with `DBFilePath`
    CsvV6,
    /// diskpart scripts, one per server
    Diskpart,
    /// Exchange Management Shell scripts, one per group
    Powershell,
    /// Shell scripts for Linux, one per server
    Linux,
    /// FLEET.toml for all servers at once, and the plan of each
    Fleet,
}

/// Flags of `plan`.
#[derive(Args, Debug)]
pub struct PlanFlags {
    /// The deployment to lay out [default: print a commented plan]
    #[arg(value_name = "DEPLOYMENT")]
    pub(crate) deployment: Option<PathBuf>,
    /// Folder for plan.toml, provision.md, provision.json and exports
    /// [default: the standard output, as Markdown]
    #[arg(long, short, value_name = "DIR", requires = "deployment")]
    pub(crate) output: Option<PathBuf>,
    /// Replace existing files
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    /// Scripts and tables to write as well; never run by plimsoll
    #[arg(long, value_enum, value_delimiter = ',', requires = "output")]
    pub(crate) export: Vec<ExportKind>,
    /// The server that plan.toml tests [default: the first]
    #[arg(long, value_name = "NAME", requires = "deployment")]
    pub(crate) server: Option<String>,
    /// Folder below which the volumes are mounted; it and the database folders in it are created
    /// [default: /mnt/mail, without creating any]
    #[arg(long, value_name = "DIR", requires = "deployment")]
    pub(crate) root: Option<PathBuf>,
    /// Lay out volumes as this array's wizard does
    #[arg(long, value_enum, requires = "deployment")]
    pub(crate) array: Option<ArrayKind>,
    /// Size under plan.toml as a percentage of the real size; less than 100 is a rehearsal
    #[arg(long, value_name = "PERCENT", default_value = "100", value_parser = percent)]
    pub(crate) scale: f64,
    /// Simulate one set of disks of the server before you buy it: plan,
    /// array and report in the folder `predicted` of the output
    #[arg(long, requires = "output")]
    pub(crate) predict: bool,
    /// Answer in JSON
    #[arg(long, requires = "deployment", conflicts_with = "output")]
    pub(crate) json: bool,
}
