//! The wait limits of a fleet. Every wait is bounded.

use units::Nanos;

/// Between two heartbeats of an agent. A fleet plan cannot change it: an agent sends them before it
/// knows of any plan.
pub const HEARTBEAT: Nanos = Nanos::from_millis(500);

/// Bounds of the waits of a fleet run; `[timing]` of the fleet plan sets them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Silence after which a host is suspect.
    pub suspect: Nanos,
    /// Silence after which a host is lost.
    pub lost: Nanos,
    /// For all hosts to appear and to answer the checks.
    pub gather: Nanos,
    /// For all databases to be filled.
    pub prepare: Nanos,
    /// For all hosts to open, warm up and find their number of sessions.
    pub warm_up: Nanos,
    /// From the decision to measure to the common instant.
    pub lead: Nanos,
    /// For all hosts to end after their planned time of measurement.
    pub finish: Nanos,
    /// For all journals to arrive after that.
    pub collect: Nanos,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            suspect: Nanos::from_secs(2),
            lost: Nanos::from_secs(10),
            gather: Nanos::from_secs(60),
            prepare: Nanos::from_secs(24 * 3600),
            warm_up: Nanos::from_secs(4 * 3600),
            lead: Nanos::from_secs(2),
            finish: Nanos::from_secs(3600),
            collect: Nanos::from_secs(300),
        }
    }
}
