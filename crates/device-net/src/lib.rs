//! Block devices over a wire: exports of NBD servers, to be tried before any system attaches them.
//!
//! The client is our own, since completions have to arrive at the reactor of the thread that asked:
//! one thread sends, one receives, and the reactor is told by [`device::Remote`].

mod address;
mod connection;
mod error;
mod export;
mod handshake;
mod protocol;
mod transport;

pub use address::{NbdAddress, NbdPlace};
pub use error::NbdError;
pub use export::connect;

#[cfg(test)]
#[cfg(unix)]
mod tests;
