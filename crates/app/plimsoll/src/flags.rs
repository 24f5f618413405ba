//! Every verb and flag, once: parsing, help and completions are views of this.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{
    Args, Command, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum,
};
use plan::Sessions;
use units::{Bytes, Nanos};

mod durations;
mod examples;
mod format;
mod inspect;
mod iscsi;
mod limits;
mod manual;
mod notify;
mod recover;
mod simulate;
mod sizing;
mod values;
mod watch;

pub(crate) use durations::{TestDuration, test_duration};
pub(crate) use examples::EXAMPLES_HEADING;
pub(crate) use format::FormatFlags;
pub(crate) use inspect::{InspectAnswerFlags, InspectFlags, InspectWhat, LayoutFlags};
pub(crate) use iscsi::{
    IscsiAction, IscsiApplyFlags, IscsiBackend, IscsiDestroyFlags, IscsiDocumentFlags, IscsiFlags,
    IscsiGrowFlags, IscsiPlanFlags, IscsiVerifyFlags,
};
pub(crate) use limits::{LimitsAction, LimitsFlags, LimitsSetFlags};
pub(crate) use manual::{CompletionFlags, ManFlags};
pub(crate) use notify::{NotifyFlags, ask_for_json};
pub(crate) use recover::RecoverFlags;
pub(crate) use simulate::{CalibrateFlags, SimulateFlags};
pub(crate) use sizing::{ArrayKind, ExportKind, PlanFlags, SizeFlags};
pub(crate) use watch::WatchFlags;

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

/// Flags that say which run it is.
#[derive(Args, Debug)]
pub(crate) struct IdentityFlags {
    /// Name of the run, in its report and its folder [default: that of the plan]
    #[arg(long, value_parser = name)]
    pub name: Option<String>,
    /// A word to find the run by; may be given several times
    #[arg(long = "tag", value_name = "TAG", value_parser = name)]
    pub tags: Vec<String>,
}

/// Flags of `quick`.
#[derive(Args, Debug)]
pub(crate) struct QuickFlags {
    /// Folder on the disk in question, which must exist, or a raw device that was formatted
    /// [default: plimsoll-quick, made here]
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// How long is measured, such as 45s
    #[arg(long, value_parser = duration)]
    pub duration: Option<Nanos>,
    /// Size of each of the two databases, such as 1GiB
    #[arg(long, value_parser = size)]
    pub size: Option<Bytes>,
    /// Sessions per database, or auto
    #[arg(long, value_name = "N|auto", value_parser = sessions)]
    pub threads: Option<Sessions>,
    /// Hold the load at so many database reads and writes per second, of both databases, and fail
    /// where they are not reached [default: as many as possible]
    #[arg(long, value_name = "N")]
    pub target_iops: Option<u32>,
    #[command(flatten)]
    pub identity: IdentityFlags,
    #[command(flatten)]
    pub at_end: NotifyFlags,
    /// Answer in JSON: the content of report.json
    #[arg(long)]
    pub json: bool,
}

