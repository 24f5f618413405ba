//! The seeded mailbox transaction mix: no handle, no clock.
//!
//! [`Content`] says what every message of a database holds, as a pure function of seed, database,
//! message and version, so that nothing read back has to be taken on trust. [`Session`] says what
//! one session does next. Neither knows how fast the storage is.

mod bench;
mod content;
mod ids;
mod message;
mod record;
mod session;

pub use bench::{MailboxLoad, MailboxOperation, Mailboxes};
pub use content::{Content, Pads};
pub use ids::{Ids, Place};
pub use message::Message;
pub use record::{Mismatch, Part, Record};
pub use session::{Commit, Operation, Session, Step};
