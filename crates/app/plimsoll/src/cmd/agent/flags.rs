//! Flags of `agent`.

use std::path::PathBuf;

use clap::Args;

/// Flags of `agent`.
#[derive(Args, Debug)]
pub(crate) struct AgentFlags {
    /// NATS server of the fleet: nats://HOST:PORT [default: that of the credentials]
    #[arg(long, value_name = "URL")]
    pub join: Option<String>,
    /// Credentials that `plimsoll fleet up` wrote, or a NATS .creds file; without it user and
    /// password come from `PLIMSOLL_NATS_USER` and `PLIMSOLL_NATS_PASSWORD`
    #[arg(long, value_name = "FILE")]
    pub credentials: Option<PathBuf>,
    /// Folders below which plans may write; without any, every plan is refused
    #[arg(long, value_name = "DIR", num_args = 1..)]
    pub allow: Vec<PathBuf>,
    /// Run up to N simulations of `simulate --fleet` sweeps at a time, never during a test; each
    /// takes up to 2 GiB of memory
    #[arg(long, value_name = "N", default_value_t = 0,
          value_parser = clap::value_parser!(u32).range(0..=256))]
    pub simulate: u32,
    /// Name of this host in fleet plans [default: its host name]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Folder for this agent's id and the runs it makes [default: plimsoll-agent]
    #[arg(long, value_name = "DIR", default_value = "plimsoll-agent", hide_default_value = true)]
    pub state: PathBuf,
}
