//! A job with its host's outstanding deliberate actions: the state that a restarted agent needs.

use serde::{Deserialize, Serialize};

use super::AgentEffect;
use crate::{AgentJob, AgentStep, Duty, DutyAct};

/// State from which a host's next agent resumes a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptJob {
    /// The job.
    pub job: AgentJob,
    /// Deliberate actions that the host has yet to perform, in time order.
    pub duties: Vec<Duty>,
    /// The common instant by this host's clock, once it is known.
    pub measure_from_ns: Option<u64>,
}

impl KeptJob {
    /// Whether the host may still work for the run.
    pub(super) fn is_at_work(&self) -> bool {
        self.job.step.is_at_work() || self.returns()
    }

    /// Whether the host is down and will return.
    pub fn returns(&self) -> bool {
        self.job.step == AgentStep::Down
            && self.duties.iter().any(|duty| duty.act == DutyAct::Return)
    }

    pub(super) const fn is_in_measurement(&self) -> bool {
        matches!(self.job.step, AgentStep::Measuring | AgentStep::Down)
    }

    /// Returns the effect of a duty; `None` if it has none on this host now.
    pub(super) fn act(&mut self, act: DutyAct) -> Option<AgentEffect> {
        let run = self.job.run.clone();
        match act {
            DutyAct::Load { .. } => None,
            DutyAct::Die => {
                self.job.step = AgentStep::Down;
                Some(AgentEffect::Kill { run })
            }
            DutyAct::Return => {
                self.job.step = AgentStep::Measuring;
                Some(AgentEffect::Resume { run })
            }
            DutyAct::Copy { database, side, bytes_per_second } => {
                Some(AgentEffect::Copy { run, database, side, bytes_per_second })
            }
        }
    }
}
