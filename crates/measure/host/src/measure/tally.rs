//! How far a phase is that goes through files from end to end.

use ese::log_file::LOG_FILE_BYTES;
use plan::Plan;
use record::{Edge, Event, Phase};

use crate::observer::PassWork;

/// Bytes that the phase has processed.
pub(super) struct WorkTally {
    phase: Option<Phase>,
    done_bytes: u64,
    database_bytes: u64,
    /// Bytes that a replay is to read at least.
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

    /// A phase that begins has done nothing.
    pub(super) fn event(&mut self, event: &Event) {
        if let Event::Phase(mark) = event
            && mark.edge == Edge::Begin
        {
            (self.phase, self.done_bytes) = (Some(mark.phase), 0);
        }
    }

    /// Whether sessions make a load in the phase.
    pub(super) fn is_loaded(&self) -> bool {
        matches!(self.phase, Some(Phase::Warm | Phase::Tune | Phase::Measure))
    }

    /// Adds bytes done.
    pub(super) fn add(&mut self, bytes: u64) {
        self.done_bytes += bytes;
    }

    /// How far the phase is; none of one that goes by time.
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
