//! One local web application over a folder of runs: the list, each report, comparisons, the live
//! run, sizing of deployments, simulation of arrays, figures for monitoring. It isolates the HTTP
//! stack.
//!
//! A request never becomes a path: it names a run or a plan, and only one found by walking the
//! folder without following links is opened (`runs`). Permissions are decided in one place before
//! any route is reached (`gate`).

mod answers;
mod clock;
mod filling;
mod gate;
mod history;
mod labels;
mod live;
mod metrics;
mod pages;
mod push;
mod routes;
mod runs;
mod search;
mod sets;
mod summary;
mod volumes;

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use record::{RunRecord, Sequel};
use tokio::net::TcpListener;

use gate::Gate;
use history::History;
use runs::ServedRuns;

pub use filling::Fillings;
pub use gate::Token;
pub use labels::apply_labels;
pub use push::{OtlpPush, OtlpTarget, OtlpTargetError};

/// Interval between checks for a stop request.
const LOOK: Duration = Duration::from_millis(50);

/// Maximum wait for answers in progress when the program exits.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// Folder and address of the server.
pub struct ServeSettings {
    /// The folder of the runs and plans shown; nothing outside it is.
    pub folder: PathBuf,
    /// The address to listen on; port 0 picks a free one.
    pub address: SocketAddr,
    /// Additional host names by which browsers may reach this machine.
    pub host_names: Vec<String>,
    /// Location of the run index, kept across restarts; `None` for no index.
    pub history: Option<PathBuf>,
    /// Collector that metrics are pushed to, if any.
    pub otlp: Option<OtlpPush>,
    /// The token that permits changes; `None` for a new one that is not stored.
    pub token: Option<Token>,
    /// The token that only permits reading metrics, on a public address.
    pub metrics_token: Option<Token>,
}

/// Announced once requests are accepted.
pub struct Ready<'a> {
    /// Address on which they are accepted.
    pub address: SocketAddr,
    /// The token that permits changes.
    pub token: &'a Token,
    /// Why no run index is kept, if one was wanted.
    pub no_history: Option<String>,
}

/// Kind of a document in the folder, if it states one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentKind {
    /// A plan, which can be run and simulated.
    Plan,
    /// A deployment, which can be sized.
    Deployment,
    /// An array, on which a plan can be simulated.
    Array,
}

/// A deployment to be sized.
pub struct SizingQuestion {
    /// The document to start from; `None` for the built-in example.
    pub document: Option<PathBuf>,
    /// Values that override it: keys and values.
    pub values: Vec<(String, String)>,
    /// Keys with several values, `KEY=VALUE,VALUE`: every combination is sized and ranked.
    pub scenarios: Vec<String>,
}

/// A run to be started.
pub struct RunQuestion {
    /// The plan.
    pub plan: PathBuf,
    /// The kind of test; `None` for the plan's.
    pub test: Option<String>,
    /// Length of the measurement, such as `2h`; `None` for the plan's.
    pub duration: Option<String>,
    /// The name of the run; `None` for the plan's.
    pub name: Option<String>,
}

/// A first test of a disk, as entered by the user.
pub struct GuideQuestion {
    /// Absolute path of an existing folder on the disk.
    pub folder: String,
    /// Size of the database, such as `100GiB`.
    pub size: String,
    /// Length of the measurement, such as `2h`.
    pub duration: String,
    /// Name of the plan and of its runs.
    pub name: String,
}

/// Progress of filling databases, also once it has ended.
#[derive(Clone, Debug)]
pub struct FillProgress {
    /// The name of the plan.
    pub plan: String,
    /// Duration so far, or until the end.
    pub took: Duration,
    /// How it ended; `None` while it is in progress.
    pub ended: Option<Result<(), String>>,
}

/// A plan to be simulated.
pub struct SimulationQuestion {
    /// The plan.
    pub plan: PathBuf,
    /// The array: a file, or the name of a built-in one.
    pub array: String,
    /// Variations: `KEY=VALUE,VALUE`, every combination on a separate array.
    pub changes: Vec<String>,
    /// Length of the simulation, such as `2m`.
    pub duration: String,
}

/// Response of a flash cache's server about its state.
pub struct CacheAnswer {
    /// The flash, as the user named it.
    pub flash: String,
    /// Its state, as printed by `plimsoll cache status --json`, or why it is not available.
    pub status: Result<serde_json::Value, String>,
}

/// A fleet run and its progress.
#[derive(Clone, Debug)]
pub struct FleetState {
    /// The name of its plan.
    pub name: String,
    /// Whether a controller is at work on it.
    pub is_live: bool,
    /// Its stage, or its verdict, in a few words.
    pub state: String,
    /// Its hosts, in the order of its plan.
    pub hosts: Vec<FleetHostState>,
}

/// A host of a live fleet run.
#[derive(Clone, Debug)]
pub struct FleetHostState {
    /// Its name in the plan.
    pub name: String,
    /// Its current activity, in words.
    pub state: String,
    /// The load of its run, if it generates one.
    pub load: Option<FleetHostLoad>,
}

/// The load of the last interval of a host's run, over all its databases.
#[derive(Clone, Copy, Debug)]
pub struct FleetHostLoad {
    /// Database reads and writes per second.
    pub iops: f64,
    /// Mean latency of database reads, in nanoseconds.
    pub read_ns: u64,
    /// Mean latency of log writes, in nanoseconds.
    pub log_write_ns: u64,
}

