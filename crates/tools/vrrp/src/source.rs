//! Masters heard for each group, and silent users of virtual addresses.

use std::collections::BTreeSet;
use std::net::IpAddr;

use crate::advert::Advert;
use crate::router::VirtualMac;
use crate::segment::Segment;

/// A router that was heard as master of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The latest advertisement.
    pub last: Advert,
    /// Time of the first advertisement, on the clock of [`Advert::nanoseconds`].
    pub first_nanoseconds: u64,
    /// Number of advertisements heard.
    pub adverts: u64,
    /// Number of advertisements that other routers accept.
    pub believed: u64,
    /// Number of advertisements with a wrong checksum.
    pub damaged: u64,
    /// Number of advertisements that had passed through a router: their time to live was not 255.
    pub routed: u64,
}

/// A virtual MAC address that claimed IP addresses although no router advertised its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Silent {
    /// Network segment.
    pub segment: Segment,
    /// The virtual MAC address.
    pub mac: VirtualMac,
    /// The IP addresses that it claimed.
    pub addresses: BTreeSet<IpAddr>,
}
