//! The controller of a fleet run: takes all hosts through the stages, and never leaves one waiting
//! for a lost host.

mod host;
mod preflight;
mod stages;
#[cfg(test)]
mod tests;

use units::Nanos;

use crate::membership::{HeardBeat, Presence};
use crate::{
    AgentAnswer, AgentId, AgentOrder, AgentStep, Ask, ClockOffset, Duty, FleetEvent, FleetOrder,
    FleetStage, Heartbeat, LossCause, RunId, Timing,
};
use host::FleetHost;
pub use host::HostNow;

/// Actions that the controller requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControllerEffect {
    /// Send this order to an agent; the answer comes back through [`FleetController::answered`].
    Send {
        /// The recipient.
        agent: AgentId,
        /// The order.
        ask: Ask,
    },
    /// Compare the clock of an agent; the result comes back through [`FleetController::compared`].
    Probe {
        /// The agent.
        agent: AgentId,
    },
    /// Write this into the fleet's journal.
    Note(FleetEvent),
}

/// One host's part in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostWork {
    /// Its plan, as TOML.
    pub plan: String,
    /// Deliberate actions of the host during the measurement.
    pub duties: Vec<Duty>,
}

/// Takes a fleet through a run. Every method takes the time and returns what to do.
#[derive(Clone, Debug)]
pub struct FleetController {
    run: RunId,
    epoch: u64,
    timing: Timing,
    shared_storage: bool,
    warms_up_in_turns: bool,
    /// Limit on the measurement, including the time in which a returned host completes its own.
    measure_limit: Nanos,
    hosts: Vec<FleetHost>,
    stage: FleetStage,
    /// When the stage began.
    since: Nanos,
    /// Instant at which all hosts begin to measure, once decided.
    measure_from: Option<Nanos>,
    early: Option<String>,
    ignored: u64,
    effects: Vec<ControllerEffect>,
}

impl FleetController {
    /// A controller for `order`, with the work of each host in the same order. `epoch` must exceed
    /// that of every earlier controller. `measure_limit` bounds the measurement.
    pub fn new(
        (run, epoch): (RunId, u64),
        order: &FleetOrder,
        work: Vec<HostWork>,
        measure_limit: Nanos,
        now: Nanos,
    ) -> Self {
        assert_eq!(order.hosts.len(), work.len(), "every host has its work");
        let hosts = order.hosts.iter().zip(work);
        Self {
            run,
            epoch,
            timing: order.timing,
            shared_storage: order.shared_storage,
            warms_up_in_turns: order.warms_up_in_turns,
            measure_limit,
            hosts: hosts.map(|(host, work)| FleetHost::new(&host.host, work)).collect(),
            stage: FleetStage::Gathering,
            since: now,
            measure_from: None,
            early: None,
            ignored: 0,
            effects: Vec::new(),
        }
    }

    /// The current stage.
    pub const fn stage(&self) -> FleetStage {
        self.stage
    }

    /// Why the run ended early, in a sentence.
    #[cfg(test)]
    pub(crate) fn early(&self) -> Option<&str> {
        self.early.as_deref()
    }

