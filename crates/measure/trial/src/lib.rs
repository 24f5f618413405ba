//! The instrument: prepare, open, warm, tune, measure, drain, check.
//!
//! One [`run::Group`] of databases belongs to one executor thread. Groups share nothing but a
//! [`Coordinator`], which keeps them in phase, and the sinks that their events go to. Nothing here
//! prints, opens a file by itself or asks for the time: volumes, clock and sinks are given.

pub mod bounds;
pub mod commits;
pub mod contents;
mod coordinator;
mod countdown;
mod host_sampler;
mod in_flight;
mod issue_recorder;
mod line;
mod load_steps;
mod location;
mod longest;
pub mod manifest;
pub mod messages;
mod meter;
mod outlast;
mod pace;
pub mod patience;
mod policy;
mod sampler;
mod settings;
mod sums;
#[cfg(test)]
mod testing;
mod tune;
mod worker;
mod write_probe;

pub mod prepare;
pub mod room;
pub mod run;

use std::rc::Rc;

pub use coordinator::{Coordinator, Member, Stop};
pub use host_sampler::HostSampler;
pub use line::{LineAdvice, TriedLoad, loads_left, next_load};
pub use load_steps::{LoadStep, LoadSteps};
pub use location::{CopyFolder, Location};
pub use pace::{enough_iops, pace_of};
pub use policy::{held_from_start, sessions_of, share_of_highest};
pub use settings::{record_settings, test_type};
pub use tune::{Advice, SearchGoal, TuneStep, advise, by_sessions};
pub use worker::ProcessorTime;
pub use write_probe::{ProbeWatch, WriteProbe, probe_writes};

/// Receives events. It must not block: it is called between two polls of tasks.
pub type Sink<T> = Rc<dyn Fn(T)>;