/// Flags of `run`.
#[derive(Args, Debug)]
pub(crate) struct RunFlags {
    /// The plan that the databases were prepared with
    #[arg(value_name = "PLAN", required_unless_present = "resume")]
    pub plan: Option<PathBuf>,
    /// Go on with a run that a crash or a power cut has ended: the folder of its journal. What is
    /// left of its time is measured, with its plan, settings and seed
    #[arg(long, value_name = "RUN", conflicts_with_all = ["output", "acknowledge", "name", "tags"])]
    pub resume: Option<PathBuf>,
    /// Kind of test: performance, stress, backup, recovery or checksum; all: the first four, one
    /// after the other, with one report
    #[arg(long, value_name = "KIND", value_parser = values::TESTS_TO_RUN,
        hide_possible_values = true)]
    pub test: Option<String>,
    /// Length of the measurement, e.g. 2h or 90s; with --test all that of both loads, or of each:
    /// performance=2h,stress=24h
    #[arg(long, value_name = "TIME|TEST=TIME", value_parser = test_duration,
        value_delimiter = ',')]
    pub duration: Vec<TestDuration>,
    /// Sessions per database, or auto
    #[arg(long, value_name = "N|auto", value_parser = sessions)]
    pub threads: Option<Sessions>,
    /// Hold the load at so many database reads and writes per second, of all databases, and fail
    /// where they are not reached [default: as many as possible]
    #[arg(long, value_name = "N")]
    pub target_iops: Option<u32>,
    /// Seed of the operations
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Folder for journal and reports [default: run-NAME-DATE-TIME]
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Write a line here before and behind every commit, unbuffered, for programs that kill this
    /// one and look what is left
    #[arg(long, value_name = "FILE")]
    pub acknowledge: Option<PathBuf>,
    #[command(flatten)]
    pub identity: IdentityFlags,
    #[command(flatten)]
    pub at_end: NotifyFlags,
    /// Answer in JSON: the content of report.json
    #[arg(long)]
    pub json: bool,
}

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

/// Flags of `line`.
#[derive(Args, Debug)]
pub(crate) struct LineFlags {
    /// The plan that the databases were prepared with
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    /// How long each load is measured; less than 30s is not judged
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration)]
    pub step: Nanos,
    /// Folder for journals and reports [default: run-NAME-DATE-TIME]
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub identity: IdentityFlags,
    #[command(flatten)]
    pub at_end: NotifyFlags,
    /// Answer in JSON: the content of line.json
    #[arg(long)]
    pub json: bool,
}

/// Flags of `report`.
#[derive(Args, Clone, Debug)]
pub(crate) struct ReportFlags {
    /// Run folder, its record.jsonl, or the folder of a set of tests; a white paper takes several
    #[arg(value_name = "RUN", required_unless_present = "vendor_template")]
    pub runs: Vec<PathBuf>,
    /// Form [default: by the ending of --output; without both, all forms in the run folder are
    /// written anew]
    #[arg(long, value_enum)]
    pub format: Option<ReportFormat>,
    /// File to write [default: the standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace files that are there already
    #[arg(long, requires = "output")]
    pub force: bool,
    /// With --format esrp: what only the vendor knows of the solution
    #[arg(long, value_name = "FILE")]
    pub vendor: Option<PathBuf>,
    /// Print a vendor's file with every key, to be filled in
    #[arg(long, conflicts_with_all = ["runs", "format", "output", "vendor"])]
    pub vendor_template: bool,
}

/// Forms of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ComparisonFormat {
    /// Plain text
    Text,
    /// One self-contained page
    Html,
    /// For programs
    Json,
    /// Comma-separated values, a line for each metric of each run
    Csv,
}

/// Flags of `compare`.
#[derive(Args, Debug)]
pub(crate) struct CompareFlags {
    /// Run folders or their record.jsonl, or folders of sets of tests; the first is what the others
    /// are measured against
    #[arg(value_name = "RUN", num_args = 2.., required = true)]
    pub runs: Vec<PathBuf>,
    /// Form [default: by the ending of --output, else text]
    #[arg(long, value_enum)]
    pub format: Option<ComparisonFormat>,
    /// File to write [default: the standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace the file if it is there already
    #[arg(long, requires = "output")]
    pub force: bool,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
}

