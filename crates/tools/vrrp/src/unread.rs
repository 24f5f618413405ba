//! Frames not understood that may concern redundant routers.

use std::fmt;

use crate::advert::Protocol;

/// Why a frame was not understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unread {
    /// The frame or its IP header is cut off or damaged.
    Header,
    /// The frame has more VLAN tags than are parsed.
    Tags,
    /// The frame is encrypted with `MACsec`.
    Encrypted,
    /// VRRP or CARP, cut off or fragmented.
    CutVrrp,
    /// Sent to the address of VRRP inside `IPsec`.
    ProtectedVrrp,
    /// VRRP of an unknown version or type.
    VrrpVersion {
        /// High half of the first byte.
        version: u8,
        /// Low half of the first byte.
        kind: u8,
    },
    /// VRRP whose length contradicts its number of addresses.
    VrrpLength {
        /// Protocol and version.
        protocol: Protocol,
        /// The id in the packet.
        id: u8,
    },
    /// HSRP or GLBP, cut off or fragmented.
    CutHsrp,
    /// HSRP of an unknown version, operation or state.
    Hsrp,
    /// GLBP, which is not decoded.
    Glbp {
        /// The group in the packet, if the packet is long enough.
        group: Option<u16>,
    },
    /// From one sender more than the maximum kept for a group.
    Senders,
    /// The frame has an unsupported link layer.
    LinkLayer {
        /// Number of the link type.
        link: i32,
    },
    /// The capture records neither the time nor the segment.
    Undated,
    /// The capture ends within the frame.
    CutCapture,
    /// The system dropped the frame.
    Dropped,
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header => f.write_str("cut off or damaged before the end of the IP header"),
            Self::Tags => f.write_str("more than three VLAN tags"),
            Self::Encrypted => f.write_str("encrypted by MACsec"),
            Self::CutVrrp => f.write_str("VRRP or CARP, cut off or fragmented"),
            Self::ProtectedVrrp => f.write_str("VRRP inside IPsec"),
            Self::VrrpVersion { version, kind } => {
                write!(f, "VRRP version {version} type {kind}, which is not known")
            }
            Self::VrrpLength { protocol, id } => {
                write!(f, "{protocol} id {id}, whose length contradicts its number of addresses")
            }
            Self::CutHsrp => f.write_str("HSRP or GLBP, cut off or fragmented"),
            Self::Hsrp => f.write_str("HSRP of an unknown version, operation or state"),
            Self::Glbp { group: Some(group) } => {
                write!(f, "GLBP group {group}; GLBP is not read")
            }
            Self::Glbp { group: None } => f.write_str("GLBP, which is not read"),
            Self::Senders => f.write_str("from more than 64 senders of one group"),
            Self::LinkLayer { link } => write!(f, "of link type {link}, which is not read"),
            Self::Undated => f.write_str("without a time or a described interface"),
            Self::CutCapture => f.write_str("the last one, within which the capture ends"),
            Self::Dropped => f.write_str("dropped by the system; fewer with a capture filter"),
        }
    }
}

/// What a packet says about redundant routers.
pub(crate) enum Heard<T> {
    /// An advertisement.
    Advert(T),
    /// Certainly not about routers.
    Nothing,
    /// May be about routers, but cannot be decoded.
    Unread(Unread),
}
