//! Deliberate events of a fleet plan during the measurement: a host is lost and its databases are
//! activated elsewhere, it returns, a copy is reseeded.

use plan::write_duration;
use serde::{Deserialize, Serialize};
use units::Nanos;

/// A database and the hosts that hold a copy of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopySet {
    /// Name of the database: the last part of its folder in the plan of each of its hosts.
    pub database: String,
    /// Hosts of the fleet plan, counted from 0, in the order of activation preference. The first
    /// is active when the measurement begins.
    pub hosts: Vec<usize>,
}

/// An event and its instant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedEvent {
    /// Time after the common instant from which all hosts measure.
    #[serde(rename = "after_ns", with = "crate::nanos")]
    pub at: Nanos,
    /// The action.
    pub action: EventAction,
}

/// Deliberate events in a fleet. Hosts are those of the fleet plan, counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventAction {
    /// A host dies: its load ends at once, as with a power failure.
    Lose {
        /// Index of the host.
        host: usize,
        /// The new active host of each database that was active there.
        take_over: Vec<TakeOver>,
    },
    /// A lost host returns. Its copies are passive until another host is lost.
    Rejoin {
        /// Index of the host.
        host: usize,
    },
    /// A copy is read from one host and written to another, each from first to last byte.
    Reseed {
        /// Name of the database.
        database: String,
        /// The host whose copy is read.
        source: usize,
        /// The host whose copy is written.
        target: usize,
        /// Bytes read, and bytes written, per second; at least 1.
        bytes_per_second: u64,
    },
}

/// A database is activated on a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakeOver {
    /// Name of the database.
    pub database: String,
    /// The host that carries it from then on.
    pub by: usize,
}

impl EventAction {
    /// The event in a few words, such as `lose EX03`; `names` are those of the hosts.
    pub fn words(&self, names: &[&str]) -> String {
        match self {
            Self::Lose { host, .. } => format!("lose {}", name_of(names, *host)),
            Self::Rejoin { host } => format!("rejoin {}", name_of(names, *host)),
            Self::Reseed { database, source, target, .. } => {
                let [source, target] = [*source, *target].map(|host| name_of(names, host));
                format!("reseed {database} from {source} to {target}")
            }
        }
    }
}

fn name_of<'a>(names: &[&'a str], host: usize) -> &'a str {
    names.get(host).copied().unwrap_or("an unknown host")
}

impl PlannedEvent {
    /// The event with its instant, such as `lose EX03 at 30min`.
    pub(crate) fn words(&self, names: &[&str]) -> String {
        format!("{} at {}", self.action.words(names), write_duration(self.at))
    }
}
