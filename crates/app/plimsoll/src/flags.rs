//! Every verb and flag, once: parsing, help and completions are views of this.

mod examples;

use std::ffi::OsString;

use clap::{Command, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::args::FileFlags;
use crate::cmd::builds::flags::BuildsFlags;
use crate::cmd::calibrate::flags::CalibrateFlags;
use crate::cmd::check::flags::CheckFlags;
use crate::cmd::compare::flags::CompareFlags;
use crate::cmd::completions::flags::CompletionFlags;
use crate::cmd::dump::flags::DumpFlags;
use crate::cmd::export::flags::ExportFlags;
use crate::cmd::format::flags::FormatFlags;
use crate::cmd::import::flags::ImportFlags;
use crate::cmd::inspect::flags::InspectFlags;
use crate::cmd::iscsi::flags::IscsiFlags;
use crate::cmd::limits::flags::LimitsFlags;
use crate::cmd::line::flags::LineFlags;
use crate::cmd::list::flags::ListFlags;
use crate::cmd::man::flags::ManFlags;
use crate::cmd::plan::flags::PlanFlags;
use crate::cmd::prepare::flags::PrepareFlags;
use crate::cmd::profile::flags::ProfileFlags;
use crate::cmd::quick::flags::QuickFlags;
use crate::cmd::recover::flags::RecoverFlags;
use crate::cmd::report::flags::ReportFlags;
use crate::cmd::run::flags::RunFlags;
use crate::cmd::scan::flags::ScanFlags;
use crate::cmd::schema::flags::SchemaFlags;
use crate::cmd::selftest::flags::SelftestFlags;
use crate::cmd::serve::flags::ServeFlags;
use crate::cmd::simulate::flags::SimulateFlags;
use crate::cmd::size::flags::SizeFlags;
use crate::cmd::verify::flags::VerifyFlags;
use crate::cmd::watch::flags::WatchFlags;
pub(crate) use examples::EXAMPLES_HEADING;

/// Finds the load line of mailbox storage and proves it.
///
/// Exit status: 0 pass; 1 fail, the storage or a file is at fault; 2 could not measure; 64 wrong
/// usage.
#[derive(Debug, Parser)]
#[command(name = "plimsoll", bin_name = "plimsoll", version, arg_required_else_help = true)]
pub(crate) struct Arguments {
    /// Print answers and errors only: no progress, no explanations
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// What to do
    #[command(subcommand)]
    pub verb: Verb,
}

impl Arguments {
    /// Reads a command line, whose first word is the program.
    pub(crate) fn read(
        words: impl IntoIterator<Item = impl Into<OsString> + Clone>,
    ) -> Result<Self, clap::Error> {
        let mut command = command();
        let matches = command.try_get_matches_from_mut(words)?;
        Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }
}

/// The program with all commands and their examples.
pub(crate) fn command() -> Command {
    examples::add(Arguments::command())
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Create two small databases, run a mailbox load on them, and say what the disk carries
    Quick(QuickFlags),
    /// Make a raw block device a volume for test databases; what it holds is lost
    Format(FormatFlags),
    /// Create the databases of a plan and fill them
    Prepare(PrepareFlags),
    /// Run a mailbox load on prepared databases, measure, verify, judge and report
    Run(RunFlags),
    /// Try loads up to and past the load line of prepared databases, and say where it lies
    Line(LineFlags),
    /// Predict a run: the same plan in virtual time, on an array that need not exist
    Simulate(SimulateFlags),
    /// Make an array file of the storage under a folder: measure it, fit the model, say how well
    Calibrate(CalibrateFlags),
    /// Render the report of a run again
    Report(ReportFlags),
    /// Set runs side by side: what changed, by how much, and whether it is more than noise
    Compare(CompareFlags),
    /// List the runs below a folder: when, verdict, IOPS, latencies
    List(ListFlags),
    /// Look on while a run goes on, from another terminal; ends with the run, and as it ends
    Watch(WatchFlags),
    /// Show the runs of a folder in a browser, the one that goes on too, until Ctrl-C
    Serve(ServeFlags),
    /// Replay the log of a database that was not closed properly
    Recover(RecoverFlags),
    /// Examine whether everything in a database agrees: trees, space, indexes; never writes
    Verify(VerifyFlags),
    /// Verify the checksum of every page of database files; never writes
    Check(CheckFlags),
    /// Print the header of a database file and the state of its two copies; or that of a log file,
    /// a checkpoint file or a flush map
    Header(FileFlags),
    /// Print what the tables of a database are made of; or the JSON Schema of plan, deployment,
    /// report, journal or events
    Schema(SchemaFlags),
    /// Say which tree owns how many pages of a database, and how many are free
    Space(FileFlags),
    /// Print one page of a database, field by field and node by node
    Dump(DumpFlags),
    /// Print the rows of a table, or write all tables to files; without either, list the tables
    Export(ExportFlags),
    /// Work out servers, databases and disks for mailboxes, with the reason for every number
    Size(SizeFlags),
    /// Try whether the system and the storage under a folder do what a test builds on; no load
    Selftest(SelftestFlags),
    /// Say what stands under a path: file system, disk, caches, unbuffered I/O
    Inspect(InspectFlags),
    /// Plan, make, verify, grow and remove LUNs over iSCSI for mail servers
    Iscsi(IscsiFlags),
    /// Print a commented plan to start from; of a deployment, the plans and scripts that build and
    /// test it
    Plan(PlanFlags),
    /// Say how big and how busy mailboxes are, from logs and reports; `size` reads the answer
    Profile(ProfileFlags),
    /// Make a plan of a JetstressConfig.xml, or a record of a published result of Jetstress
    Import(ImportFlags),
    /// Say which release of Exchange a version number or a file is, from a dated table
    Builds(BuildsFlags),
    /// Show or set how large a client's message may be, from the configuration files of a server
    Limits(LimitsFlags),
    /// Say which ids of redundant routers are taken on a network and which clash; only listens
    Scan(ScanFlags),
    /// Print a completion script for a shell
    Completions(CompletionFlags),
    /// Print the manual page, or write that of each command into a folder
    Man(ManFlags),
}

impl Verb {
    /// The command that is to be run at the end.
    pub(crate) fn notify(&self) -> Option<&str> {
        let at_end = match self {
            Self::Quick(flags) => &flags.at_end,
            Self::Run(flags) => &flags.at_end,
            Self::Line(flags) => &flags.at_end,
            Self::Watch(flags) => &flags.at_end,
            _ => return None,
        };
        at_end.notify.as_deref()
    }
}

/// Whether the command line asks for JSON, looked for before it is parsed, since what is wrong with
/// it is to be told in JSON too.
pub(crate) fn ask_for_json() -> bool {
    let mut words = std::env::args_os().take_while(|word| word != "--");
    words.any(|word| word == "--json")
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
