//! From a size to things with names: servers, disks, volumes, databases and where each is mounted.
//!
//! [`size`] takes a deployment all the way: the arithmetic of `sizing`, the copies laid out and
//! their failures simulated, and the objections of both. Everything made from a [`Provision`]
//! (scripts, tables, the test plan) is a view of it, so the test matches the build.

pub mod array;
mod build;
mod capacity;
pub mod export;
mod failures;
mod hardware;
pub mod layout;
mod lighter;
mod markdown;
mod metacache;
mod model;
mod names;
pub mod pool;
mod requirements;
mod simulate;
mod size;
mod test_plan;

#[cfg(test)]
pub(crate) mod tests;

pub use build::provision;
pub use capacity::Capacity;
pub use failures::{Burden, QUORUM, REPLAYED, quorum_word};
pub use hardware::Places;
pub(crate) use hardware::{Megacycles, MetaCacheDisks};
pub use lighter::{LighterDesign, changes_to_try, disk_load, largest_on_sale};
pub use model::{
    ActiveLimits, Build, Database, DatabaseCopy, Group, Provision, ProvisionError, Purpose,
    Requirements, Server, Volume,
};
pub(crate) use model::{NetworkCompression, Prefixes};
pub use names::NameError;
pub use simulate::{Simulated, simulate};
pub use size::{size, size_unadvised, survived_failures};
pub use test_plan::{PlanError, TestPlan, mailboxes_section};
