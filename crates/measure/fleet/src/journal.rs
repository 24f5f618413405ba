//! The fleet's own journal: events that involve several hosts, which no host's journal can hold.
//!
//! It is written line by line during the run, so that if a controller dies, another can still
//! collect the journals.

use serde::{Deserialize, Serialize};
use units::Nanos;

use crate::{
    AgentId, ClockOffset, CopyReport, FleetStage, HostFacts, LoadChange, PlannedEvent, RunId,
};

/// One line of the fleet's journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetLine {
    /// When, by the controller's clock, in nanoseconds since 1970.
    pub at_ns: u64,
    /// The event.
    pub event: FleetEvent,
}

/// What happened to a fleet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum FleetEvent {
    /// Always the first: the run and its hosts.
    Started {
        /// Id of the run.
        run: RunId,
        /// Name of the fleet plan.
        name: String,
        /// Program and version of the controller.
        build: String,
        /// Names of the hosts, as the plan has them.
        hosts: Vec<String>,
        /// Whether hosts may share folders.
        shared_storage: bool,
    },
    /// The deliberate events, and the load of every copy over time.
    Planned {
        /// The events, in the order of time.
        events: Vec<PlannedEvent>,
        /// The load of each copy when the measurement begins, and each change of it.
        loads: Vec<LoadChange>,
    },
    /// A host has deliberately killed its run.
    Down {
        /// Index of the host.
        host: usize,
    },
    /// A host that was deliberately down resumes its run.
    Up {
        /// Index of the host.
        host: usize,
    },
    /// One end of a reseed has ended.
    Copied {
        /// Index of the host.
        host: usize,
        /// The agent's report.
        report: CopyReport,
    },
    /// A host was found.
    Found {
        /// Index of the host in the plan, from 0.
        host: usize,
        /// Its agent.
        agent: AgentId,
    },
    /// A host has described itself.
    Described {
        /// Index of the host.
        host: usize,
        /// Facts reported by its agent.
        facts: HostFacts,
    },
    /// The controller entered a stage.
    Stage {
        /// The stage.
        stage: FleetStage,
    },
    /// A host's clock was compared.
    Clock {
        /// Index of the host.
        host: usize,
        /// Its offset from the controller's.
        clock: ClockOffset,
    },
    /// All hosts measure from this instant.
    MeasureFrom {
        /// By the controller's clock.
        at_ns: u64,
    },
    /// A host has been silent for a while.
    Suspect {
        /// Index of the host.
        host: usize,
        /// When it was last heard.
        heard_ns: u64,
    },
    /// A host is lost to the run.
    Lost {
        /// Index of the host.
        host: usize,
        /// When it was last heard.
        heard_ns: u64,
        /// How it was noticed.
        cause: LossCause,
    },
    /// A lost host answers again.
    Back {
        /// Index of the host.
        host: usize,
    },
    /// A host could not carry out an order.
    Refused {
        /// Index of the host.
        host: usize,
        /// Why, in a sentence.
        why: String,
    },
    /// A host's run has ended with this exit status.
    HostEnded {
        /// Index of the host.
        host: usize,
        /// 0 pass, 1 fail, 2 cannot judge.
        status: u8,
    },
    /// Messages that changed nothing, by kind.
    Ignored {
        /// The fault in them.
        fault: String,
        /// Number of messages.
        count: u64,
    },
    /// Always the last, if the controller saw the run to its end.
    Ended {
        /// Why it ended early, in a sentence; `None` if it did not.
        early: Option<String>,
    },
}

/// How the loss of a host was noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LossCause {
    /// No heartbeat came.
    Silence,
    /// The agent was restarted and knows nothing of the run.
    Restart,
    /// A stage was over before the host had done its part.
    TooSlow,
}

impl FleetEvent {
    /// The event as a line at `now`.
    pub fn at(self, now: Nanos) -> FleetLine {
        FleetLine { at_ns: now.0, event: self }
    }
}

impl FleetLine {
    /// Encodes the line, including its line feed.
    pub fn encode(&self) -> String {
        let text = serde_json::to_string(self)
            .expect("invariant: fleet events hold text, numbers and lists");
        text + "\n"
    }
}
