//! The seeded mailbox transaction mix: no handle, no clock.
//!
//! [`Content`] says what every message of a database holds, as a pure function of seed, database,
//! message and version, so that nothing read back has to be taken on trust. A [`Workload`] says
//! what one session does next, and [`MailMix`] is the first. None knows how fast the storage is.

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
