//! The seam between the engine and storage.
//!
//! Everything above this crate sees storage as a [`Volume`] of named files, each a [`Device`] that
//! takes a [`Request`] and returns a [`Completion`]; time as a [`Clock`]; and concurrency as tasks
//! on one single-threaded [`Executor`]. Code above cannot tell whether it runs on a real disk,
//! memory in virtual time or an injected fault.

pub mod block;
mod buffer;
mod clock;
mod completion;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod error;
mod executor;
mod lookout;
mod memory;
mod noise;
mod notify;
mod remote;
mod request;
mod traced;
mod virtual_time;
mod volume;

pub use buffer::{ALIGNMENT, Buffer, SECTOR};
pub use clock::Clock;
pub use completion::{Completed, Completer, Completion, completion};
pub use error::DeviceError;
pub use executor::{Boxed, Executor, JoinHandle, Reactor, Runtime, Sleep};
pub use lookout::Lookout;
pub use memory::{FileImage, MemoryVolume, Service, ServiceWork, VolumeImage};
pub use noise::write_noise;
pub use notify::{Notified, Notify};
pub use remote::{Remote, RemoteEnd, RemoteOutcome};
pub use request::{Durability, Op, OpKind, Purpose, Request};
pub use traced::{Asked, Observation, Observer, TracedVolume};
pub use virtual_time::{Latency, VirtualReactor};
pub use volume::{Caps, Device, FileEntry, OpenMode, Pending, Volume};
