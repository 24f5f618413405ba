//! Block devices served to others: any [`device::Device`] over NBD.
//!
//! `Session` is the protocol as a state machine, bytes in and events out. [`ExportedVolume`]
//! performs the requests on a device, whatever their alignment. [`serve_connection`] joins the two
//! over a [`Wire`]. No sockets, no clock, no threads.

mod budget;
mod connection;
mod locks;
mod nbd;
mod provision;
mod tally;
mod volume;
mod wire;

#[cfg(test)]
mod tests;

pub use budget::{MemoryBudget, Reserved};
pub use connection::{ConnectionEnd, ExportHall, serve_connection};
pub use nbd::{ExportOffer, Limits, NbdCommand, SessionEnd};
pub use provision::{Extent, Provisioned};
pub use tally::{DeviceTally, RequestSeries, Tallied};
pub use volume::{ExportedVolume, Performed, ReadBytes};
pub use wire::{Wire, WireError, send_whole};
