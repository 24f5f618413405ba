//! The agent of one host: obeys one controller, does one job at a time, and touches no folder that
//! it was not allowed.

mod allowed;

use std::path::{Path, PathBuf};

use plan::Plan;
use units::Nanos;

use crate::{
    AgentAnswer, AgentId, AgentJob, AgentOrder, AgentStep, Ask, Heartbeat, HostFacts, RunId,
};

/// What the agent asks of its surroundings while it takes an order.
pub trait AgentSurroundings {
    /// The real path of a folder or device, links resolved; none if there is none.
    fn resolve(&self, path: &Path) -> Option<PathBuf>;
    /// Why this plan could not run here now, in a sentence: room, privileges, other programs.
    fn hindrance(&self, plan: &Plan) -> Option<String>;
}

/// What the agent wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentEffect {
    /// Fill the databases of this plan; [`Agent::child`] reports the end.
    Fill {
        /// For which run.
        run: RunId,
        /// The plan, as TOML.
        plan: String,
    },
    /// Run this plan up to the end of the warm-up and hold the load there.
    Run {
        /// Which run.
        run: RunId,
        /// The plan, as TOML.
        plan: String,
    },
    /// Let the held run measure from this instant of this host's clock.
    Release {
        /// Which run.
        run: RunId,
        /// In nanoseconds since 1970.
        at_ns: u64,
    },
    /// Ask the run to end.
    Stop {
        /// Which run.
        run: RunId,
    },
    /// Publish the journal of this run again, from this byte on.
    Resend {
        /// Which run.
        run: RunId,
        /// Bytes before it have arrived.
        from_byte: u64,
    },
}

/// What became of what the agent started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChildReport {
    /// The databases are filled.
    Filled,
    /// The run is warm and waits.
    Warm,
    /// The measurement has begun.
    Measuring,
    /// The run has ended with this exit status.
    Ended {
        /// 0 pass, 1 fail, 2 cannot judge.
        status: u8,
    },
    /// It could not begin or go on.
    Failed {
        /// Why, in a sentence.
        why: String,
    },
}

/// The agent of one host.
#[derive(Clone, Debug)]
pub struct Agent {
    id: AgentId,
    started: Nanos,
    facts: HostFacts,
    /// Real paths below which it may write.
    allowed: Vec<PathBuf>,
    sequence: u64,
    /// The highest controller that was obeyed, and its last order with the answer.
    epoch: u64,
    last: Option<(u64, AgentAnswer)>,
    job: Option<AgentJob>,
    ignored: u64,
}

impl Agent {
    /// An agent that started at `started` of its own clock and may write below `allowed`, which are
    /// real paths. `job` is what an earlier agent with this id had been doing.
    pub fn new(
        id: AgentId,
        started: Nanos,
        facts: HostFacts,
        allowed: Vec<PathBuf>,
        job: Option<AgentJob>,
    ) -> Self {
        let (sequence, epoch, ignored) = (0, 0, 0);
        Self { id, started, facts, allowed, sequence, epoch, last: None, job, ignored }
    }

    /// The next heartbeat.
    pub fn beat(&mut self) -> Heartbeat {
        self.sequence += 1;
        Heartbeat {
            agent: self.id.clone(),
            host: self.facts.host.clone(),
            sequence: self.sequence,
            started_ns: self.started.0,
            job: self.job.clone(),
        }
    }

    /// What it is doing.
    pub const fn job(&self) -> Option<&AgentJob> {
        self.job.as_ref()
    }

    /// Orders of earlier controllers, and orders older than the last.
    pub const fn ignored(&self) -> u64 {
        self.ignored
    }

