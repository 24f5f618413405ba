//! One run on many hosts: membership, the common start, lost hosts, and the verdict on all journals
//! together.
//!
//! Everything here is a function of messages and time: no socket, no file, no clock. A
//! [`FleetController`] and its [`Agent`]s take [`Heartbeat`]s, [`Ask`]s and [`AgentAnswer`]s in and
//! give effects out, so that the same code runs over a real network and over a lossy one in virtual
//! time.

mod agent;
mod assembly;
mod clock;
mod controller;
mod identity;
mod journal;
mod live;
mod membership;
mod merge;
mod message;
mod nanos;
mod order;
mod outbox;
mod period;
mod record;
mod stage;
mod sweep;
mod timing;
mod topology;
mod verdict;

pub use agent::{Agent, AgentEffect, AgentSurroundings, ChildReport, KeptJob};
pub use assembly::{Assembly, PieceFault};
pub use clock::{ClockOffset, RoundTrip};
pub use controller::{ControllerEffect, FleetController, HostNow, HostWork};
pub use identity::{AgentId, IdentityError, RunId};
pub use journal::{FleetEvent, FleetLine, LossCause};
pub use live::LiveLoad;
pub use merge::{FleetSeries, merged};
pub use message::{
    AgentAnswer, AgentJob, AgentOrder, AgentStep, Ask, CopyReport, Heartbeat, HostFacts,
    MessageFault, decode, encode,
};
pub(crate) use order::duty::last_part;
pub use order::duty::{CopySide, Duty, DutyAct};
pub use order::event::{CopySet, EventAction, PlannedEvent, TakeOver};
pub use order::placement::LoadChange;
pub use order::{FleetOrder, HostOrder, OrderError};
pub use outbox::{JournalOutbox, JournalPiece};
pub use period::Period;
pub use record::{Absence, FleetLoadError, FleetRecord, HostPart};
pub use stage::FleetStage;
pub use sweep::{
    ItemStep, ResultStep, SimulationItem, SimulationOutcome, SimulationResult, SweepLedger,
    item_step,
};
pub use timing::{HEARTBEAT, Timing};
pub use topology::SharedDisk;
pub use verdict::{FleetFinding, FleetVerdict, HostVerdict, PeriodVerdict, judge};

/// Name of the fleet's own journal in the folder of a fleet run.
pub const FLEET_JOURNAL: &str = "fleet.jsonl";

/// Name of the folder that holds one folder per host, beside [`FLEET_JOURNAL`].
pub const HOSTS: &str = "hosts";
