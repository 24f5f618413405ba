//! HSRP, versions 1 and 2.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::advert::{Advert, Protocol};
use crate::frame::IpPacket;
use crate::segment::Family;
use crate::vrrp::blank;

/// UDP ports for IPv4 and for IPv6.
pub(crate) const PORTS: [u16; 2] = [1985, 2029];
/// Length of version 1.
const VERSION_1_BYTES: usize = 20;
/// The state of the router that answers.
const ACTIVE_1: u8 = 16;
const ACTIVE_2: u8 = 6;
const SECOND: u64 = 1_000_000_000;
const MILLISECOND: u64 = SECOND / 1000;

/// The hello of the active router in `body`, the payload of UDP; none for routers that stand by.
pub(crate) fn read(packet: &IpPacket<'_>, body: &[u8]) -> Option<Advert> {
    match body {
        [0, 0, ..] => version_1(packet, body.first_chunk()?),
        [1, 40, rest @ ..] => version_2(packet, rest.first_chunk()?),
        _ => None,
    }
}

fn version_1(packet: &IpPacket<'_>, body: &[u8; VERSION_1_BYTES]) -> Option<Advert> {
    let &[_, _, state, hello, _, priority, group, ..] = body;
    let &[.., a, b, c, d] = body;
    (state == ACTIVE_1).then(|| Advert {
        interval_nanoseconds: u64::from(hello) * SECOND,
        priority: u32::from(priority),
        addresses: vec![IpAddr::V4(Ipv4Addr::new(a, b, c, d))],
        hops: 255,
        ..blank(packet, Protocol::Hsrp1, group)
    })
}

/// The first part of a packet of version 2: 40 bytes behind its kind and length.
fn version_2(packet: &IpPacket<'_>, part: &[u8; 40]) -> Option<Advert> {
    let &[2, 0, ACTIVE_2, family, high, low, _, _, _, _, _, _, p1, p2, p3, p4, h1, h2, h3, h4, ..] =
        part
    else {
        return None;
    };
    let virtual_address: [u8; 16] = part[24..].try_into().ok()?;
    let [a, b, c, d, ..] = virtual_address;
    let address = match family {
        4 => IpAddr::V4(Ipv4Addr::new(a, b, c, d)),
        6 => IpAddr::V6(Ipv6Addr::from(virtual_address)),
        _ => return None,
    };
    let mut advert = Advert {
        interval_nanoseconds: u64::from(u32::from_be_bytes([h1, h2, h3, h4])) * MILLISECOND,
        priority: u32::from_be_bytes([p1, p2, p3, p4]),
        addresses: vec![address],
        hops: 255,
        ..blank(packet, Protocol::Hsrp2, 0)
    };
    advert.key.id = u16::from_be_bytes([high, low]);
    advert.key.family = Family::of(address);
    Some(advert)
}