/// Operations that only the program itself can do.
pub trait RunControl: Send + Sync + 'static {
    /// Whether the run with this journal is live.
    fn is_live(&self, journal: &Path) -> bool;

    /// What came after the run in `folder`, which decides whether it can be resumed.
    fn sequel(&self, folder: &Path, run: &RunRecord) -> Sequel;

    /// Starts a run in a new folder below `root`; returns the folder, or why it did not start.
    fn start(&self, question: &RunQuestion, root: &Path) -> Result<PathBuf, String>;

    /// Resumes the interrupted run in `folder`, or returns why it cannot.
    fn resume(&self, folder: &Path) -> Result<(), String>;

    /// Kinds of tests that can be started.
    fn tests(&self) -> Vec<&'static str>;

    /// Writes a plan into `root` and starts to fill its database, or returns why it cannot. `root`
    /// must not have a plan of this name.
    fn guide(&self, question: &GuideQuestion, root: &Path) -> Result<(), String>;

    /// Starts to fill the databases of `plan`, or returns why it cannot.
    fn prepare(&self, plan: &Path) -> Result<(), String>;

    /// The latest filling of databases, finished or in progress.
    fn preparation(&self) -> Option<FillProgress>;

    /// The fleet run in `folder`; `None` if its journal cannot be read.
    fn fleet(&self, folder: &Path) -> Option<FleetState>;

    /// Asks the run, fleet run or simulation in `folder` to stop cleanly, or returns why it cannot
    /// be asked.
    fn stop(&self, folder: &Path) -> Result<(), String>;

    /// The kind of the document; `None` if it does not state one.
    fn kind(&self, document: &Path) -> Option<DocumentKind>;

    /// The page of a sized deployment, or why it cannot be sized.
    fn size(&self, question: &SizingQuestion) -> Result<String, String>;

    /// Names of the built-in arrays.
    fn arrays(&self) -> Vec<&'static str>;

    /// Starts simulations in a new folder below `root`; returns the folder, or why it cannot.
    fn simulate(&self, question: &SimulationQuestion, root: &Path) -> Result<PathBuf, String>;

    /// The flash caches to show.
    fn caches(&self) -> Vec<CacheAnswer>;

    /// Prints a message on the terminal.
    fn remark(&self, text: &str);
}

/// Why nothing is served.
#[derive(Debug)]
pub enum ServeError {
    /// The folder cannot be used.
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The system's error message.
        error: io::Error,
    },
    /// The address is in use, or does not belong to this machine.
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error message.
        error: io::Error,
    },
    /// The system provides no random numbers, threads or sockets.
    System(io::Error),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder { folder, error } => write!(
                f,
                "{}: cannot look for runs in it: {error}; name a folder that can be read",
                folder.display()
            ),
            Self::Listen { address, error } if error.kind() == io::ErrorKind::AddrInUse => write!(
                f,
                "{address}: another program listens there; end it, or name another port with \
                 --listen, such as --listen {}:0 for any free one",
                host(address.ip())
            ),
            Self::Listen { address, error } => write!(
                f,
                "{address}: cannot listen there: {error}; name an address of this machine and a \
                 port above 1023"
            ),
            Self::System(error) => {
                write!(f, "cannot start to serve: {error}; end other programs and try again")
            }
        }
    }
}

impl std::error::Error for ServeError {}

/// An address in the form used in front of a port.
fn host(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

/// Serves until `must_stop`; calls `ready` once requests are accepted. Not generic, so that the web
/// server is compiled in this crate alone.
pub fn serve(
    settings: ServeSettings,
    machine: Box<dyn RunControl>,
    ready: &mut dyn FnMut(Ready<'_>),
    must_stop: &dyn Fn() -> bool,
) -> Result<(), ServeError> {
    let ServeSettings { folder, address, host_names, history, otlp, token, metrics_token } =
        settings;
    let usable = folder.canonicalize().and_then(|root| std::fs::read_dir(&root).map(|_| root));
    let root = usable.map_err(|error| ServeError::Folder { folder, error })?;
    let token = token.map_or_else(Token::random, Ok).map_err(ServeError::System)?;
    let (history, no_history) = match history.map(|file| History::open(&file)) {
        Some(Ok(history)) => (Some(history), None),
        Some(Err(why)) => (None, Some(why)),
        None => (None, None),
    };
    let runs = ServedRuns::new(root, machine, history);
    runs.look_now_and_then().map_err(ServeError::System)?;
    if let Some(order) = otlp {
        push::push_now_and_then(runs.clone(), order).map_err(ServeError::System)?;
    }
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().max_blocking_threads(8).build();
    let runtime = runtime.map_err(ServeError::System)?;
    let served = runtime.block_on(async {
        let listener = TcpListener::bind(address).await?;
        let bound = listener.local_addr()?;
        ready(Ready { address: bound, token: &token, no_history });
        let gate = Gate::new(bound, host_names, token, metrics_token);
        let router = routes::router(runs, gate);
        tokio::select! {
            ended = async { axum::serve(listener, router).await } => ended,
            () = asked_to_stop(must_stop) => Ok(()),
        }
    });
    // Responses that follow a live run never end by themselves.
    runtime.shutdown_timeout(LAST_ANSWERS);
    served.map_err(|error| ServeError::Listen { address, error })
}

async fn asked_to_stop(must_stop: &dyn Fn() -> bool) {
    while !must_stop() {
        tokio::time::sleep(LOOK).await;
    }
}
