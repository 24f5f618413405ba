//! Flags of `cache`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use units::Bytes;

use super::size::flags::CacheSizeFlags;
use console::args::size;

/// Flags of `cache`.
#[derive(Args, Debug)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub struct CacheFlags {
    /// What to do
    #[command(subcommand)]
    pub(crate) action: CacheAction,
}

/// Actions on a cache.
#[derive(Subcommand, Debug)]
pub(crate) enum CacheAction {
    /// Show the hit rates of several cache sizes for a trace, or their gain for a plan on an array;
    /// writes nothing
    Size(CacheSizeFlags),
    /// Make an empty cache on a flash device, or in a new file; refuses anything that holds data
    Create(CacheCreateFlags),
    /// Serve volumes behind a cache to NBD clients of this machine, until SIGTERM
    Serve(Box<CacheServeFlags>),
    /// Show the contents of a cache and its benefit, live if it is being served
    Status(CacheStatusFlags),
    /// Examine a cache that is not in use; reads only
    Check(CacheCheckFlags),
    /// Stop the server of a cache once its clients have left
    Drain(CacheDrainFlags),
    /// Move a mirrored volume to its other host, with its dirty data and hot blocks
    HandOver(CacheHandOverFlags),
    /// Drop volumes from a cache that is not in use, or the cache from its flash; the volumes
    /// themselves are unchanged
    Remove(CacheRemoveFlags),
}

/// Flags of `cache create`.
#[derive(Args, Debug)]
pub(crate) struct CacheCreateFlags {
    /// Flash device such as /dev/nvme0n1, or a file
    #[arg(value_name = "FLASH")]
    pub(crate) flash: PathBuf,
    /// Create a file of this size, such as 100GiB
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) size: Option<Bytes>,
    /// Size of a cached block: a power of two from 4KiB to 256KiB
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "32KiB")]
    pub(crate) block: Bytes,
    /// Overwrite data, or an older cache
    #[arg(long)]
    pub(crate) force: bool,
    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Flags of `cache serve`.
#[derive(Args, Debug)]
pub(crate) struct CacheServeFlags {
    /// Flash device or file of the cache
    #[arg(value_name = "FLASH", required_unless_present_any = ["config", "example", "mirror",
        "example_mirror"])]
    pub(crate) flash: Option<PathBuf>,
    /// Volume behind the cache: a device, a file, `nbd://HOST/EXPORT` or `iscsi://HOST/IQN/LUN`,
    /// and its name for clients
    #[arg(long, value_name = "NAME=DEVICE", required_unless_present_any = ["config", "example",
        "mirror", "example_mirror"])]
    pub(crate) volume: Vec<String>,
    /// Address for clients: unix:PATH or HOST:PORT; beyond the loopback it needs certificates
    /// [default: 127.0.0.1:10809]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Vec<String>,
    /// vhost-user socket of a volume, for a hypervisor on this host that shares its guest's memory
    #[arg(long, value_name = "NAME=PATH")]
    pub(crate) vhost_user: Vec<String>,
    /// Loopback address for iSCSI initiators; each volume is a target with its disk as LUN 0
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) iscsi: Vec<String>,
    /// Prefix of target names, before the volume's name [default: derived from the host name]
    #[arg(long, value_name = "IQN", requires = "iscsi")]
    pub(crate) iscsi_name: Option<String>,
    /// CHAP account of the initiators; its secret is in the environment
    #[arg(long, value_name = "NAME", requires = "iscsi")]
    pub(crate) iscsi_user: Option<String>,
    /// File of mode 600 with the account's secret in the first line, and the targets' in the second
    #[arg(long, value_name = "FILE", requires = "iscsi_user")]
    pub(crate) iscsi_secrets: Option<PathBuf>,
    /// Accept initiators from other machines; needs an account, and nothing is encrypted
    #[arg(long, requires = "iscsi_user")]
    pub(crate) iscsi_network: bool,
    /// Certificate of this server (PEM): TCP clients must encrypt, and other machines may connect
    #[arg(long, value_name = "FILE", requires_all = ["tls_key", "tls_client_ca"])]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Authority (PEM) that must have issued the clients' certificates
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_client_ca: Option<PathBuf>,
    /// Refuse writes
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Limit on flash writes per second, for its endurance
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) write_budget: Option<Bytes>,
    /// Serve metrics for Prometheus at this loopback address
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) metrics: Option<String>,
    /// Socket for `cache status` and `cache drain` [default: FLASH.sock, for a device in /run]
    #[arg(long, value_name = "PATH")]
    pub(crate) control: Option<PathBuf>,
    /// Read all of these settings from a document; SIGHUP rereads the bounds of volumes
    #[arg(long, value_name = "CACHE.toml", conflicts_with_all = ["flash", "volume", "listen",
        "vhost_user", "read_only", "write_budget", "metrics", "control", "example", "tls_cert",
        "iscsi"])]
    pub(crate) config: Option<PathBuf>,
    /// Print a commented document to start from
    #[arg(long)]
    pub(crate) example: bool,
    /// A volume on two hosts instead
    #[command(flatten)]
    pub(crate) two_hosts: CacheMirrorFlags,
}

