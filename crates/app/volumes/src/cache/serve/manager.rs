//! Notifies the service manager of the server's state (`sd_notify(3)`).

use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Sends `state` to the manager, if there is one. A missing listener is no error: the server works
/// regardless.
pub(super) fn notify(state: &str) {
    let Some(path) = std::env::var_os("NOTIFY_SOCKET") else {
        return;
    };
    let text = path.to_string_lossy();
    let address = match text.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(&path),
    };
    if let (Ok(address), Ok(socket)) = (address, UnixDatagram::unbound()) {
        let _ = socket.send_to_addr(state.as_bytes(), &address);
    }
}
