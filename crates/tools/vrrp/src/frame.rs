//! Decodes the bytes of a frame into an IP or ARP packet, through any VLAN tags.

use std::net::{IpAddr, Ipv4Addr};

use etherparse::{
    EtherType, LaxIpv4Slice, LaxIpv6Slice, LaxLinkExtSlice, LaxNetSlice, LaxSlicedPacket,
    TransportSlice,
};

use crate::segment::Segment;
use crate::unread::Unread;

/// Link-layer types, by their numbers in captures.
const ETHERNET: i32 = 1;
const RAW_IP: i32 = 101;
const LINUX_COOKED: i32 = 113;
const LINUX_COOKED_2: i32 = 276;

/// An IP packet.
pub(crate) struct IpPacket<'a> {
    pub segment: Segment,
    pub nanoseconds: u64,
    pub mac: Option<[u8; 6]>,
    pub source: IpAddr,
    pub destination: IpAddr,
    pub hops: u8,
    pub identification: Option<u16>,
    /// `false` for fragments and for frames that the capture truncated.
    pub is_whole: bool,
    pub number: u8,
    pub payload: &'a [u8],
    /// Port and payload of a UDP packet.
    pub udp: Option<(u16, &'a [u8])>,
}

/// An ARP claim to an address.
pub(crate) struct ArpClaim {
    pub segment: Segment,
    pub mac: [u8; 6],
    pub address: Ipv4Addr,
}

/// Contents of a frame.
pub(crate) enum Content<'a> {
    Ip(IpPacket<'a>),
    Arp(ArpClaim),
    /// May concern routers, but cannot be read.
    Unread(Unread),
    /// Does not concern routers.
    Other,
}

/// A frame as captured.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'a> {
    pub nanoseconds: u64,
    /// Number of the interface within the capture.
    pub interface: u32,
    /// Type of the link layer.
    pub link: i32,
    pub bytes: &'a [u8],
}

/// Whether frames of this link type can be read.
pub(crate) fn is_known(link: i32) -> bool {
    matches!(link, ETHERNET | RAW_IP | LINUX_COOKED | LINUX_COOKED_2)
}

/// Contents of `frame`.
pub(crate) fn open<'a>(frame: &Frame<'a>) -> Content<'a> {
    let Some((mac, packet)) = link_layer(frame) else {
        return Content::Unread(Unread::Header);
    };
    let vlans = packet.link_exts.iter().filter_map(|extension| match extension {
        LaxLinkExtSlice::Vlan(tag) => Some(tag.vlan_identifier().value()),
        LaxLinkExtSlice::Macsec(_) => None,
    });
    let segment = Segment { interface: frame.interface, vlans: vlans.collect() };
    let udp = match &packet.transport {
        Some(TransportSlice::Udp(udp)) => Some((udp.destination_port(), udp.payload())),
        _ => None,
    };
    let (head, payload) = match &packet.net {
        None => return without_net(&packet),
        Some(LaxNetSlice::Arp(arp)) => {
            return arp_claim(segment, arp.slice()).map_or(Content::Other, Content::Arp);
        }
        Some(LaxNetSlice::Ipv4(ip)) => (IpHead::of_v4(ip), ip.payload().clone()),
        Some(LaxNetSlice::Ipv6(ip)) => (IpHead::of_v6(ip), ip.payload().clone()),
    };
    Content::Ip(IpPacket {
        segment,
        nanoseconds: frame.nanoseconds,
        mac,
        source: head.source,
        destination: head.destination,
        hops: head.hops,
        identification: head.identification,
        is_whole: !payload.fragmented && !payload.incomplete,
        number: payload.ip_number.0,
        payload: payload.payload,
        udp,
    })
}

/// A frame in which neither IP nor ARP was found.
fn without_net<'a>(packet: &LaxSlicedPacket<'a>) -> Content<'a> {
    let is_encrypted =
        packet.link_exts.iter().any(|extension| matches!(extension, LaxLinkExtSlice::Macsec(_)));
    if is_encrypted {
        Content::Unread(Unread::Encrypted)
    } else if packet.link_exts.is_full() {
        Content::Unread(Unread::Tags)
    } else if packet.stop_err.is_some() {
        Content::Unread(Unread::Header)
    } else {
        Content::Other
    }
}

/// Header fields common to both versions of IP.
struct IpHead {
    source: IpAddr,
    destination: IpAddr,
    hops: u8,
    identification: Option<u16>,
}

impl IpHead {
    fn of_v4(ip: &LaxIpv4Slice<'_>) -> Self {
        let header = ip.header();
        Self {
            source: IpAddr::V4(header.source_addr()),
            destination: IpAddr::V4(header.destination_addr()),
            hops: header.ttl(),
            identification: Some(header.identification()).filter(|&number| number != 0),
        }
    }

    fn of_v6(ip: &LaxIpv6Slice<'_>) -> Self {
        let header = ip.header();
        Self {
            source: IpAddr::V6(header.source_addr()),
            destination: IpAddr::V6(header.destination_addr()),
            hops: header.hop_limit(),
            identification: None,
        }
    }
}

type Linked<'a> = (Option<[u8; 6]>, LaxSlicedPacket<'a>);

fn link_layer<'a>(frame: &Frame<'a>) -> Option<Linked<'a>> {
    let bytes = frame.bytes;
    match frame.link {
        ETHERNET => {
            let mac = bytes.get(6..12)?.try_into().ok();
            Some((mac, LaxSlicedPacket::from_ethernet(bytes).ok()?))
        }
        RAW_IP => Some((None, LaxSlicedPacket::from_ip(bytes).ok()?)),
        LINUX_COOKED => cooked(bytes.get(6..12)?, bytes.get(14..16)?, bytes.get(16..)?),
        LINUX_COOKED_2 => cooked(bytes.get(12..18)?, bytes.get(0..2)?, bytes.get(20..)?),
        _ => None,
    }
}

fn cooked<'a>(mac: &[u8], ether_type: &[u8], rest: &'a [u8]) -> Option<Linked<'a>> {
    let ether_type = u16::from_be_bytes(ether_type.try_into().ok()?);
    let packet = LaxSlicedPacket::from_ether_type(EtherType(ether_type), rest);
    Some((mac.try_into().ok(), packet))
}

/// Sender addresses of an ARP packet for IPv4 on Ethernet. A probe, sent before an address is used,
/// claims nothing.
fn arp_claim(segment: Segment, arp: &[u8]) -> Option<ArpClaim> {
    let &[0, 1, 8, 0, 6, 4, _, _, m1, m2, m3, m4, m5, m6, a, b, c, d, ..] = arp else {
        return None;
    };
    let address = Ipv4Addr::new(a, b, c, d);
    (!address.is_unspecified()).then_some(ArpClaim {
        segment,
        mac: [m1, m2, m3, m4, m5, m6],
        address,
    })
}