/// Flags of `list`.
#[derive(Args, Debug)]
pub(crate) struct ListFlags {
    /// Folder to look in, three levels deep
    #[arg(value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
    /// Only runs with this tag; may be given several times, for runs with all of them
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `serve`.
#[derive(Args, Debug)]
pub(crate) struct ServeFlags {
    /// Folder whose runs and plans are shown, three levels deep; nothing outside it is
    #[arg(value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
    /// Address and port; port 0 takes a free one. One that others reach needs the token for
    /// everything, and has no TLS
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8437")]
    pub listen: SocketAddr,
    /// A further name that browsers may know this machine by; may be given several times
    #[arg(long, value_name = "NAME")]
    pub host: Vec<String>,
    /// File that holds the token that lets a request change anything, made if it is not there, for
    /// its owner alone [default: `PLIMSOLL_TOKEN`, or one among your caches, so that it survives a
    /// restart]
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// File with a token that reads /metrics and nothing else, made likewise [default:
    /// `PLIMSOLL_METRICS_TOKEN`]
    #[arg(long, value_name = "FILE")]
    pub metrics_token_file: Option<PathBuf>,
    /// Push metrics to a collector of OpenTelemetry over HTTP, in JSON; headers that it wants, such
    /// as a key, are taken from the variable `OTEL_EXPORTER_OTLP_HEADERS`
    #[arg(long, value_name = "URL")]
    pub otlp: Option<String>,
    /// Time between two pushes
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "15s",
        requires = "otlp")]
    pub otlp_interval: Nanos,
}

