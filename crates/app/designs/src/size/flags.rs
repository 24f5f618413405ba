//! Flags of `size`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};

/// Flags of `size`.
#[derive(Args, Clone, Debug)]
#[command(group(ArgGroup::new("written").multiple(true)))]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own on the command line"
)]
pub struct SizeFlags {
    /// The deployment; --example prints one to start from
    #[arg(value_name = "DEPLOYMENT",
          required_unless_present_any = ["example", "explain", "scenarios"])]
    pub(crate) deployment: Option<PathBuf>,
    /// Print a commented deployment to start from
    #[arg(long, conflicts_with = "deployment")]
    pub(crate) example: bool,
    /// Explain these numbers, by the keys that the report shows
    #[arg(long, value_name = "KEY", num_args = 1.., conflicts_with_all = ["json", "scenarios"])]
    pub(crate) explain: Vec<String>,
    /// Size every combination of values and rank them: KEY=VALUE,VALUE or a file of such lines
    #[arg(long, value_name = "KEY=VALUES|FILE", num_args = 1..)]
    pub(crate) scenarios: Vec<String>,
    /// Write a page as well
    #[arg(long, short = 'o', value_name = "FILE", group = "written")]
    pub(crate) html: Option<PathBuf>,
    /// Simulate one set of disks of a server before you buy it: plan, array
    /// and report in this folder
    #[arg(long, value_name = "DIR", group = "written",
        conflicts_with_all = ["scenarios", "explain"])]
    pub(crate) predict: Option<PathBuf>,
    /// Simulate normal operation and every failure that the design claims to survive; --html
    /// writes the page for the customer
    #[arg(long, conflicts_with_all = ["scenarios", "explain", "predict"])]
    pub(crate) prove: bool,
    /// Replace existing files
    #[arg(long, requires = "written")]
    pub(crate) force: bool,
    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl SizeFlags {
    /// Returns the flags with the deployment in its own field: after a flag that takes several
    /// values it is parsed as the last of them.
    pub(crate) fn in_order(&self) -> Self {
        let mut flags = self.clone();
        if flags.deployment.is_none() && !flags.example {
            let lists = [&mut flags.explain, &mut flags.scenarios];
            let list = lists.into_iter().find(|list| list.len() > 1);
            flags.deployment = list.and_then(Vec::pop).map(PathBuf::from);
        }
        flags
    }
}
