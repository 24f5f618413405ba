//! The transitions between stages: each stage starts when every host has completed the one before,
//! and its duration is bounded.

use units::Nanos;

use super::host::FleetHost;
use super::preflight;
use super::{ControllerEffect, FleetController, FleetStage};
use crate::{AgentOrder, AgentStep, FleetEvent, LossCause};

/// A comparison of clocks older than this is made again before the common instant is decided.
const FRESH: Nanos = Nanos::from_secs(10);

/// Longest delay of the release by repeated clock comparisons.
const COMPARED_WITHIN: Nanos = Nanos::from_secs(3);

impl FleetController {
    /// Enters all stages that are due, sends all messages that are due, and returns all effects.
    pub(super) fn advance(&mut self, now: Nanos) -> Vec<ControllerEffect> {
        while self.stage != FleetStage::Ended && self.try_next(now) {}
        self.enforce_bound(now);
        self.send_orders(now);
        std::mem::take(&mut self.effects)
    }

    pub(super) fn enter(&mut self, stage: FleetStage, now: Nanos) {
        self.stage = stage;
        self.since = now;
        self.note(FleetEvent::Stage { stage });
    }

    pub(super) fn send_orders(&mut self, now: Nanos) {
        let epoch = self.epoch;
        for host in self.hosts.iter_mut().filter(|host| !host.is_lost) {
            let Some(agent) = host.agent().cloned() else { continue };
            if let Some(ask) = host.due(epoch, now) {
                self.effects.push(ControllerEffect::Send { agent, ask });
            }
        }
    }

    /// Whether a stage was entered.
    fn try_next(&mut self, now: Nanos) -> bool {
        match self.stage {
            FleetStage::Gathering => self.check_when_gathered(now),
            FleetStage::Checking => self.prepare_when_checked(now),
            FleetStage::Preparing => self.start_when_prepared(now),
            FleetStage::WarmingUp => self.compare_when_warm(now),
            FleetStage::Releasing => self.measure_when_released(now),
            FleetStage::Measuring => self.end_when_ended(now),
            FleetStage::Ended => false,
        }
    }

    fn check_when_gathered(&mut self, now: Nanos) -> bool {
        if self.hosts.iter().any(|host| host.agent().is_none()) {
            return false;
        }
        for host in &mut self.hosts {
            let plan = host.plan.clone();
            host.ask(AgentOrder::Describe);
            host.ask(AgentOrder::Check { plan });
        }
        self.probe_all();
        self.enter(FleetStage::Checking, now);
        true
    }

    fn prepare_when_checked(&mut self, now: Nanos) -> bool {
        if !self.hosts.iter().all(|host| host.has_answered() && host.clock.is_some()) {
            return false;
        }
        let faults = preflight::faults(&self.hosts, self.shared_storage);
        if !faults.is_empty() {
            self.end(faults.join("; "), now);
            return true;
        }
        for host in &mut self.hosts {
            let (run, plan) = (self.run.clone(), host.plan.clone());
            host.ask(AgentOrder::Prepare { run, plan });
        }
        self.enter(FleetStage::Preparing, now);
        true
    }

    fn start_when_prepared(&mut self, now: Nanos) -> bool {
        if self.fail_with_a_host(now) || !self.all_are(|step| matches!(step, AgentStep::Prepared)) {
            return false;
        }
        self.enter(FleetStage::WarmingUp, now);
        let first = if self.warms_up_in_turns { 1 } else { self.hosts.len() };
        (0..first).for_each(|host| self.start(host));
        true
    }

    fn start(&mut self, host: usize) {
        let of = &mut self.hosts[host];
        of.is_started = true;
        let (run, plan, duties) = (self.run.clone(), of.plan.clone(), of.duties.clone());
        of.ask(AgentOrder::Start { run, plan, duties });
    }

    /// Lets the next host warm up once those before it are warm; each has the time of the stage.
    fn start_next(&mut self, now: Nanos) {
        let Some(next) = self.hosts.iter().position(|host| !host.is_started) else { return };
        let is_warm =
            |host: &FleetHost| matches!(host.step, Some(AgentStep::Waiting)) && host.has_answered();
        if self.hosts[..next].iter().all(is_warm) {
            self.since = now;
            self.start(next);
        }
    }

    fn compare_when_warm(&mut self, now: Nanos) -> bool {
        if self.fail_with_a_host(now) {
            return false;
        }
        self.start_next(now);
        if !self.all_are(|step| matches!(step, AgentStep::Waiting)) {
            return false;
        }
        self.probe_all();
        self.enter(FleetStage::Releasing, now);
        true
    }