/// Flags of `prepare`.
#[derive(Args, Debug)]
pub(crate) struct PrepareFlags {
    /// The plan; `plimsoll plan` prints one to start from
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    /// Fill complete databases anew: they grow with every run, and runs on databases of other sizes
    /// do not compare
    #[arg(long)]
    pub reset: bool,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `check`.
#[derive(Args, Debug)]
pub(crate) struct CheckFlags {
    /// Database files; or logs of the real engine, or folders of them, checked as one set
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Read all pages behind the database too, not 64 MiB of them at most
    #[arg(long)]
    pub foreign: bool,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `verify`.
#[derive(Args, Debug)]
pub(crate) struct VerifyFlags {
    /// Database files
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Answer in JSON; of several files, as a list
    #[arg(long)]
    pub json: bool,
}

/// Flags of the verbs that read one database file.
#[derive(Args, Debug)]
pub(crate) struct FileFlags {
    /// Database file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `schema`.
#[derive(Args, Debug)]
pub(crate) struct SchemaFlags {
    /// Database file; or plan, deployment, report, `set_report`, `imported_report`, journal, events
    /// or answers for its JSON Schema
    #[arg(value_name = "FILE|KIND")]
    pub file: PathBuf,
    /// Table [default: all]
    #[arg(value_name = "TABLE")]
    pub table: Option<String>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `dump`.
#[derive(Args, Debug)]
pub(crate) struct DumpFlags {
    /// Database file, or a log of the real engine, or a folder of its logs
    #[arg(value_name = "FILE|DIR")]
    pub file: PathBuf,
    /// Page number, counted from 1; of logs, only records that change this page
    #[arg(long, value_name = "N")]
    pub page: Option<u32>,
    /// Of logs, only records that change this table, by its name or the object number of a tree
    #[arg(long, value_name = "T")]
    pub table: Option<String>,
    /// Database that says which trees the table has [default: the one beside the logs]
    #[arg(long, value_name = "FILE", requires = "table")]
    pub database: Option<PathBuf>,
    /// Answer in JSON, keys and data whole; of logs, a line a record
    #[arg(long)]
    pub json: bool,
}

/// How rows are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Comma-separated values with a line of names first
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
pub(crate) struct ExportFlags {
    /// Database file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Table to print
    #[arg(long, value_name = "T", group = "rows", conflicts_with = "all")]
    pub table: Option<String>,
    /// Write every table to a file of its own
    #[arg(long, group = "rows", requires = "output")]
    pub all: bool,
    /// File for the rows of --table, or folder for --all [default: the standard output]
    #[arg(long, short, value_name = "FILE|DIR", requires = "rows")]
    pub output: Option<PathBuf>,
    /// Replace files that are there already
    #[arg(long, requires = "output")]
    pub force: bool,
    /// Rows too that are deleted and not yet removed; a first column says which they are
    #[arg(long)]
    pub deleted: bool,
    /// Replay the logs of the real engine in this folder first, in memory; no file is changed
    #[arg(long, value_name = "DIR")]
    pub with_logs: Option<PathBuf>,
    /// Take pages that carry no checksum, as those of an engine's temporary database
    #[arg(long)]
    pub without_checksums: bool,
    /// How rows are printed [default: by the ending of --output, else csv]
    #[arg(long, value_enum)]
    pub format: Option<ExportFormat>,
    /// The same as --format jsonl; without --table, the list of tables in JSON lines
    #[arg(long)]
    pub json: bool,
}

/// Flags of `selftest`.
#[derive(Args, Debug)]
pub(crate) struct SelftestFlags {
    /// Folder on the storage; what is made in it is removed, unless something is wrong
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `profile`.
#[derive(Args, Debug)]
pub(crate) struct ProfileFlags {
    /// Message tracking logs, message profiles, log counts by hour, mailbox statistics, usage and
    /// activity reports of Microsoft 365; known by their headers
    #[arg(required_unless_present = "sign_in", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub sign_in: SignInFlags,
    /// Mailboxes [default: as many as the files say]
    #[arg(long, value_name = "N", value_parser = mailboxes)]
    pub mailboxes: Option<u64>,
    /// Most that a mailbox may hold, such as 2GiB [default: the quotas, or the largest mailbox]
    #[arg(long, value_parser = size)]
    pub size_limit: Option<Bytes>,
    /// Average length of a message, such as 75KiB [default: as measured]
    #[arg(long, value_parser = size)]
    pub average_message: Option<Bytes>,
    /// Count Saturdays and Sundays too
    #[arg(long)]
    pub all_days: bool,
    /// Hours that local time is ahead of UTC, for the hours of tracking logs
    #[arg(long, value_name = "H", default_value = "0", allow_negative_numbers = true,
          value_parser = clap::value_parser!(i32).range(-12..=14))]
    pub utc_offset: i32,
    /// File to write [default: the standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace files that are there already
    #[arg(long, requires = "output")]
    pub force: bool,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Ways to sign in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SignInWay {
    /// In a browser on this machine
    Browser,
    /// In a browser anywhere, with a code to type; many tenants block this
    Device,
    /// By the certificate of the application, without a person
    Certificate,
}

/// Flags of `profile --sign-in`.
#[derive(Args, Debug)]
pub(crate) struct SignInFlags {
    /// Sign in to Microsoft 365 and fetch its two usage reports. Tokens stay in memory and are
    /// wiped at the end; files do the same without signing in
    #[arg(long, value_name = "WAY", help_heading = SIGN_IN)]
    pub sign_in: Option<SignInWay>,
    /// Id of the application that is registered for it with the tenant
    #[arg(long, value_name = "ID", requires = "sign_in", help_heading = SIGN_IN)]
    pub client: Option<String>,
    /// Name or id of the tenant, such as contoso.com [default: the one of who signs in]
    #[arg(long, value_name = "NAME", requires = "sign_in", help_heading = SIGN_IN)]
    pub tenant: Option<String>,
    /// Certificate of the application, in PEM; its key stands there too, or in the environment
    /// variable `PLIMSOLL_CERTIFICATE_KEY`
    #[arg(long, value_name = "FILE", requires = "sign_in", help_heading = SIGN_IN)]
    pub certificate: Option<PathBuf>,
    /// Days that the reports cover: 7, 30, 90 or 180
    #[arg(long, value_name = "N", default_value = "30", value_parser = report_days,
          help_heading = SIGN_IN)]
    pub days: u8,
    /// Another provider, such as that of a national cloud: what stands before
    /// /.well-known/openid-configuration
    #[arg(long, value_name = "URL", requires = "sign_in", conflicts_with = "tenant",
          help_heading = SIGN_IN)]
    pub authority: Option<String>,
    /// Another Microsoft Graph, such as that of a national cloud
    #[arg(long, value_name = "URL", default_value = "https://graph.microsoft.com",
          help_heading = SIGN_IN)]
    pub graph: String,
}

