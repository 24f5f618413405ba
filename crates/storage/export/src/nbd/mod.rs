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
pub(crate) use reply::NbdReply;
pub(crate) use request::NbdRequest;
pub(crate) use session::{Session, SessionEvent};
