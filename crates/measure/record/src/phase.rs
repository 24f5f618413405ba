//! The phases of a run, named by events and intervals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The phases of a run, in order.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Databases are opened, and recovered if they were not closed.
    Open,
    /// The load runs until the caches are filled; not judged.
    Warm,
    /// Searches for the number of sessions.
    Tune,
    /// The load runs and is judged.
    Measure,
    /// Sessions end, caches are written out, databases are closed.
    Drain,
    /// Every page of every database is read and verified.
    Check,
    /// Logs are replayed.
    Recover,
    /// Databases are read as a backup would.
    Backup,
}

impl Phase {
    /// The phase in one word, for headings and the test log.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Warm => "warm-up",
            Self::Tune => "tuning",
            Self::Measure => "measurement",
            Self::Drain => "drain",
            Self::Check => "checksum",
            Self::Recover => "recovery",
            Self::Backup => "backup",
        }
    }
}
