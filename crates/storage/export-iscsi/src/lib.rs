//! One connection of an iSCSI target as a state machine: PDUs in, PDUs and work on the volume out.
//!
//! [`serve_initiator`] serves a connection on volumes, over a wire that its caller brings. Below,
//! `TargetSession` logs an initiator in (CHAP, one-way or mutual), answers what it can from the
//! description of the volume, and hands reads and writes to its caller as `ScsiWork`. No sockets,
//! no clock, no threads, no randomness: the caller draws the challenge.

mod reservations;
mod scsi;
mod serve;
mod session;
#[cfg(test)]
mod tests;
mod unit;

pub use scsi::ServedDisk;
pub use serve::{InitiatorArrival, InitiatorEnd, TargetHall, serve_initiator};
pub use session::TargetOffer;
pub use unit::SharedUnit;
