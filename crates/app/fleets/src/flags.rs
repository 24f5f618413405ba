//! Flags of `fleet`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Flags of `fleet`.
#[derive(Args, Debug)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub struct FleetFlags {
    /// What to do
    #[command(subcommand)]
    pub(crate) action: FleetAction,
}

/// What to do with a fleet.
#[derive(Subcommand, Debug)]
pub(crate) enum FleetAction {
    /// Start a private NATS server and print the line that starts an agent
    Up(FleetUpFlags),
    /// List the hosts whose agents have joined
    Hosts(FleetAnswerFlags),
    /// Print a fleet plan to start from
    Plan,
    /// Run a plan on every host at once; one verdict
    Run(FleetRunFlags),
    /// Show who controls the fleet and what every host is doing
    Status(FleetAnswerFlags),
    /// Stop the run of the fleet
    Stop(FleetServerFlags),
    /// Complete the record of a fleet run with the pieces that hosts have published since
    Collect(FleetCollectFlags),
    /// Stop the NATS server that `up` started
    Down(FleetServerFlags),
}

/// Default folder of a server's configuration.
const STATE: &str = "plimsoll-fleet";

impl Default for FleetServerFlags {
    fn default() -> Self {
        Self { state: PathBuf::from(STATE), server: None, credentials: None }
    }
}

/// Which server.
#[derive(Args, Debug)]
pub struct FleetServerFlags {
    /// Folder of the server that `plimsoll fleet up` started
    #[arg(long, value_name = "DIR", default_value = STATE)]
    pub(crate) state: PathBuf,
    /// Existing NATS server to use instead: nats://HOST:PORT
    #[arg(long, value_name = "URL")]
    pub(crate) server: Option<String>,
    /// Credentials for that server, as for `plimsoll agent`
    #[arg(long, value_name = "FILE", requires = "server")]
    pub(crate) credentials: Option<PathBuf>,
}

/// Flags of `fleet up`.
#[derive(Args, Debug)]
pub(crate) struct FleetUpFlags {
    /// Folder for configuration, credentials and journals of the server
    #[arg(long, value_name = "DIR", default_value = "plimsoll-fleet")]
    pub(crate) state: PathBuf,
    /// Address on which the server listens; beyond loopback it needs a certificate
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:4222")]
    pub(crate) listen: SocketAddr,
    /// Name by which agents reach this machine [default: the address of --listen]
    #[arg(long, value_name = "HOST")]
    pub(crate) public_name: Option<String>,
    /// Certificate of the server, PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Key of the certificate, PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Certificate of the authority that signed it, for agents [default: the certificate]
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_ca: Option<PathBuf>,
}

/// Flags of `fleet hosts` and `fleet status`.
#[derive(Args, Debug)]
pub(crate) struct FleetAnswerFlags {
    #[command(flatten)]
    pub(crate) server: FleetServerFlags,
    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Flags of `fleet run`.
#[derive(Args, Debug)]
pub(crate) struct FleetRunFlags {
    /// The fleet plan
    #[arg(value_name = "FLEET.toml")]
    pub(crate) plan: PathBuf,
    /// Folder for the records and reports [default: run-NAME-DATE-TIME]
    #[arg(long, short, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) server: FleetServerFlags,
    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Flags of `fleet collect`.
#[derive(Args, Debug)]
pub(crate) struct FleetCollectFlags {
    /// Folder of the fleet run
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    #[command(flatten)]
    pub(crate) server: FleetServerFlags,
    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}
