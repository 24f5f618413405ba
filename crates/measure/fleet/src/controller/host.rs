//! One host of the plan as the controller knows it, and the order that it has not answered.

use std::collections::VecDeque;

use units::Nanos;

use crate::membership::{HeardBeat, Membership};
use crate::{
    AgentAnswer, AgentId, AgentOrder, AgentStep, Ask, ClockOffset, CopyReport, Duty, DutyAct,
    Heartbeat, HostFacts, HostWork, LiveLoad, RunId,
};

/// An order that was not answered within this time is sent again.
const ASK_AGAIN: Nanos = Nanos::from_secs(2);

#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says of one moment whether it is past; they come in any order"
)]
pub(super) struct FleetHost {
    pub(super) name: String,
    pub(super) plan: String,
    pub(super) duties: Vec<Duty>,
    /// Number of remaining returns after being down.
    pub(super) returns: usize,
    pub(super) is_down: bool,
    /// Whether it was asked to warm up.
    pub(super) is_started: bool,
    copies: Vec<CopyReport>,
    copies_noted: usize,
    agent: Option<AgentId>,
    /// Another agent that also matches the name in the plan.
    pub(super) rival: Option<AgentId>,
    pub(super) member: Option<Membership>,
    pub(super) facts: Option<HostFacts>,
    /// The last clock comparison and its time.
    pub(super) clock: Option<(ClockOffset, Nanos)>,
    pub(super) step: Option<AgentStep>,
    load: Option<LiveLoad>,
    pub(super) is_lost: bool,
    pub(super) is_end_noted: bool,
    orders: VecDeque<AgentOrder>,
    pending: Option<PendingAsk>,
    number: u64,
}

#[derive(Clone, Debug)]
struct PendingAsk {
    ask: Ask,
    sent: Nanos,
}

/// Progress of a host.
#[derive(Clone, Copy, Debug)]
pub struct HostNow<'a> {
    /// Its name in the plan.
    pub name: &'a str,
    /// Its current step in the run; `None` if it has reported none.
    pub step: Option<&'a AgentStep>,
    /// Load of its run; `None` unless it is warm or measuring.
    pub load: Option<LiveLoad>,
    /// Whether it is lost.
    pub is_lost: bool,
}

/// What an answer changed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// The answer belongs to no pending order.
    Nothing,
    Done,
    Facts(HostFacts),
    Refusal(String),
}

impl FleetHost {
    pub(super) fn new(name: &str, HostWork { plan, duties }: HostWork) -> Self {
        Self {
            name: name.to_owned(),
            plan,
            returns: duties.iter().filter(|duty| duty.act == DutyAct::Return).count(),
            duties,
            is_down: false,
            is_started: false,
            copies: Vec::new(),
            copies_noted: 0,
            agent: None,
            rival: None,
            member: None,
            facts: None,
            clock: None,
            step: None,
            load: None,
            is_lost: false,
            is_end_noted: false,
            orders: VecDeque::new(),
            pending: None,
            number: 0,
        }
    }

    /// Returns its progress, for display.
    pub(super) fn now(&self) -> HostNow<'_> {
        let is_loaded = matches!(self.step, Some(AgentStep::Waiting | AgentStep::Measuring));
        HostNow {
            name: &self.name,
            step: self.step.as_ref(),
            load: self.load.filter(|_| is_loaded && !self.is_lost),
            is_lost: self.is_lost,
        }
    }

    pub(super) const fn agent(&self) -> Option<&AgentId> {
        self.agent.as_ref()
    }

    /// Whether the plan names the agent of this beat, by its id or by the name of its host.
    pub(super) fn is_meant(&self, beat: &Heartbeat) -> bool {
        self.name == beat.agent.as_str() || self.name.eq_ignore_ascii_case(&beat.host)
    }

    pub(super) fn hear(&mut self, beat: &Heartbeat, now: Nanos, run: &RunId) -> HeardBeat {
        let heard = if let Some(member) = &mut self.member {
            member.hear(beat, now)
        } else {
            self.agent = Some(beat.agent.clone());
            self.member = Some(Membership::begin(beat, now));
            HeardBeat::Alive
        };
        if heard != HeardBeat::OutOfOrder {
            let of_run = beat.job.as_ref().filter(|job| job.run == *run);
            if let Some(job) = of_run {
                self.step = Some(job.step.clone());
                self.copies.clone_from(&job.copies);
                self.load = beat.load;
            }
        }
        heard
    }

    /// Queues an order after the earlier ones.
    pub(super) fn ask(&mut self, order: AgentOrder) {
        self.orders.push_back(order);
    }

    /// Replaces all queued orders with this one.
    pub(super) fn ask_at_once(&mut self, order: AgentOrder) {
        self.orders.clear();
        self.pending = None;
        self.orders.push_back(order);
    }

    /// The order to send now: the next one, or the last one again.
    pub(super) fn due(&mut self, epoch: u64, now: Nanos) -> Option<Ask> {
        if let Some(pending) = &mut self.pending {
            let is_due = now.since(pending.sent) >= ASK_AGAIN;
            return is_due.then(|| {
                pending.sent = now;
                pending.ask.clone()
            });
        }
        let order = self.orders.pop_front()?;
        self.number += 1;
        let ask = Ask { epoch, number: self.number, order };
        self.pending = Some(PendingAsk { ask: ask.clone(), sent: now });
        Some(ask)
    }

    pub(super) fn take_answer(&mut self, number: u64, answer: AgentAnswer) -> Taken {
        match &self.pending {
            Some(pending) if pending.ask.number == number => self.pending = None,
            _ => return Taken::Nothing,
        }
        match answer {
            AgentAnswer::Accepted => Taken::Done,
            AgentAnswer::Refused { why } => Taken::Refusal(why),
            AgentAnswer::Host(facts) => {
                self.facts = Some(facts.clone());
                Taken::Facts(facts)
            }
        }
    }

    /// Whether it has answered every order.
    pub(super) fn has_answered(&self) -> bool {
        self.pending.is_none() && self.orders.is_empty()
    }

    /// Whether the host's part in the run is over.
    pub(super) const fn has_ended(&self) -> bool {
        match self.step {
            Some(AgentStep::Ended { .. } | AgentStep::Failed { .. }) => true,
            Some(AgentStep::Down) => self.returns == 0,
            _ => false,
        }
    }

    /// Reports of copies that have come since the last call.
    pub(super) fn new_copies(&mut self) -> Vec<CopyReport> {
        let new = self.copies.get(self.copies_noted..).unwrap_or_default().to_vec();
        self.copies_noted += new.len();
        new
    }

    pub(super) const fn is_at_work(&self) -> bool {
        matches!(
            self.step,
            Some(
                AgentStep::Preparing
                    | AgentStep::WarmingUp
                    | AgentStep::Waiting
                    | AgentStep::Measuring
                    | AgentStep::Down
            )
        )
    }
}
