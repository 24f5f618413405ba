//! Simulated storage: disks, flash, RAID, controller caches and links in virtual time.
//!
//! An array is a state machine (`array.rs`) that is given the time; [`SimulatedArray`] puts it
//! behind the seam, so that the database engine runs on it unchanged. docs/method.md lists the
//! modelled, the fitted and the unknown parts. The same seed gives the same requests, times and
//! bytes on every machine.

mod array;
mod cache;
pub mod calibrate;
mod description;
mod disk;
mod file_system;
mod flash;
mod floor;
mod guarantee;
mod host;
mod host_cache;
mod limit;
mod link;
mod model;
mod neighbours;
pub mod operations;
mod places;
mod raid;
mod servers;
mod service;
mod settling;
mod slots;

pub use description::{ArrayDescription, DescriptionError, HostCacheSection};
pub use host::HostProcessors;
pub use host_cache::HostCacheCounters;
pub use places::{room_of_database, room_of_image};
pub use service::{ArrayShare, SimulatedArray};
pub use settling::MemorySettling;
