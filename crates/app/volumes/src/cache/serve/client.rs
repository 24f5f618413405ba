//! Adapts client connections to the server's wires.

use std::cell::Cell;
use std::io::{self, IoSlice, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::task::{Context, Poll};

use device_os::{Readiness, Watch, Watcher};
use export::{Wire, WireError};

use super::presence::ClientPresence;

/// Kernel send buffer for a client on this machine: 64 reads of 32 KiB. TCP sizes its own. `cargo
/// xtask bench cache` shows the benefit.
const ROOM_TO_SEND: i32 = 2 << 20;

/// Socket of a connected client.
pub(super) enum ClientSocket {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl ClientSocket {
    pub(super) const fn is_tcp(&self) -> bool {
        matches!(self, Self::Tcp(_))
    }
}

/// A connected client, as the wire that the NBD server reads and writes.
pub(super) struct SocketWire {
    socket: ClientSocket,
    watch: Watch,
    presence: Rc<ClientPresence>,
    /// `true` if the last read took everything that had arrived.
    is_drained: Cell<bool>,
}

impl SocketWire {
    /// Makes `socket` non-blocking and wraps it.
    pub(super) fn new(socket: ClientSocket, watcher: &Watcher) -> io::Result<Self> {
        let watch = match &socket {
            ClientSocket::Unix(stream) => {
                stream.set_nonblocking(true)?;
                watcher.watch_with_room(stream.as_fd().try_clone_to_owned()?, ROOM_TO_SEND)
            }
            ClientSocket::Tcp(stream) => {
                stream.set_nonblocking(true)?;
                watcher.watch(stream.as_fd().try_clone_to_owned()?)
            }
        };
        Ok(Self { socket, watch, presence: Rc::default(), is_drained: Cell::new(false) })
    }

    pub(super) fn presence(&self) -> Rc<ClientPresence> {
        Rc::clone(&self.presence)
    }

    fn moved(
        &self,
        context: &Context<'_>,
        readiness: Readiness,
        mut step: impl FnMut() -> io::Result<usize>,
    ) -> Poll<Result<usize, WireError>> {
        loop {
            match step() {
                Ok(bytes) => return Poll::Ready(Ok(bytes)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.watch.wake_when(readiness, context);
                    return Poll::Pending;
                }
                Err(error) => return Poll::Ready(Err(WireError(error.to_string()))),
            }
        }
    }
}

/// A watch also keeps the socket open, until the socket is shut down.
impl Drop for SocketWire {
    fn drop(&mut self) {
        // The client may already be gone.
        let _ = match &self.socket {
            ClientSocket::Unix(stream) => stream.shutdown(Shutdown::Both),
            ClientSocket::Tcp(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}

impl Wire for SocketWire {
    fn client_left(&self) {
        self.presence.leave();
    }

    fn poll_receive(
        &self,
        context: &mut Context<'_>,
        room: &mut [u8],
    ) -> Poll<Result<usize, WireError>> {
        if self.is_drained.take() {
            self.watch.wake_when(Readiness::Readable, context);
            return Poll::Pending;
        }
        let received = self.moved(context, Readiness::Readable, || match &self.socket {
            ClientSocket::Unix(stream) => (&mut &*stream).read(room),
            ClientSocket::Tcp(stream) => (&mut &*stream).read(room),
        });
        if let Poll::Ready(Ok(bytes)) = &received {
            self.is_drained.set((1..room.len()).contains(bytes));
        }
        received
    }

    fn poll_send(
        &self,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<Result<usize, WireError>> {
        self.moved(context, Readiness::Writable, || match &self.socket {
            ClientSocket::Unix(stream) => (&mut &*stream).write_vectored(parts),
            ClientSocket::Tcp(stream) => (&mut &*stream).write_vectored(parts),
        })
    }
}
