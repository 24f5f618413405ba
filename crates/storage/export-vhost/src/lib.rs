//! A volume as a block device of virtual machines on this host: virtio-blk over vhost-user. The
//! guest's requests lie in memory that it shares with the server, so that neither copies them
//! through a socket; hypervisors that offer nothing of the kind use NBD or iSCSI.
//!
//! [`negotiate`] answers a hypervisor over its socket, on its own thread, and orders rings to be
//! started and stopped. [`GuestRings`] obeys on the executor's thread, and performs the requests
//! of each ring on an [`export::ExportedVolume`]. The messages and the layout of rings are those of
//! the crates `vhost` and `virtio-queue`. No clock, no threads; the sockets are the caller's.

mod bell;
#[cfg(test)]
mod fixture;
mod guest_memory;
mod negotiation;
mod numbers;
mod offer;
mod request;
mod ring;
mod rings;

pub use bell::{GuestBells, GuestKick};
pub use negotiation::{NegotiationError, negotiate};
pub use offer::BlockOffer;
pub use rings::{GuestRings, RingOrder, RingStart};
