//! A deployment in virtual time: every host with its own or shared arrays, failures at their times,
//! and how each host fares before, during and after them.
//!
//! [`timeline`] is policy: a pure function from layout and [`Occurrence`]s to [`Stretch`]es, in
//! which every copy of every database has one duty. [`play`] is physics: it plays the stretches on
//! simulated arrays by the operation model, one simulation for each group of hosts that share an
//! array, all groups in parallel. docs/deployments.md states the model.

mod deployment;
mod figures;
#[cfg(test)]
mod fixture;
mod group;
mod judge;
mod occurrence;
mod play;
mod policy;
mod replay;
mod stage;

pub use deployment::{
    PlayedCopy, PlayedDatabase, PlayedDeployment, PlayedHost, PlayedRules, ShapeError,
};
pub use figures::{LimitingPart, UsageShares};
pub use group::{HostGroup, groups};
pub use judge::{Breach, CopyRow, HostRow, Judgement, Limits, RecoveryFigures, RowFigures, judge};
pub use occurrence::{Happening, Occurrence, OccurrenceError};
pub use play::{GroupOutcome, PieceSpan, PlayListener, PlayOrder, play};
pub use policy::{Duty, Stretch, longest_interruption, timeline};
pub use replay::replay_of;
