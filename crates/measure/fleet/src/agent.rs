//! The agent of one host: obeys one controller, does one job at a time, and touches only allowed
//! folders.

mod allowed;
mod kept;
mod weight;

use std::path::{Path, PathBuf};

use plan::Plan;
use units::Nanos;

use crate::{
    AgentAnswer, AgentId, AgentJob, AgentStep, Ask, CopyReport, CopySide, Duty, DutyAct, Heartbeat,
    HostFacts, RunId,
};
pub use kept::KeptJob;
use weight::{FullOrder, Weight};

/// Queries that the agent makes of its environment while it handles an order.
pub trait AgentSurroundings {
    /// Returns the real path of a folder or device, with links resolved; `None` if it does not
    /// exist.
    fn resolve(&self, path: &Path) -> Option<PathBuf>;
    /// Returns why this plan could not run here now, in a sentence: space, privileges, other
    /// programs.
    fn hindrance(&self, plan: &Plan) -> Option<String>;
}

/// Actions that the agent requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentEffect {
    /// Fill the databases of this plan; [`Agent::child`] reports the end.
    Fill {
        /// Id of the run.
        run: RunId,
        /// The plan, as TOML.
        plan: String,
    },
    /// Run this plan up to the end of the warm-up and hold the load there.
    Run {
        /// Id of the run.
        run: RunId,
        /// The plan, as TOML.
        plan: String,
        /// Duties of the host during the measurement; the run itself carries out those that change
        /// its load.
        duties: Vec<Duty>,
    },
    /// Ask the run to end.
    Stop {
        /// Id of the run.
        run: RunId,
    },
    /// Kill the run at once, as a power failure would.
    Kill {
        /// Id of the run.
        run: RunId,
    },
    /// Resume the run that was killed.
    Resume {
        /// Id of the run.
        run: RunId,
    },
    /// Read or write a copy of a database while the run continues; [`Agent::copied`] reports the
    /// end.
    Copy {
        /// Id of the run.
        run: RunId,
        /// Database of its plan, counted from 0.
        database: u32,
        /// Whether to read or to write the copy.
        side: CopySide,
        /// Bytes per second.
        bytes_per_second: u64,
    },
    /// Let the held run measure from this instant of this host's clock.
    Release {
        /// Id of the run.
        run: RunId,
        /// In nanoseconds since 1970.
        at_ns: u64,
    },
    /// Publish the journal of this run again, from this byte on.
    Resend {
        /// Id of the run.
        run: RunId,
        /// Bytes before it have arrived.
        from_byte: u64,
    },
}

/// Progress of a process that the agent started.
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
    /// It could not start or continue.
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
    /// Epoch of the newest controller obeyed; `last` is its last order and the answer.
    epoch: u64,
    last: Option<(u64, AgentAnswer)>,
    kept: Option<KeptJob>,
    ignored: u64,
}

impl Agent {
    /// An agent that started at `started` by its clock and may write below `allowed`, which are
    /// real paths. `kept` is the job of an earlier agent with this id.
    pub fn new(
        id: AgentId,
        started: Nanos,
        facts: HostFacts,
        allowed: Vec<PathBuf>,
        kept: Option<KeptJob>,
    ) -> Self {
        let (sequence, epoch, ignored) = (0, 0, 0);
        Self { id, started, facts, allowed, sequence, epoch, last: None, kept, ignored }
    }

    /// Returns the next heartbeat; the reader of the run's journal adds the load.
    pub fn beat(&mut self) -> Heartbeat {
        self.sequence += 1;
        Heartbeat {
            agent: self.id.clone(),
            host: self.facts.host.clone(),
            sequence: self.sequence,
            started_ns: self.started.0,
            job: self.job().cloned(),
            load: None,
        }
    }

    /// The current job, for heartbeats.
    pub fn job(&self) -> Option<&AgentJob> {
        self.kept.as_ref().map(|kept| &kept.job)
    }

    /// Returns the current job, for a successor of this agent.
    pub const fn kept(&self) -> Option<&KeptJob> {
        self.kept.as_ref()
    }

    /// Number of ignored orders: of earlier controllers, or older than the last.
    #[cfg(test)]
    pub(crate) const fn ignored(&self) -> u64 {
        self.ignored
    }

