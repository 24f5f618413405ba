//! The server's side of NBD (NetworkBlockDevice/nbd, doc/proto.md): fixed newstyle negotiation,
//! then requests and replies.

mod fields;
mod negotiation;
mod numbers;
mod options;
mod reply;
mod request;
mod session;

pub use reply::{NbdReply, ReplyTicket};
pub use request::{Command, NbdRequest};
pub use session::{ExportOffer, Limits, Session, SessionEnd, SessionEvent, Step};
