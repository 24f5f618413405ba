//! The stages of a fleet run, which the controller enters and the journal records.

use serde::{Deserialize, Serialize};

/// What the controller is waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FleetStage {
    /// For every host of the plan to appear.
    Gathering,
    /// For every host to confirm that its plan can run there.
    Checking,
    /// For every database to be filled.
    Preparing,
    /// For every host to be warm and to have found its number of sessions.
    WarmingUp,
    /// For the clocks to be compared once more, and every host to know the common instant.
    Releasing,
    /// For every host to end.
    Measuring,
    /// For nothing: the run is over.
    Ended,
}

impl FleetStage {
    /// The stage in a word or two.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gathering => "gathering",
            Self::Checking => "checking",
            Self::Preparing => "preparing",
            Self::WarmingUp => "warming up",
            Self::Releasing => "releasing",
            Self::Measuring => "measuring",
            Self::Ended => "ended",
        }
    }
}
