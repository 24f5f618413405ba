//! One connection of an iSCSI target as a state machine: PDUs in, PDUs and work on the volume out.
//!
//! [`TargetSession`] logs an initiator in (CHAP, one-way or mutual), answers what it can from the
//! description of the volume, and hands reads and writes to its caller as [`ScsiWork`]. No sockets,
//! no clock, no threads, no randomness: the caller draws the challenge.

mod scsi;
mod session;

pub use scsi::{ScsiWork, ServedDisk, WorkError};
pub use session::{TargetAccount, TargetOffer, TargetSession, TargetStep};
