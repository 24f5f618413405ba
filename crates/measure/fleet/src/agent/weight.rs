//! Separates orders that need the lease of the fleet from the one that anyone may give.

use crate::{AgentOrder, Duty, RunId};

/// Whether an order must come in sequence from the controller that holds the fleet.
pub(super) enum Weight {
    /// It changes nothing on the host.
    Light {
        run: RunId,
        from_byte: u64,
    },
    Full(FullOrder),
}

/// An order that is numbered in sequence.
pub(super) enum FullOrder {
    Describe,
    Check { plan: String },
    Prepare { run: RunId, plan: String },
    Start { run: RunId, plan: String, duties: Vec<Duty> },
    Measure { run: RunId, at_ns: u64 },
    Stop { run: RunId },
}

impl Weight {
    pub(super) fn of(order: AgentOrder) -> Self {
        Self::Full(match order {
            AgentOrder::Resend { run, from_byte } => return Self::Light { run, from_byte },
            AgentOrder::Describe => FullOrder::Describe,
            AgentOrder::Check { plan } => FullOrder::Check { plan },
            AgentOrder::Prepare { run, plan } => FullOrder::Prepare { run, plan },
            AgentOrder::Start { run, plan, duties } => FullOrder::Start { run, plan, duties },
            AgentOrder::Measure { run, at_ns } => FullOrder::Measure { run, at_ns },
            AgentOrder::Stop { run } => FullOrder::Stop { run },
        })
    }
}
