//! Scope in which group ids must differ: a network segment and an address family.

use std::net::IpAddr;

/// A network segment in which ids must differ: an interface of the capture and a VLAN.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Segment {
    /// Number of the interface within the capture.
    pub interface: u32,
    /// VLAN tags, outermost first; empty if frames carry none.
    pub vlans: Vec<u16>,
}

/// IPv4 or IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

impl Family {
    /// The family of `address`.
    pub(crate) fn of(address: IpAddr) -> Self {
        if address.is_ipv4() { Self::V4 } else { Self::V6 }
    }
}
