//! Progress of a phase that reads or writes whole files.

use ese::log_file::LOG_FILE_BYTES;
use plan::Plan;
use record::{Edge, Event, Phase};

use crate::observer::PassWork;

/// Bytes processed by the phase.
pub(super) struct WorkTally {
    phase: Option<Phase>,
    done_bytes: u64,
    database_bytes: u64,
    /// Minimum number of bytes for a replay to read.
    log_bytes: u64,
}

impl WorkTally {
    /// For a run of `plan`.
    pub(super) fn new(plan: &Plan) -> Self {
        let databases = plan.databases.len() as u64;
        let logs = u64::from(plan.test.replay_logs) * databases;
        Self {
            phase: None,
            done_bytes: 0,
            database_bytes: plan.size.0 * databases,
            log_bytes: logs * LOG_FILE_BYTES,
        }
    }

    /// Updates the progress; a new phase starts at zero.
    pub(super) fn event(&mut self, event: &Event) {
        if let Event::Phase(mark) = event
            && mark.edge == Edge::Begin
        {
            (self.phase, self.done_bytes) = (Some(mark.phase), 0);
        }
    }

    /// Whether sessions load the storage in the phase.
    pub(super) fn is_loaded(&self) -> bool {
        matches!(self.phase, Some(Phase::Warm | Phase::Tune | Phase::Measure))
    }

    /// Adds bytes done.
    pub(super) fn add(&mut self, bytes: u64) {
        self.done_bytes += bytes;
    }

    /// Returns the progress of the phase; `None` if it is bounded by time.
    pub(super) fn work(&self) -> Option<PassWork> {
        let total_bytes = match self.phase? {
            Phase::Check | Phase::Backup => self.database_bytes,
            Phase::Recover => self.log_bytes,
            _ => return None,
        };
        let total_bytes = total_bytes.max(self.done_bytes);
        Some(PassWork { done_bytes: self.done_bytes, total_bytes })
    }
}
