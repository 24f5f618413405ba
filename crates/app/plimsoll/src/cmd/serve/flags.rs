//! Flags of `serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use units::Nanos;

use console::args::duration;

/// Flags of `serve`.
#[derive(Args, Debug)]
pub(crate) struct ServeFlags {
    /// Show runs and plans found up to three levels below this folder
    #[arg(value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
    /// Address and port; port 0 takes a free one. An address other than loopback requires the
    /// token for every request; there is no TLS
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8437")]
    pub listen: SocketAddr,
    /// Show the flash cache on FLASH, as `cache serve` serves it, at /caches; may be given several
    /// times
    #[arg(long, value_name = "FLASH")]
    pub cache: Vec<PathBuf>,
    /// Another name under which browsers reach this machine; may be given several times
    #[arg(long, value_name = "NAME")]
    pub host: Vec<String>,
    /// File with the token that permits changes, created for its owner alone if missing [default:
    /// `PLIMSOLL_TOKEN`, or a file in your cache folder, so that it survives a restart]
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// File with a token that permits only reading /metrics, created likewise [default:
    /// `PLIMSOLL_METRICS_TOKEN`]
    #[arg(long, value_name = "FILE")]
    pub metrics_token_file: Option<PathBuf>,
    /// Push metrics to an OpenTelemetry collector over HTTP, in JSON; required headers, such as a
    /// key, come from the variable `OTEL_EXPORTER_OTLP_HEADERS`
    #[arg(long, value_name = "URL")]
    pub otlp: Option<String>,
    /// Time between two pushes
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "15s",
        requires = "otlp")]
    pub otlp_interval: Nanos,
}
