//! Messages between controller and agents, and the rules for accepting them.
//!
//! Every message carries the version of this vocabulary. One that is too long, of another version
//! or malformed changes nothing: the receiver counts it and names the fault.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use units::Nanos;

use crate::{AgentId, CopySide, Duty, LiveLoad, RunId};

/// Version of the messages; hosts of a fleet must agree on it.
const VERSION: u16 = 1;

/// Longest message in bytes; a plan of 100 databases has less than 64 KiB.
const LONGEST: usize = 512 * 1024;

/// An agent is alive. Sent every [`crate::HEARTBEAT`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heartbeat {
    /// Id of the agent.
    pub agent: AgentId,
    /// Display name of its host.
    pub host: String,
    /// Counts up from the start of the agent; an older one than the last is out of order.
    pub sequence: u64,
    /// When the agent started, by its own clock, in nanoseconds since 1970.
    pub started_ns: u64,
    /// Its current job, if any.
    pub job: Option<AgentJob>,
    /// Last reported load of its run; `None` before the first interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<LiveLoad>,
}

/// An agent's job in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentJob {
    /// Id of the run.
    pub run: RunId,
    /// Its current step.
    pub step: AgentStep,
    /// Copies that it has completed for reseeds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<CopyReport>,
}

/// One side of a completed reseed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyReport {
    /// Database of the host's plan, counted from 0.
    pub database: u32,
    /// Whether the copy was read or written.
    pub side: CopySide,
    /// Bytes that were read or written.
    pub bytes: u64,
    /// How long it took.
    pub elapsed_ns: u64,
    /// Why it did not reach its end, in a sentence.
    pub fault: Option<String>,
}

/// Step of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentStep {
    /// Databases are being filled.
    Preparing,
    /// Databases are filled.
    Prepared,
    /// The run opens its databases, warms up and finds its number of sessions.
    WarmingUp,
    /// The load runs; the measurement begins on the controller's command.
    Waiting,
    /// The measurement and the work after it.
    Measuring,
    /// The run was deliberately killed, as the fleet plan specifies.
    Down,
    /// The run has ended with this exit status: 0 pass, 1 fail, 2 cannot judge.
    Ended {
        /// The exit status.
        status: u8,
    },
    /// The run could not start or continue.
    Failed {
        /// Why, in a sentence.
        why: String,
    },
}

/// An order, with the numbers that make it safe to repeat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// Epoch of the controller: later ones are larger, and an agent ignores smaller ones.
    pub epoch: u64,
    /// Number of the order within that controller; a repeat has the same number.
    pub number: u64,
    /// The order.
    pub order: AgentOrder,
}

/// Orders from a controller to an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentOrder {
    /// Report facts about the host.
    Describe,
    /// Report whether this plan could run here.
    Check {
        /// The plan, as TOML.
        plan: String,
    },
    /// Fill the databases of this plan.
    Prepare {
        /// Id of the run.
        run: RunId,
        /// The plan, as TOML.
        plan: String,
    },
    /// Open, warm up, find the number of sessions, and wait.
    Start {
        /// Id of the run.
        run: RunId,
        /// The plan, as TOML.
        plan: String,
        /// Deliberate actions of the host during the measurement.
        #[serde(default)]
        duties: Vec<Duty>,
    },
    /// Measure from this instant.
    Measure {
        /// Id of the run.
        run: RunId,
        /// By the clock of the agent's host, in nanoseconds since 1970.
        at_ns: u64,
    },
    /// End the run.
    Stop {
        /// Id of the run.
        run: RunId,
    },
    /// Publish the journal of this run again, from this byte on.
    Resend {
        /// Id of the run.
        run: RunId,
        /// Bytes before it have arrived.
        from_byte: u64,
    },
}

/// What an agent answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentAnswer {
    /// It will be done, or has been.
    Accepted,
    /// It will not be done.
    Refused {
        /// Reason and remedy, in one sentence.
        why: String,
    },
    /// The description of the host.
    Host(HostFacts),
}

