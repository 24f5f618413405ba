//! Captures the frames on an interface, passively.
#![expect(unsafe_code, reason = "system calls; each block has its argument")]

use std::ffi::CString;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use super::options::{check, length_of, set};

/// How long [`PacketSocket::receive`] waits for a frame.
const PATIENCE: libc::timeval = libc::timeval { tv_sec: 0, tv_usec: 200_000 };
/// Room for frames that arrive while others are processed.
const QUEUE_BYTES: libc::c_int = 4 << 20;
/// Offset of a VLAN tag in a frame: after both addresses.
const TAG_OFFSET: usize = 12;
/// The tag of IEEE 802.1Q, assumed if the kernel does not report which tag it removed.
const DOT1Q: u16 = 0x8100;

/// A socket that gets a copy of every frame of one interface. It sends nothing, and joins no group:
/// the card is set to pass all multicast frames.
#[derive(Debug)]
pub struct PacketSocket {
    socket: OwnedFd,
}

impl PacketSocket {
    /// Listens on the interface called `name`. Needs the right to use raw sockets.
    pub fn open(name: &str) -> io::Result<Self> {
        let index = index(name)?;
        // SAFETY: takes only integers. Protocol 0: no frame comes before the address is bound.
        let descriptor = check(unsafe {
            libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0)
        })?;
        // SAFETY: the call above returned this descriptor, so it is open and has no other owner.
        let socket = unsafe { OwnedFd::from_raw_fd(descriptor) };
        let all_groups = libc::packet_mreq {
            mr_ifindex: index,
            mr_type: short(libc::PACKET_MR_ALLMULTI),
            mr_alen: 0,
            mr_address: [0; 8],
        };
        let one: libc::c_int = 1;
        set(&socket, libc::SOL_SOCKET, libc::SO_RCVTIMEO, &PATIENCE)?;
        set(&socket, libc::SOL_SOCKET, libc::SO_RCVBUF, &QUEUE_BYTES)?;
        set(&socket, libc::SOL_PACKET, libc::PACKET_AUXDATA, &one)?;
        set(&socket, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &all_groups)?;
        bind(&socket, index)?;
        Ok(Self { socket })
    }

    /// Replaces the contents of `frame` with the next frame, including the VLAN tag that the kernel
    /// may have removed; false if none came within a fifth of a second. Longer frames are truncated
    /// to the capacity of `frame`.
    pub fn receive(&self, frame: &mut Vec<u8>) -> io::Result<bool> {
        let mut control = [0_u64; 16];
        frame.clear();
        let mut part =
            libc::iovec { iov_base: frame.as_mut_ptr().cast(), iov_len: frame.capacity() };
        // SAFETY: all zeros is a valid header: no address, no parts, no control data.
        let mut message: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of::<[u64; 16]>() as _;
        // SAFETY: the header points to the frame's spare capacity and to `control`, both alive and
        // of the stated length.
        let received = unsafe { libc::recvmsg(self.socket.as_raw_fd(), &raw mut message, 0) };
        let Ok(length) = usize::try_from(received) else {
            return none_yet(io::Error::last_os_error());
        };
        // SAFETY: the kernel has written that many bytes, and no more than there was room for.
        unsafe { frame.set_len(length) };
        if let Some((kind, tag)) = removed_tag(&message)
            && frame.len() >= TAG_OFFSET
        {
            let tag = [kind.to_be_bytes(), tag.to_be_bytes()].concat();
            frame.splice(TAG_OFFSET..TAG_OFFSET, tag);
        }
        Ok(true)
    }

    /// Frames lost since the last call because they came faster than they were processed.
    pub fn lost(&self) -> io::Result<u64> {
        let mut figures = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
        let mut length = length_of::<libc::tpacket_stats>();
        // SAFETY: both pointers are to live values, and `length` is the size of the first.
        check(unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                (&raw mut figures).cast(),
                &raw mut length,
            )
        })?;
        Ok(u64::from(figures.tp_drops))
    }
}

/// A constant of the kernel's interface in the width that its structures have.
fn short(constant: libc::c_int) -> libc::c_ushort {
    libc::c_ushort::try_from(constant).expect("the constants used here are small")
}

fn index(name: &str) -> io::Result<libc::c_int> {
    let name = CString::new(name)?;
    // SAFETY: the pointer is to a live string that ends with a zero byte.
    let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
    match libc::c_int::try_from(index) {
        Ok(0) | Err(_) => Err(io::Error::last_os_error()),
        Ok(index) => Ok(index),
    }
}

/// Admits frames of the interface; only Ethernet frames have the addresses that matter.
fn bind(socket: &OwnedFd, index: libc::c_int) -> io::Result<()> {
    let mut address = libc::sockaddr_ll {
        sll_family: short(libc::AF_PACKET),
        sll_protocol: short(libc::ETH_P_ALL).to_be(),
        sll_ifindex: index,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    let mut length = length_of::<libc::sockaddr_ll>();
    let place = (&raw mut address).cast();
    // SAFETY: the pointer is to a live address of `length` bytes, which the call only reads.
    check(unsafe { libc::bind(socket.as_raw_fd(), place, length) })?;
    // SAFETY: both pointers are to live values, and `length` is the size of the first.
    check(unsafe { libc::getsockname(socket.as_raw_fd(), place, &raw mut length) })?;
    if matches!(address.sll_hatype, libc::ARPHRD_ETHER | libc::ARPHRD_LOOPBACK) {
        return Ok(());
    }
    let problem = "it is no Ethernet interface";
    Err(io::Error::new(io::ErrorKind::Unsupported, problem))
}

fn none_yet(error: io::Error) -> io::Result<bool> {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(false),
        _ => Err(error),
    }
}

/// Kind and content of the VLAN tag that the kernel took off the frame.
fn removed_tag(message: &libc::msghdr) -> Option<(u16, u16)> {
    // SAFETY: the kernel has filled the header, so its control data are whole.
    let mut part = unsafe { libc::CMSG_FIRSTHDR(message) };
    while !part.is_null() {
        // SAFETY: it is not null, so it points to a header within the control data.
        let header = unsafe { *part };
        if (header.cmsg_level, header.cmsg_type) == (libc::SOL_PACKET, libc::PACKET_AUXDATA) {
            // SAFETY: data of this kind are one such structure, which may lie unaligned.
            let extra =
                unsafe { libc::CMSG_DATA(part).cast::<libc::tpacket_auxdata>().read_unaligned() };
            let is_tagged = extra.tp_status & libc::TP_STATUS_VLAN_VALID != 0;
            let is_named = extra.tp_status & libc::TP_STATUS_VLAN_TPID_VALID != 0;
            let kind = if is_named { extra.tp_vlan_tpid } else { DOT1Q };
            return is_tagged.then_some((kind, extra.tp_vlan_tci));
        }
        // SAFETY: both point into the same control data.
        part = unsafe { libc::CMSG_NXTHDR(message, part) };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::PacketSocket;

    #[test]
    fn an_interface_that_is_not_there_is_an_error() {
        assert!(PacketSocket::open("plimsoll-none").is_err());
        assert!(PacketSocket::open("a\0b").is_err());
    }
}