    /// Handles an order; returns the answer and the actions. A repeat of the last order gets the
    /// same answer and changes nothing; a controller that has been replaced gets no answer.
    pub fn ask(
        &mut self,
        ask: Ask,
        surroundings: &dyn AgentSurroundings,
    ) -> (Option<AgentAnswer>, Option<AgentEffect>) {
        let order = match Weight::of(ask.order) {
            // It needs no lease and is outside the sequence of orders.
            Weight::Light { run, from_byte } => {
                return (Some(AgentAnswer::Accepted), Some(AgentEffect::Resend { run, from_byte }));
            }
            Weight::Full(order) => order,
        };
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
        let (answer, effect) = match self.obey(order, surroundings) {
            Ok((answer, effect)) => (answer, effect),
            Err(why) => (AgentAnswer::Refused { why }, None),
        };
        self.last = Some((ask.number, answer.clone()));
        (Some(answer), effect)
    }

    /// Handles a report from a process that the agent started.
    pub fn child(&mut self, report: ChildReport) {
        let Some(KeptJob { job, .. }) = &mut self.kept else { return };
        if job.step == AgentStep::Down {
            // Its exit does not matter: it was killed on purpose.
            return;
        }
        job.step = match report {
            ChildReport::Filled => AgentStep::Prepared,
            ChildReport::Warm => AgentStep::Waiting,
            ChildReport::Measuring => AgentStep::Measuring,
            ChildReport::Ended { status } => AgentStep::Ended { status },
            ChildReport::Failed { why } => AgentStep::Failed { why },
        };
    }

    /// Handles the report of a copy.
    pub fn copied(&mut self, report: CopyReport) {
        if let Some(kept) = &mut self.kept {
            kept.job.copies.push(report);
        }
    }

    /// Duties due by `now` of this host's clock, in order. The run itself carries out those that
    /// change its load.
    pub fn due(&mut self, now: Nanos) -> Vec<AgentEffect> {
        let Some(kept) = &mut self.kept else { return Vec::new() };
        let Some(from_ns) = kept.measure_from_ns.filter(|_| kept.is_in_measurement()) else {
            return Vec::new();
        };
        let duties = &mut kept.duties;
        let due: Vec<Duty> =
            duties.extract_if(.., |duty| from_ns.saturating_add(duty.after_ns) <= now.0).collect();
        let mut effects = Vec::new();
        for duty in due {
            effects.extend(kept.act(duty.act));
        }
        effects
    }

    fn obey(
        &mut self,
        order: FullOrder,
        surroundings: &dyn AgentSurroundings,
    ) -> Result<(AgentAnswer, Option<AgentEffect>), String> {
        let effect = match order {
            FullOrder::Describe => return Ok((AgentAnswer::Host(self.facts.clone()), None)),
            FullOrder::Check { plan } => {
                self.check(&plan, surroundings)?;
                None
            }
            FullOrder::Prepare { run, plan } => {
                self.take_up(&run, AgentStep::Preparing, (&plan, &[]), surroundings)?;
                Some(AgentEffect::Fill { run, plan })
            }
            FullOrder::Start { run, plan, duties } => {
                self.take_up(&run, AgentStep::WarmingUp, (&plan, &duties), surroundings)?;
                Some(AgentEffect::Run { run, plan, duties })
            }
            FullOrder::Measure { run, at_ns } => {
                let kept = self.require(&run, |step| matches!(step, AgentStep::Waiting))?;
                kept.measure_from_ns = Some(at_ns);
                Some(AgentEffect::Release { run, at_ns })
            }
            FullOrder::Stop { run } => {
                self.require(&run, |_| true)?.duties.clear();
                Some(AgentEffect::Stop { run })
            }
        };
        Ok((AgentAnswer::Accepted, effect))
    }

    /// Makes `run` the agent's job, unless another is under way.
    fn take_up(
        &mut self,
        run: &RunId,
        step: AgentStep,
        (plan, duties): (&str, &[Duty]),
        surroundings: &dyn AgentSurroundings,
    ) -> Result<(), String> {
        if let Some(kept) = self.kept.as_ref().filter(|kept| kept.is_at_work()) {
            return Err(format!("run {} is under way on this host: stop it or wait", kept.job.run));
        }
        self.check(plan, surroundings)?;
        let job = AgentJob { run: run.clone(), step, copies: Vec::new() };
        let mut duties = duties.to_vec();
        duties.retain(|duty| !matches!(duty.act, DutyAct::Load { .. }));
        self.kept = Some(KeptJob { job, duties, measure_from_ns: None });
        Ok(())
    }

    fn require(
        &mut self,
        run: &RunId,
        is: impl Fn(&AgentStep) -> bool,
    ) -> Result<&mut KeptJob, String> {
        let kept = self.kept.as_mut().filter(|kept| kept.job.run == *run);
        let kept = kept.ok_or_else(|| format!("this host knows no run {run}"))?;
        if is(&kept.job.step) {
            Ok(kept)
        } else {
            Err(format!("run {run} is not waiting for that on this host"))
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
