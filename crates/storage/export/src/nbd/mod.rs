//! The server's side of NBD (NetworkBlockDevice/nbd, doc/proto.md): fixed newstyle negotiation,
//! then requests and replies.

mod command;
mod fields;
mod negotiation;
mod numbers;
mod offer;
mod options;
mod reply;
mod request;
mod session;

pub use command::NbdCommand;
pub use offer::{ExportOffer, Limits, SessionEnd};
pub use reply::{NbdReply, ReplyTicket};
pub use request::NbdRequest;
pub use session::{Advance, Session, SessionEvent};