/// Where help shows those flags.
const SIGN_IN: &str = "Sign-in to Microsoft 365";

/// Flags of `import`.
#[derive(Args, Debug)]
pub(crate) struct ImportFlags {
    /// The configuration, or the result as HTML or XML
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// File for the plan [default: the standard output], or folder for the record of a result
    /// [default: plimsoll-import-NAME, made here]
    #[arg(long, short, value_name = "PLAN|DIR")]
    pub output: Option<PathBuf>,
    /// Folder below which the folders of Windows are looked for
    #[arg(long, value_name = "DIR", default_value = "/mnt/mail")]
    pub root: PathBuf,
    /// Replace a file that is there already
    #[arg(long)]
    pub force: bool,
}

/// Flags of `builds`.
#[derive(Args, Debug)]
pub(crate) struct BuildsFlags {
    /// What is asked
    #[command(subcommand)]
    pub action: BuildsAction,
    /// A newer table than the embedded one, as CSV with the same columns
    #[arg(long, global = true, value_name = "FILE")]
    pub data: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long, global = true)]
    pub json: bool,
}

/// What `builds` is asked.
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
    /// Say what the way from one build to another needs
    Compare {
        /// One build: a version, a name or a file
        #[arg(value_name = "A")]
        one: String,
        /// The other
        #[arg(value_name = "B")]
        other: String,
    },
}

/// Flags of `scan`.
#[derive(Args, Debug)]
pub(crate) struct ScanFlags {
    /// Captures, pcap or pcapng
    #[arg(value_name = "CAPTURE", required_unless_present = "interface")]
    pub captures: Vec<PathBuf>,
    /// Listen on this interface of Ethernet; Linux only
    #[arg(long, value_name = "NAME", conflicts_with = "captures")]
    pub interface: Option<String>,
    /// How long to listen; at least three intervals of the slowest router
    #[arg(long, default_value = "15s", value_parser = duration)]
    pub duration: Nanos,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// The periods that Microsoft Graph knows.
fn report_days(text: &str) -> Result<u8, String> {
    let known = ["7", "30", "90", "180"].contains(&text);
    let days = text.parse().ok().filter(|_| known);
    days.ok_or_else(|| "give 7, 30, 90 or 180".to_owned())
}

fn name(text: &str) -> Result<String, String> {
    plan::name_fault(text).map_or_else(|| Ok(text.to_owned()), |fault| Err(fault.to_owned()))
}

fn duration(text: &str) -> Result<Nanos, String> {
    let duration = plan::parse_duration(text).filter(|duration| duration.0 > 0);
    duration.ok_or_else(|| "give a duration above 0, such as 90s, 45min or 2h".to_owned())
}

fn size(text: &str) -> Result<Bytes, String> {
    plan::parse_size(text)
        .ok_or_else(|| "give a size below 16 EiB, such as 512MiB or 10GiB".to_owned())
}

/// Mailboxes of one deployment.
fn mailboxes(text: &str) -> Result<u64, String> {
    let count = text.parse().ok().filter(|count| (1..=10_000_000).contains(count));
    count.ok_or_else(|| "give a whole number from 1 to 10000000".to_owned())
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').parse::<f64>().ok();
    let sound = number.filter(|number| *number > 0.0 && *number <= 100.0);
    sound.ok_or_else(|| "give a number above 0, at most 100".to_owned())
}

fn sessions(text: &str) -> Result<Sessions, String> {
    if text == "auto" {
        return Ok(Sessions::Auto);
    }
    let count = text.parse().map(Sessions::Count);
    count.map_err(|_| "give a number of sessions, or auto".to_owned())
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
