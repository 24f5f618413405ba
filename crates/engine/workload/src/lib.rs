//! The seeded mailbox transaction mix: no handle, no clock.
//!
//! [`Content`] defines every message of a database as a pure function of seed, database, message
//! and version, so that data read back can be verified. A [`Workload`] yields the next step of one
//! session; [`MailMix`] implements it. Neither knows how fast the storage is.

mod bench;
mod content;
mod ids;
mod mail_mix;
mod message;
mod record;
mod skew;

pub use bench::{MailboxLoad, MailboxOperation, Mailboxes};
pub use content::{Content, Pads};
pub use ids::{Ids, Place};
pub use mail_mix::{Commit, MailMix, Operation, Step, Workload};
pub use message::Message;
pub use record::{Mismatch, Part, Record};
