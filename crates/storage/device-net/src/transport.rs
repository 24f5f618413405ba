//! A connected socket, TCP or Unix.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, TcpStream, ToSocketAddrs as _};
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};

/// Longest wait for a connection and for each answer before requests begin.
const PATIENCE: Duration = Duration::from_secs(10);

/// A peer that has been silent for this long is probed.
const SILENCE: Duration = Duration::from_secs(5);

/// Interval between two probes.
const BETWEEN_QUESTIONS: Duration = Duration::from_secs(2);

/// Number of unanswered probes after which a peer counts as lost.
const QUESTIONS: u32 = 3;

/// See the module.
pub(crate) enum WireStream {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
}

impl WireStream {
    /// Connects to a server over the network, with a short timeout for its answers.
    pub(crate) fn tcp(host: &str, port: u16) -> io::Result<Self> {
        let stream = reach(host, port)?;
        stream.set_nodelay(true)?;
        notice_loss(&stream)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self::Tcp(stream))
    }

    /// Connects through a Unix socket, with the same timeout.
    #[cfg(unix)]
    pub(crate) fn unix(path: &Path) -> io::Result<Self> {
        let stream = UnixStream::connect(path)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self::Unix(stream))
    }

    /// Always fails: this system has no Unix sockets.
    #[cfg(not(unix))]
    pub(crate) fn unix(_path: &Path) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// The local address of the connection; `None` for a socket in the file system.
    pub(crate) fn begin(&self) -> Option<IpAddr> {
        match self {
            Self::Tcp(stream) => stream.local_addr().ok().map(|address| address.ip()),
            #[cfg(unix)]
            Self::Unix(_) => None,
        }
    }

    /// Removes the timeout for answers: from now on the caller decides when to give up.
    pub(crate) fn wait_for_ever(&self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.set_read_timeout(None),
            #[cfg(unix)]
            Self::Unix(stream) => stream.set_read_timeout(None),
        }
    }

    /// Another handle of the same socket, for another thread.
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Tcp(stream) => Self::Tcp(stream.try_clone()?),
            #[cfg(unix)]
            Self::Unix(stream) => Self::Unix(stream.try_clone()?),
        })
    }

    /// Ends the connection for both threads.
    pub(crate) fn shut(&self) {
        // The peer may have closed the connection already.
        let _ = match self {
            Self::Tcp(stream) => stream.shutdown(Shutdown::Both),
            #[cfg(unix)]
            Self::Unix(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}

/// Breaks the connection if the peer becomes unreachable; otherwise a cut cable would look like
/// slow storage. A peer that is merely slow stays connected, since its kernel answers the
/// keepalives.
fn notice_loss(stream: &TcpStream) -> io::Result<()> {
    let socket = SockRef::from(stream);
    let alive = TcpKeepalive::new().with_time(SILENCE).with_interval(BETWEEN_QUESTIONS);
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(Some(SILENCE + BETWEEN_QUESTIONS * QUESTIONS))?;
    let counted = alive.clone().with_retries(QUESTIONS);
    // Windows before 10, version 1703 (such as Server 2016) and Wine use a fixed number of retries.
    socket.set_tcp_keepalive(&counted).or_else(|_| socket.set_tcp_keepalive(&alive))
}

/// Connects to the first address of the host that answers.
fn reach(host: &str, port: u16) -> io::Result<TcpStream> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

impl Read for WireStream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(bytes),
            #[cfg(unix)]
            Self::Unix(stream) => stream.read(bytes),
        }
    }
}

impl Write for WireStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(bytes),
            #[cfg(unix)]
            Self::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