/// Flags of `cache serve` for a volume on two hosts.
#[derive(Args, Debug)]
pub(crate) struct CacheMirrorFlags {
    /// Serve one volume that is kept on the flash of this host and another, as described in this
    /// document
    #[arg(long, value_name = "MIRROR.toml", conflicts_with_all = ["flash", "volume", "listen",
        "vhost_user", "read_only", "write_budget", "metrics", "control", "config", "example",
        "tls_cert", "iscsi"])]
    pub(crate) mirror: Option<PathBuf>,
    /// Print a commented document for --mirror to start from
    #[arg(long)]
    pub(crate) example_mirror: bool,
}

/// Flags of `cache hand-over`.
#[derive(Args, Debug)]
pub(crate) struct CacheHandOverFlags {
    /// Volume, as its document names it
    #[arg(value_name = "VOLUME")]
    pub(crate) volume: String,
    /// Host that serves it from now on
    #[arg(value_name = "HOST")]
    pub(crate) host: String,
    /// NATS server of the volume
    #[arg(long, value_name = "URL", default_value = "nats://127.0.0.1:4222")]
    pub(crate) server: String,
    /// Credentials for that server, as for `plimsoll agent`
    #[arg(long, value_name = "FILE")]
    pub(crate) credentials: Option<PathBuf>,
}

/// Flags of `cache drain`.
#[derive(Args, Debug)]
pub(crate) struct CacheDrainFlags {
    /// Flash device or file of the cache
    #[arg(value_name = "FLASH")]
    pub(crate) flash: PathBuf,
    /// Disconnect clients once their requests in progress are answered
    #[arg(long)]
    pub(crate) now: bool,
    /// Control socket of the server, if it is not at its default place
    #[arg(long, value_name = "PATH")]
    pub(crate) control: Option<PathBuf>,
}

/// Flags of `cache remove`.
#[derive(Args, Debug)]
pub(crate) struct CacheRemoveFlags {
    /// Flash device or file of the cache
    #[arg(value_name = "FLASH")]
    pub(crate) flash: PathBuf,
    /// Volumes to drop, as `cache check` names them
    #[arg(value_name = "DEVICE", required_unless_present = "all")]
    pub(crate) volume: Vec<String>,
    /// Remove the cache as a whole
    #[arg(long, conflicts_with = "volume")]
    pub(crate) all: bool,
}

/// Flags of `cache status`.
#[derive(Args, Debug)]
pub(crate) struct CacheStatusFlags {
    /// Flash device or file of the cache
    #[arg(value_name = "FLASH")]
    pub(crate) flash: PathBuf,
    /// Refresh every two seconds until Ctrl-C
    #[arg(long, conflicts_with_all = ["json", "metrics"])]
    pub(crate) watch: bool,
    /// Print metrics for Prometheus
    #[arg(long, conflicts_with = "json")]
    pub(crate) metrics: bool,
    /// Control socket of the server, if it is not at its default place
    #[arg(long, value_name = "PATH")]
    pub(crate) control: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Flags of `cache check`.
#[derive(Args, Debug)]
pub(crate) struct CacheCheckFlags {
    /// Flash device or file of the cache
    #[arg(value_name = "FLASH")]
    pub(crate) flash: PathBuf,
    /// Read the index only, not every cached block
    #[arg(long)]
    pub(crate) fast: bool,
    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}
