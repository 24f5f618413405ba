//! Every verb and flag, defined once: parsing, help and completions derive from this.

mod color;
mod examples;
mod groups;
#[cfg(test)]
mod printed;
mod support;

use std::ffi::OsString;

use clap::{Command, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::cmd::agent::flags::AgentFlags;
use crate::cmd::builds::flags::BuildsFlags;
use crate::cmd::compare::flags::CompareFlags;
use crate::cmd::completions::flags::CompletionFlags;
use crate::cmd::limits::flags::LimitsFlags;
use crate::cmd::line::flags::LineFlags;
use crate::cmd::list::flags::ListFlags;
use crate::cmd::man::flags::ManFlags;
use crate::cmd::prepare::flags::PrepareFlags;
use crate::cmd::quick::flags::QuickFlags;
use crate::cmd::report::flags::ReportFlags;
use crate::cmd::run::flags::RunFlags;
use crate::cmd::scan::flags::ScanFlags;
use crate::cmd::selftest::flags::SelftestFlags;
use crate::cmd::serve::flags::ServeFlags;
use crate::cmd::watch::flags::WatchFlags;
use databases::DatabaseVerb;
use designs::DesignVerb;
pub(crate) use examples::EXAMPLES_HEADING;
use fleets::flags::FleetFlags;
pub(crate) use groups::beginning;
use host::version::{LONG_VERSION, VERSION};
pub(crate) use support::{DoctorFlags, LogsFlags};
use volumes::VolumeVerb;

/// Finds the load line of mailbox storage and proves it.
///
/// Exit status: 0 pass; 1 fail, the storage or a file is at fault; 2 could not measure; 64 wrong
/// usage.
#[derive(Debug, Parser)]
#[command(name = "plimsoll", bin_name = "plimsoll", version = VERSION, long_version = LONG_VERSION,
          arg_required_else_help = true)]
pub(crate) struct Arguments {
    /// Print answers and errors only: no progress, no explanations
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Colour help and messages: auto, always or never; auto heeds `NO_COLOR`
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true,
        hide_possible_values = true
    )]
    pub color: color::Color,
    /// Command
    #[command(subcommand)]
    pub verb: Verb,
}

impl Arguments {
    /// Reads a command line, whose first word is the program.
    pub(crate) fn read(
        words: impl IntoIterator<Item = impl Into<OsString> + Clone>,
    ) -> Result<Self, clap::Error> {
        let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
        let color = color::asked_for(words.iter().map(OsString::as_os_str));
        let mut command = command().color(color);
        let matches = command.try_get_matches_from_mut(words)?;
        Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }
}

/// The program with all commands and their examples.
pub(crate) fn command() -> Command {
    groups::arrange(examples::add(Arguments::command()))
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Create two small databases, run a mailbox load on them, and report what the disk carries
    Quick(QuickFlags),
    /// Create the databases of a plan and fill them
    Prepare(PrepareFlags),
    /// Run a mailbox load on prepared databases, measure, verify, judge and report
    Run(RunFlags),
    /// Raise the load on prepared databases until a limit breaks, and report the load line
    Line(LineFlags),
    /// Render the report of a run again
    Report(ReportFlags),
    /// Compare runs: what changed, by how much, and whether it is more than noise
    Compare(CompareFlags),
    /// List the runs below a folder: when, verdict, IOPS, latencies
    List(ListFlags),
    /// Follow a live run from another terminal; exits with the run's status
    Watch(WatchFlags),
    /// Show the runs of a folder in a browser, live ones too, until Ctrl-C
    Serve(ServeFlags),
    /// Run a plan on many hosts at once, with one verdict
    Fleet(FleetFlags),
    /// Let a fleet run plans on this host, within the folders that you allow
    Agent(AgentFlags),
    /// Check that this system and storage support what a test relies on (no load)
    Selftest(SelftestFlags),
    /// Identify the Exchange release of a version number or a file, from a dated table
    Builds(BuildsFlags),
    /// Show or set the limits on client message sizes in a server's configuration files
    Limits(LimitsFlags),
    /// List the VRRP, CARP and HSRP ids in use on a network and report clashes (passive)
    Scan(ScanFlags),
    /// Show what each command lacks on this machine, and which package provides it
    Doctor(DoctorFlags),
    /// Pack everything that explains a run into one archive, without secrets, to send to others
    Logs(LogsFlags),
    #[command(flatten)]
    Databases(DatabaseVerb),
    #[command(flatten)]
    Designs(DesignVerb),
    #[command(flatten)]
    Volumes(VolumeVerb),
    /// Print a completion script for a shell
    Completions(CompletionFlags),
    /// Print the manual page, or write that of each command into a folder
    Man(ManFlags),
}

impl Verb {
    /// The command of `--notify`, if the verb has that flag and it was given.
    pub(crate) fn notify(&self) -> Option<&str> {
        let at_end = match self {
            Self::Quick(flags) => &flags.recorded.at_end,
            Self::Run(flags) => &flags.recorded.at_end,
            Self::Line(flags) => &flags.recorded.at_end,
            Self::Watch(flags) => &flags.at_end,
            _ => return None,
        };
        at_end.notify.as_deref()
    }
}

/// Whether the command line asks for JSON, detected before it is parsed, since errors in
/// it are reported in JSON too.
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
