//! Exports of NBD servers.

mod address;
mod connection;
mod error;
mod export;
mod handshake;
mod protocol;

pub use address::NbdAddress;
pub use error::NbdError;
pub use export::connect;

#[cfg(test)]
#[cfg(unix)]
mod tests;
