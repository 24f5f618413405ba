//! Subjects of the messages. An agent's id is one token of a subject, so that a server can restrict
//! each agent to its own subjects.

use fleet::{AgentId, RunId};

/// Heartbeats of all agents.
pub const EVERY_BEAT: &str = "plimsoll.v1.beat.*";

/// Subjects kept by the stream of journals.
pub(crate) const EVERY_RESULT: &str = "plimsoll.v1.result.>";

/// Heartbeats of one agent.
pub fn beats(agent: &AgentId) -> String {
    format!("plimsoll.v1.beat.{agent}")
}

/// Orders to one agent.
pub fn orders(agent: &AgentId) -> String {
    format!("plimsoll.v1.order.{agent}")
}

/// Queries of the clock of one agent's host.
pub fn clocks(agent: &AgentId) -> String {
    format!("plimsoll.v1.clock.{agent}")
}

/// The journal of one agent's run.
pub(crate) fn results(run: &RunId, agent: &AgentId) -> String {
    format!("plimsoll.v1.result.{run}.{agent}")
}