    /// Returns every host of the plan with its progress.
    pub fn hosts(&self) -> impl Iterator<Item = HostNow<'_>> {
        self.hosts.iter().map(FleetHost::now)
    }

    /// Returns the number of heartbeats that were out of order or came from agents not in the plan.
    pub const fn ignored(&self) -> u64 {
        self.ignored
    }

    /// A heartbeat has arrived.
    pub fn heard(&mut self, beat: &Heartbeat, now: Nanos) -> Vec<ControllerEffect> {
        if let Some(host) = self.index_of(beat) {
            self.hear(host, beat, now);
        } else {
            self.ignored += 1;
            let rivals = self.hosts.iter_mut().filter(|host| host.is_meant(beat));
            rivals.for_each(|host| host.rival = Some(beat.agent.clone()));
        }
        self.advance(now)
    }

    /// Handles an agent's answer to the order `number`.
    pub fn answered(
        &mut self,
        agent: &AgentId,
        number: u64,
        answer: AgentAnswer,
        now: Nanos,
    ) -> Vec<ControllerEffect> {
        let Some(host) = self.host_of(agent) else {
            return Vec::new();
        };
        match self.hosts[host].take_answer(number, answer) {
            host::Taken::Nothing => self.ignored += 1,
            host::Taken::Done => {}
            host::Taken::Facts(facts) => self.note(FleetEvent::Described { host, facts }),
            host::Taken::Refusal(why) => self.refuse(host, why, now),
        }
        self.advance(now)
    }

    /// Handles the result of a clock comparison with an agent.
    pub fn compared(
        &mut self,
        agent: &AgentId,
        clock: ClockOffset,
        now: Nanos,
    ) -> Vec<ControllerEffect> {
        if let Some(host) = self.host_of(agent) {
            self.hosts[host].clock = Some((clock, now));
            self.note(FleetEvent::Clock { host, clock });
        }
        self.advance(now)
    }

    /// Time has passed; call it at least every [`crate::HEARTBEAT`].
    pub fn tick(&mut self, now: Nanos) -> Vec<ControllerEffect> {
        for host in 0..self.hosts.len() {
            self.judge_silence(host, now);
        }
        self.advance(now)
    }

    /// A person asked to stop.
    pub fn stop(&mut self, now: Nanos) -> Vec<ControllerEffect> {
        self.end("stopped by a person".to_owned(), now);
        std::mem::take(&mut self.effects)
    }

    fn index_of(&self, beat: &Heartbeat) -> Option<usize> {
        self.host_of(&beat.agent).or_else(|| {
            self.hosts.iter().position(|host| host.is_meant(beat) && host.agent().is_none())
        })
    }

    fn host_of(&self, agent: &AgentId) -> Option<usize> {
        self.hosts.iter().position(|host| host.agent() == Some(agent))
    }

    fn hear(&mut self, host: usize, beat: &Heartbeat, now: Nanos) {
        let known = self.hosts[host].agent().is_some();
        let heard = self.hosts[host].hear(beat, now, &self.run);
        if !known {
            let agent = beat.agent.clone();
            self.note(FleetEvent::Found { host, agent });
        }
        match heard {
            HeardBeat::OutOfOrder => self.ignored += 1,
            HeardBeat::Alive => {}
            HeardBeat::Back => self.welcome(host),
            HeardBeat::Restarted => self.judge_restart(host, beat, now),
        }
        self.note_change_of(host);
        self.note_end_of(host);
    }

    /// Records deliberate actions of the host that its last heartbeat shows.
    fn note_change_of(&mut self, host: usize) {
        let of = &mut self.hosts[host];
        let is_down = of.step == Some(AgentStep::Down);
        let was_down = std::mem::replace(&mut of.is_down, is_down);
        let copies = of.new_copies();
        match (was_down, is_down) {
            (false, true) => self.note(FleetEvent::Down { host }),
            (true, false) => {
                self.hosts[host].returns = self.hosts[host].returns.saturating_sub(1);
                self.note(FleetEvent::Up { host });
            }
            _ => {}
        }
        for report in copies {
            self.note(FleetEvent::Copied { host, report });
        }
    }

    fn welcome(&mut self, host: usize) {
        self.hosts[host].is_lost = false;
        self.note(FleetEvent::Back { host });
    }

    /// Judges a restarted agent: one that still follows its run is back; one that does not know the
    /// run is lost to it.
    fn judge_restart(&mut self, host: usize, beat: &Heartbeat, now: Nanos) {
        let knows = beat.job.as_ref().is_some_and(|job| job.run == self.run);
        if knows {
            if self.hosts[host].is_lost {
                self.welcome(host);
            }
        } else if self.stage > FleetStage::Checking && !self.hosts[host].has_ended() {
            self.lose(host, LossCause::Restart, now);
        }
    }

    fn judge_silence(&mut self, host: usize, now: Nanos) {
        let Some(member) = &mut self.hosts[host].member else { return };
        let changed = member.judge(now, &self.timing);
        let heard_ns = member.heard.0;
        match changed {
            Some(Presence::Suspect) => self.note(FleetEvent::Suspect { host, heard_ns }),
            Some(Presence::Lost) if !self.hosts[host].has_ended() => {
                self.lose(host, LossCause::Silence, now);
            }
            _ => {}
        }
    }

    /// Marks a host as lost. Before the measurement this ends the run; during it the other hosts
    /// continue.
    fn lose(&mut self, host: usize, cause: LossCause, now: Nanos) {
        if self.hosts[host].is_lost || self.stage == FleetStage::Ended {
            return;
        }
        self.hosts[host].is_lost = true;
        let heard_ns = self.hosts[host].member.as_ref().map_or(0, |member| member.heard.0);
        self.note(FleetEvent::Lost { host, heard_ns, cause });
        if self.stage < FleetStage::Measuring {
            let name = &self.hosts[host].name;
            let sentence = format!("{name} was lost before the measurement began");
            self.end(sentence, now);
        }
    }

    fn refuse(&mut self, host: usize, why: String, now: Nanos) {
        let sentence = format!("{} refused: {why}", self.hosts[host].name);
        self.note(FleetEvent::Refused { host, why });
        if self.stage < FleetStage::Measuring {
            self.end(sentence, now);
        }
    }

    fn note_end_of(&mut self, host: usize) {
        let of = &mut self.hosts[host];
        let status = match &of.step {
            Some(AgentStep::Ended { status }) => *status,
            Some(AgentStep::Failed { .. }) => 2,
            _ => return,
        };
        if !std::mem::replace(&mut of.is_end_noted, true) {
            self.note(FleetEvent::HostEnded { host, status });
        }
    }

    fn note(&mut self, event: FleetEvent) {
        self.effects.push(ControllerEffect::Note(event));
    }

    /// Ends the run early: every working host gets an order to stop.
    fn end(&mut self, why: String, now: Nanos) {
        if self.stage == FleetStage::Ended {
            return;
        }
        for host in 0..self.hosts.len() {
            let is_at_work = self.hosts[host].is_at_work();
            if is_at_work {
                let run = self.run.clone();
                self.hosts[host].ask_at_once(AgentOrder::Stop { run });
            }
        }
        self.send_orders(now);
        self.early = Some(why.clone());
        self.enter(FleetStage::Ended, now);
        self.note(FleetEvent::Ended { early: Some(why) });
    }
}
