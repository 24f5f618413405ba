//! Sockets: addresses and listeners.

use std::fmt;
use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use host::crew;

use super::client::ClientSocket;
use super::mailbox::{DaemonMessage, Slot};
use console::error::CommandError;

/// Prefix of the path of a socket.
const UNIX: &str = "unix:";

/// Address at which clients connect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ListenAddress {
    Unix(PathBuf),
    Tcp(SocketAddr),
}

impl ListenAddress {
    /// Parses an address. One reachable from other machines is refused without TLS: the plaintext
    /// protocol lets anyone on the path read and change the volumes.
    pub(super) fn parse(text: &str, has_tls: bool) -> Result<Self, CommandError> {
        if let Some(path) = text.strip_prefix(UNIX) {
            return Ok(Self::Unix(PathBuf::from(path)));
        }
        let address: SocketAddr = text.parse().map_err(|_| {
            CommandError::new(format!(
                "{text}: is no address to listen at; give unix:PATH or one such as 127.0.0.1:10809"
            ))
        })?;
        if !has_tls && !address.ip().is_loopback() {
            return Err(CommandError::new(format!(
                "{text}: is reached from other machines, and this server has no TLS; give a \
                 certificate (--tls-cert), or listen at unix:PATH or 127.0.0.1"
            )));
        }
        Ok(Self::Tcp(address))
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "nbd+unix:///NAME?socket={}", path.display()),
            Self::Tcp(address) => write!(f, "nbd://{address}/NAME"),
        }
    }
}

/// A socket that listens.
pub(super) enum Listener {
    Unix(UnixListener),
    Tcp(TcpListener),
}

/// Socket path, removed on drop.
pub(super) struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        // The file may already be gone.
        let _ = fs::remove_file(&self.0);
    }
}

/// Binds the socket at `path`, replacing one left behind by a killed server.
pub(super) fn bind_unix(path: &Path) -> Result<(UnixListener, SocketFile), CommandError> {
    let is_socket = fs::metadata(path).is_ok_and(|found| found.file_type().is_socket());
    if is_socket && UnixStream::connect(path).is_err() {
        let _ = fs::remove_file(path);
    }
    let bound = UnixListener::bind(path).map_err(|error| {
        CommandError::new(format!(
            "{}: cannot listen: {error}; name a path in a folder that you may write to, where \
             nothing listens",
            path.display()
        ))
    })?;
    Ok((bound, SocketFile(path.to_owned())))
}

impl Listener {
    /// Binds an address.
    pub(super) fn bind(
        address: &ListenAddress,
    ) -> Result<(Self, Option<SocketFile>), CommandError> {
        match address {
            ListenAddress::Unix(path) => {
                let (bound, file) = bind_unix(path)?;
                Ok((Self::Unix(bound), Some(file)))
            }
            ListenAddress::Tcp(address) => {
                let bound = TcpListener::bind(address).map_err(|error| {
                    CommandError::new(format!(
                        "{address}: cannot listen: {error}; choose another port"
                    ))
                })?;
                Ok((Self::Tcp(bound), None))
            }
        }
    }

    /// A socket that the service manager opened.
    pub(super) fn inherited(socket: OwnedFd, has_tls: bool) -> Result<Self, CommandError> {
        let tcp = TcpListener::from(socket);
        match tcp.local_addr() {
            Ok(address) => {
                ListenAddress::parse(&address.to_string(), has_tls).map(|_| Self::Tcp(tcp))
            }
            Err(_) => Ok(Self::Unix(UnixListener::from(OwnedFd::from(tcp)))),
        }
    }

    fn accept(&self) -> io::Result<ClientSocket> {
        match self {
            Self::Unix(listener) => listener.accept().map(|(stream, _)| ClientSocket::Unix(stream)),
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nodelay(true)?;
                Ok(ClientSocket::Tcp(stream))
            }
        }
    }

    /// Accepts clients on a thread and posts them.
    pub(super) fn start(self, slot: Slot) -> Result<(), CommandError> {
        crew::start_thread("clients", move || {
            loop {
                match self.accept() {
                    Ok(client) => slot.post(DaemonMessage::Client(client)),
                    // Out of descriptors, or the client has gone: neither ends the server.
                    Err(_) => std::thread::sleep(std::time::Duration::from_millis(100)),
                }
            }
        })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::ListenAddress;

    #[test]
    fn only_this_machine_reaches_an_address() {
        for (text, shown) in [
            ("unix:/run/nbd.sock", "nbd+unix:///NAME?socket=/run/nbd.sock"),
            ("127.0.0.1:10809", "nbd://127.0.0.1:10809/NAME"),
            ("[::1]:10809", "nbd://[::1]:10809/NAME"),
        ] {
            assert_eq!(ListenAddress::parse(text, false).unwrap().to_string(), shown);
        }
        for (text, said) in [
            ("0.0.0.0:10809", "has no TLS"),
            ("[::]:10809", "has no TLS"),
            ("10.0.0.5:10809", "has no TLS"),
            ("localhost", "no address to listen at"),
        ] {
            let refused = ListenAddress::parse(text, false).unwrap_err();
            assert!(refused.told().unwrap().0.contains(said), "{text}");
        }
        assert!(ListenAddress::parse("10.0.0.5:10809", true).is_ok());
    }
}
