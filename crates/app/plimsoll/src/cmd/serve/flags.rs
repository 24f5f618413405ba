//! Flags of `serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use units::Nanos;

use crate::args::duration;

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
