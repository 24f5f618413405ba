//! Options of sockets that the standard library does not set.
#![expect(unsafe_code, reason = "system calls; each block has its argument")]

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};

/// Turns the negative result of a system call into its error.
pub(super) fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}

pub(super) fn length_of<T>() -> libc::socklen_t {
    libc::socklen_t::try_from(size_of::<T>()).expect("structures of the kernel are small")
}

pub(super) fn set<T: Copy>(
    socket: &OwnedFd,
    level: libc::c_int,
    option: libc::c_int,
    value: &T,
) -> io::Result<()> {
    let length = length_of::<T>();
    let value: *const T = value;
    // SAFETY: the pointer is to a live value of `length` bytes, which the call only reads.
    let result =
        unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, value.cast(), length) };
    check(result).map(drop)
}

/// Sets how many bytes the kernel buffers for a peer that is slow to read them. Exceeding the
/// system limit needs a privilege; without it, the limit applies.
pub(super) fn set_room_to_send(socket: &OwnedFd, bytes: i32) -> io::Result<()> {
    set(socket, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &bytes)
        .or_else(|_| set(socket, libc::SOL_SOCKET, libc::SO_SNDBUF, &bytes))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::net::UnixStream;

    use super::set_room_to_send;

    /// Bytes that a socket accepts while its peer reads none.
    fn taken(room: Option<i32>) -> usize {
        let (mut sender, _receiver) = UnixStream::pair().expect("a pair");
        if let Some(room) = room {
            let twin = sender.try_clone().expect("a descriptor");
            set_room_to_send(&twin.into(), room).expect("any room may be asked for");
        }
        sender.set_nonblocking(true).expect("a socket");
        let part = vec![0; 32 << 10];
        let mut taken = 0;
        while let Ok(bytes) = sender.write(&part) {
            taken += bytes;
        }
        taken
    }

    #[test]
    fn a_socket_with_more_room_takes_more_bytes() {
        assert!(taken(Some(64 << 10)) < taken(None));
        assert!(taken(Some(256 << 10)) > taken(Some(64 << 10)));
    }
}