    /// Takes an order: the answer, and what to do. The last order once more gets the same answer
    /// and changes nothing; none at all is answered to a controller that another has replaced.
    pub fn ask(
        &mut self,
        ask: Ask,
        surroundings: &dyn AgentSurroundings,
    ) -> (Option<AgentAnswer>, Option<AgentEffect>) {
        if let AgentOrder::Resend { run, from_byte } = ask.order {
            // It changes nothing on the host, so it needs no lease and has no place among orders.
            return (Some(AgentAnswer::Accepted), Some(AgentEffect::Resend { run, from_byte }));
        }
        if ask.epoch < self.epoch {
            self.ignored += 1;
            return (None, None);
        }
        if ask.epoch > self.epoch {
            (self.epoch, self.last) = (ask.epoch, None);
        }
        match &self.last {
            Some((number, answer)) if *number == ask.number => return (Some(answer.clone()), None),
            Some((number, _)) if *number > ask.number => {
                self.ignored += 1;
                return (None, None);
            }
            _ => {}
        }
        let (answer, effect) = match self.obey(ask.order, surroundings) {
            Ok((answer, effect)) => (answer, effect),
            Err(why) => (AgentAnswer::Refused { why }, None),
        };
        self.last = Some((ask.number, answer.clone()));
        (Some(answer), effect)
    }

    /// Takes the news of what it started.
    pub fn child(&mut self, report: ChildReport) {
        let Some(job) = &mut self.job else { return };
        job.step = match report {
            ChildReport::Filled => AgentStep::Prepared,
            ChildReport::Warm => AgentStep::Waiting,
            ChildReport::Measuring => AgentStep::Measuring,
            ChildReport::Ended { status } => AgentStep::Ended { status },
            ChildReport::Failed { why } => AgentStep::Failed { why },
        };
    }

    fn obey(
        &mut self,
        order: AgentOrder,
        surroundings: &dyn AgentSurroundings,
    ) -> Result<(AgentAnswer, Option<AgentEffect>), String> {
        let effect = match order {
            AgentOrder::Describe => return Ok((AgentAnswer::Host(self.facts.clone()), None)),
            AgentOrder::Check { plan } => {
                self.check(&plan, surroundings)?;
                None
            }
            AgentOrder::Prepare { run, plan } => {
                self.take_up(&run, AgentStep::Preparing, &plan, surroundings)?;
                Some(AgentEffect::Fill { run, plan })
            }
            AgentOrder::Start { run, plan } => {
                self.take_up(&run, AgentStep::WarmingUp, &plan, surroundings)?;
                Some(AgentEffect::Run { run, plan })
            }
            AgentOrder::Measure { run, at_ns } => {
                self.require(&run, |step| matches!(step, AgentStep::Waiting))?;
                Some(AgentEffect::Release { run, at_ns })
            }
            AgentOrder::Stop { run } => {
                self.require(&run, |_| true)?;
                Some(AgentEffect::Stop { run })
            }
            AgentOrder::Resend { .. } => unreachable!("answered before the order of orders"),
        };
        Ok((AgentAnswer::Accepted, effect))
    }

    /// Makes `run` its job, unless another is under way.
    fn take_up(
        &mut self,
        run: &RunId,
        step: AgentStep,
        plan: &str,
        surroundings: &dyn AgentSurroundings,
    ) -> Result<(), String> {
        if let Some(job) = self.job.as_ref().filter(|job| job.step.is_at_work()) {
            return Err(format!("run {} is under way on this host: stop it or wait", job.run));
        }
        self.check(plan, surroundings)?;
        self.job = Some(AgentJob { run: run.clone(), step });
        Ok(())
    }

    fn require(&self, run: &RunId, is: impl Fn(&AgentStep) -> bool) -> Result<(), String> {
        match &self.job {
            Some(job) if job.run == *run && is(&job.step) => Ok(()),
            Some(job) if job.run == *run => {
                Err(format!("run {run} is not waiting for that on this host"))
            }
            _ => Err(format!("this host knows no run {run}")),
        }
    }

    fn check(&self, text: &str, surroundings: &dyn AgentSurroundings) -> Result<(), String> {
        let plan = Plan::parse("the plan", text).map_err(|error| error.to_string())?;
        allowed::check(&plan, &self.allowed, &|path| surroundings.resolve(path))?;
        surroundings.hindrance(&plan).map_or(Ok(()), Err)
    }
}

impl AgentStep {
    /// Whether something runs on the host.
    pub(crate) const fn is_at_work(&self) -> bool {
        matches!(self, Self::Preparing | Self::WarmingUp | Self::Waiting | Self::Measuring)
    }
}

#[cfg(test)]
mod tests;