    fn measure_when_released(&mut self, now: Nanos) -> bool {
        if self.fail_with_a_host(now) {
            return false;
        }
        let since = self.since.max(Nanos(now.0.saturating_sub(FRESH.0)));
        let compared = self.hosts.iter().all(|host| host.clock.is_some_and(|(_, at)| at >= since));
        if !compared && now.since(self.since) < COMPARED_WITHIN {
            return false;
        }
        let from = now + self.timing.lead;
        for host in &mut self.hosts {
            let Some((clock, _)) = host.clock else { continue };
            let (run, at_ns) = (self.run.clone(), clock.on_host(from).0);
            host.ask(AgentOrder::Measure { run, at_ns });
        }
        self.measure_from = Some(from);
        self.note(FleetEvent::MeasureFrom { at_ns: from.0 });
        self.enter(FleetStage::Measuring, now);
        true
    }

    fn end_when_ended(&mut self, now: Nanos) -> bool {
        if !self.hosts.iter().all(|host| host.has_ended() || host.is_lost) {
            return false;
        }
        self.enter(FleetStage::Ended, now);
        self.note(FleetEvent::Ended { early: None });
        true
    }

    fn all_are(&self, is: impl Fn(&AgentStep) -> bool) -> bool {
        self.hosts.iter().all(|host| host.step.as_ref().is_some_and(&is) && host.has_answered())
    }

    /// Ends the run if a host could not do its part before the measurement.
    fn fail_with_a_host(&mut self, now: Nanos) -> bool {
        let why = self.hosts.iter().find_map(|host| match &host.step {
            Some(AgentStep::Failed { why }) => Some(format!("{}: {why}", host.name)),
            Some(AgentStep::Ended { status }) => Some(format!(
                "{}: its run ended with status {status} before the measurement",
                host.name
            )),
            _ => None,
        });
        let has_failed = why.is_some();
        if let Some(why) = why {
            self.end(why, now);
        }
        has_failed
    }

    fn probe_all(&mut self) {
        let agents = self.hosts.iter().filter_map(|host| host.agent().cloned());
        self.effects
            .extend(agents.map(|agent| ControllerEffect::Probe { agent }).collect::<Vec<_>>());
    }

    /// Returns the maximum duration of the stage.
    fn bound(&self) -> Nanos {
        let timing = &self.timing;
        match self.stage {
            FleetStage::Gathering | FleetStage::Checking | FleetStage::Releasing => timing.gather,
            FleetStage::Preparing => timing.prepare,
            FleetStage::WarmingUp => timing.warm_up,
            FleetStage::Measuring => timing.lead + self.measure_limit + timing.finish,
            FleetStage::Ended => Nanos::MAX,
        }
    }

    /// Ends the run if the stage exceeds its bound, and names the hosts that delayed it.
    fn enforce_bound(&mut self, now: Nanos) {
        if self.stage == FleetStage::Ended || now.since(self.since) < self.bound() {
            return;
        }
        let late: Vec<usize> = (0..self.hosts.len()).filter(|&host| self.is_late(host)).collect();
        let sentence = match self.stage {
            FleetStage::Gathering => format!(
                "no agent of {} appeared within {}: start `plimsoll agent` there",
                self.names(&late),
                self.bound()
            ),
            _ => format!("{} did not get further within {}", self.names(&late), self.bound()),
        };
        if self.stage == FleetStage::Measuring {
            for host in late {
                self.lose(host, LossCause::TooSlow, now);
            }
        }
        self.end(sentence, now);
    }

    fn names(&self, hosts: &[usize]) -> String {
        hosts.iter().map(|&host| self.hosts[host].name.as_str()).collect::<Vec<_>>().join(", ")
    }

    fn is_late(&self, host: usize) -> bool {
        let host = &self.hosts[host];
        let is_done = match self.stage {
            FleetStage::Gathering => host.agent().is_some(),
            FleetStage::Checking => host.has_answered() && host.clock.is_some(),
            FleetStage::Preparing => matches!(host.step, Some(AgentStep::Prepared)),
            FleetStage::WarmingUp => matches!(host.step, Some(AgentStep::Waiting)),
            FleetStage::Releasing => host.clock.is_some(),
            FleetStage::Measuring => host.has_ended() || host.is_lost,
            FleetStage::Ended => true,
        };
        !is_done
    }
}