/// Facts that a controller needs about a host before it starts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostFacts {
    /// Program and version, such as `plimsoll 0.1.0`.
    pub build: String,
    /// Name of the host.
    pub host: String,
    /// The machine's identity, as in records.
    pub machine: String,
    /// Random id of this boot: clones of one virtual machine share `machine` but not this. Empty if
    /// the system has none.
    #[serde(default)]
    pub boot: String,
    /// Operating system.
    pub operating_system: String,
    /// Processors available to the operating system's scheduler.
    pub processors: u32,
    /// Folders and devices that the agent may touch.
    pub allowed: Vec<String>,
    /// Serial numbers or world-wide names of the disks under them, as far as they are known.
    #[serde(default)]
    pub disks: Vec<String>,
    /// Why it cannot do unbuffered I/O or lock memory, in sentences; empty if it can.
    pub hindrances: Vec<String>,
}

/// Why a message changed nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageFault {
    /// Longer than the limit on messages.
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// From a program that speaks another version.
    OtherVersion {
        /// Its version.
        version: u16,
    },
    /// Not a message of this kind.
    Malformed {
        /// The parser's error.
        why: String,
    },
}

impl fmt::Display for MessageFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { bytes } => {
                write!(f, "a message of {bytes} bytes; the most is {LONGEST}")
            }
            Self::OtherVersion { version } => write!(
                f,
                "a message of version {version}, and this program speaks {VERSION}: run the same \
                 release on every host"
            ),
            Self::Malformed { why } => write!(f, "a malformed message: {why}"),
        }
    }
}

impl std::error::Error for MessageFault {}

#[derive(Serialize)]
struct Outgoing<'a, T> {
    version: u16,
    body: &'a T,
}

#[derive(Deserialize)]
struct MessageVersion {
    version: u16,
}

#[derive(Deserialize)]
struct IncomingMessage<T> {
    body: T,
}

/// The bytes of a message.
pub fn encode<T: Serialize>(body: &T) -> Vec<u8> {
    serde_json::to_vec(&Outgoing { version: VERSION, body })
        .expect("invariant: messages hold text, numbers and lists")
}

/// The message in `bytes`.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, MessageFault> {
    if bytes.len() > LONGEST {
        return Err(MessageFault::TooLong { bytes: bytes.len() });
    }
    let MessageVersion { version } = serde_json::from_slice(bytes).map_err(malformed)?;
    if version != VERSION {
        return Err(MessageFault::OtherVersion { version });
    }
    let message: IncomingMessage<T> = serde_json::from_slice(bytes).map_err(malformed)?;
    Ok(message.body)
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that `map_err` takes")]
fn malformed(error: serde_json::Error) -> MessageFault {
    MessageFault::Malformed { why: error.to_string() }
}

impl Heartbeat {
    /// Whether this beat is newer than one with `sequence` from an agent started at `started`.
    pub(crate) fn follows(&self, started: Nanos, sequence: u64) -> bool {
        (self.started_ns, self.sequence) > (started.0, sequence)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{AgentAnswer, AgentOrder, Ask, Heartbeat, MessageFault, VERSION, decode, encode};

    #[test]
    fn a_message_comes_back_as_it_was() {
        let ask = Ask { epoch: 3, number: 9, order: AgentOrder::Describe };
        assert_eq!(decode::<Ask>(&encode(&ask)), Ok(ask));
    }

    #[test]
    fn another_version_is_named_whatever_its_body_holds() {
        let later = br#"{"version":2,"body":{"new":"world"}}"#;
        assert_eq!(decode::<Ask>(later), Err(MessageFault::OtherVersion { version: 2 }));
        let own = format!("{{\"version\":{VERSION},\"body\":17}}");
        assert!(matches!(decode::<Heartbeat>(own.as_bytes()), Err(MessageFault::Malformed { .. })));
    }

    #[test]
    fn a_message_beyond_the_longest_is_not_parsed() {
        let long = vec![b' '; super::LONGEST + 1];
        let bytes = long.len();
        assert_eq!(decode::<AgentAnswer>(&long), Err(MessageFault::TooLong { bytes }));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = decode::<Ask>(&bytes);
            let _ = decode::<Heartbeat>(&bytes);
            let _ = decode::<AgentAnswer>(&bytes);
        }

        #[test]
        fn a_mutated_message_is_read_or_refused(at in 0_usize..90, byte in any::<u8>()) {
            let run = "r1".to_owned().try_into().expect("sound");
            let order = AgentOrder::Measure { run, at_ns: 7 };
            let mut bytes = encode(&Ask { epoch: 1, number: 2, order });
            let at = at % bytes.len();
            bytes[at] = byte;
            let _ = decode::<Ask>(&bytes);
        }
    }
}
