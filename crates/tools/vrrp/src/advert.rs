//! The contents of one advertisement of a router.

use std::fmt;
use std::net::IpAddr;

use crate::segment::{Family, Segment};

/// Redundancy protocols of routers. Equal ids in two protocols clash only if the protocols share a
/// virtual link-layer address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protocol {
    /// VRRP version 2, RFC 3768.
    Vrrp2,
    /// VRRP version 3, RFC 9568.
    Vrrp3,
    /// CARP, as implemented by the BSDs, ucarp and `LoadMaster`.
    Carp,
    /// HSRP version 1, RFC 2281.
    Hsrp1,
    /// HSRP version 2.
    Hsrp2,
}

impl Protocol {
    /// Whether the id is part of the shared virtual MAC address 00:00:5e:00:01:ID.
    pub(crate) fn shares_vrrp_ids(self) -> bool {
        matches!(self, Self::Vrrp2 | Self::Vrrp3 | Self::Carp)
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Vrrp2 => "VRRP 2",
            Self::Vrrp3 => "VRRP 3",
            Self::Carp => "CARP",
            Self::Hsrp1 => "HSRP 1",
            Self::Hsrp2 => "HSRP 2",
        })
    }
}

/// Identifies a group of routers: the same id in the same protocol on the same segment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupKey {
    /// Network segment.
    pub segment: Segment,
    /// IPv4 or IPv6, whose ids are separate.
    pub family: Family,
    /// The protocol.
    pub protocol: Protocol,
    /// Virtual router id, virtual host id or group.
    pub id: u16,
}

/// One advertisement of a master.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advert {
    /// The group that the sender belongs to.
    pub key: GroupKey,
    /// Time of arrival, since an arbitrary fixed moment.
    pub nanoseconds: u64,
    /// The sender's own address.
    pub source: IpAddr,
    /// The sender's MAC address, if the capture has it.
    pub mac: Option<[u8; 6]>,
    /// Priority, of which the highest wins; for CARP the skew, of which the lowest wins.
    pub priority: u32,
    /// Nanoseconds between two advertisements.
    pub interval_nanoseconds: u64,
    /// The virtual addresses that the sender answers for, sorted; empty for CARP, which does not
    /// list them.
    pub addresses: Vec<IpAddr>,
    /// Identification in the IP header; `None` if the sender does not number packets.
    pub identification: Option<u16>,
    /// Time to live or hop limit.
    pub hops: u8,
    /// Whether the checksum is correct.
    pub is_intact: bool,
    /// `false` if the sender resigns as master.
    pub is_master: bool,
}

impl Advert {
    /// Whether other routers accept the advertisement: it is intact and comes from the same
    /// segment.
    pub(crate) fn is_believed(&self) -> bool {
        self.is_intact && self.hops == u8::MAX
    }
}
