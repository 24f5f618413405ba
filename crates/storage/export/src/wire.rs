//! A client's stream of bytes, as the servers of all protocols see it.

use std::fmt;
use std::future::poll_fn;
use std::io::IoSlice;
use std::task::{Context, Poll};

/// Why bytes cannot move.
#[derive(Debug)]
pub struct WireError(pub String);

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WireError {}

/// A two-way byte stream, such as a socket. One task receives and one sends.
pub trait Wire {
    /// Receives some bytes; 0 at the end of the stream.
    fn poll_receive(
        &self,
        context: &mut Context<'_>,
        room: &mut [u8],
    ) -> Poll<Result<usize, WireError>>;

    /// Encrypts all further traffic, in both directions, as the server.
    fn start_tls(&self) -> Result<(), WireError> {
        Err(WireError("this stream cannot be encrypted".to_owned()))
    }

    /// Called once the client has left: it sees no more replies, and may send its requests
    /// elsewhere.
    fn client_left(&self) {}

    /// Sends some bytes of `parts`, in their order. A call after one that had to wait begins with
    /// the same bytes.
    fn poll_send(
        &self,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<Result<usize, WireError>>;
}

/// Sends all bytes of `parts`, in their order.
pub async fn send_whole(wire: &dyn Wire, parts: &mut [IoSlice<'_>]) -> Result<(), WireError> {
    let mut rest = parts;
    // Skips empty parts.
    IoSlice::advance_slices(&mut rest, 0);
    while !rest.is_empty() {
        match poll_fn(|context| wire.poll_send(context, rest)).await? {
            0 => return Err(WireError("the client takes no more bytes".to_owned())),
            sent => IoSlice::advance_slices(&mut rest, sent),
        }
    }
    Ok(())
}
