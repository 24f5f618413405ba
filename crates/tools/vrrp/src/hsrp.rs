//! HSRP, versions 1 and 2.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::advert::{Advert, Protocol};
use crate::frame::IpPacket;
use crate::segment::Family;
use crate::unread::{Heard, Unread};
use crate::vrrp::blank;

/// UDP ports for IPv4 and for IPv6.
pub(crate) const PORTS: [u16; 2] = [1985, 2029];
/// UDP port of GLBP.
pub(crate) const GLBP_PORT: u16 = 3222;
/// IP protocol number of UDP.
pub(crate) const UDP: u8 = 17;
/// Length of an HSRP version 1 message.
const VERSION_1_BYTES: usize = 20;
/// State of the active router, in versions 1 and 2.
const ACTIVE_1: u8 = 16;
const ACTIVE_2: u8 = 6;
const SECOND: u64 = 1_000_000_000;
const MILLISECOND: u64 = SECOND / 1000;

/// States of version 1: initial, learn, listen, speak and standby.
const PASSIVE_1: [u8; 5] = [0, 1, 2, 4, 8];
/// States of version 2 below active, numbered consecutively.
const PASSIVE_2: std::ops::RangeInclusive<u8> = 0..=5;
/// Opcodes: hello, and coup, with which a router takes over.
const HELLO: u8 = 0;
const COUP: u8 = 1;
/// Opcode: a router resigns its role.
const RESIGN: u8 = 2;
/// Opcode: reports whether an interface has active groups, without naming them.
const ADVERTISE: u8 = 3;
/// Type and length of the version 2 TLV that names a group.
const GROUP_STATE: u8 = 1;
const GROUP_STATE_BYTES: u8 = 40;
/// Types of other TLVs: interface state, passwords and digests.
const OTHER_PARTS: std::ops::RangeInclusive<u8> = 2..=4;

/// Whether hellos of HSRP or GLBP are sent to `address`: 224.0.0.2, 224.0.0.102 or `ff02::66`.
pub(crate) fn is_group_address(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => matches!(address.octets(), [224, 0, 0, 2 | 102]),
        IpAddr::V6(address) => address.segments() == [0xFF02, 0, 0, 0, 0, 0, 0, 0x66],
    }
}

/// Parses `body`, the UDP payload; `Heard::Nothing` if the sender is not active.
pub(crate) fn read(packet: &IpPacket<'_>, body: &[u8]) -> Heard<Advert> {
    if !packet.is_whole {
        return Heard::Unread(Unread::CutHsrp);
    }
    match body {
        [0, ADVERTISE, ..] => Heard::Nothing,
        [0, HELLO | COUP | RESIGN, ..] => body
            .first_chunk()
            .map_or(Heard::Unread(Unread::CutHsrp), |body| version_1(packet, body)),
        [part, ..] if *part != 0 => parts(packet, body),
        _ => Heard::Unread(Unread::Hsrp),
    }
}

fn version_1(packet: &IpPacket<'_>, body: &[u8; VERSION_1_BYTES]) -> Heard<Advert> {
    let &[_, operation, state, hello, _, priority, group, ..] = body;
    let &[.., a, b, c, d] = body;
    match state {
        ACTIVE_1 if operation != RESIGN => Heard::Advert(Advert {
            interval_nanoseconds: u64::from(hello) * SECOND,
            priority: u32::from(priority),
            addresses: vec![IpAddr::V4(Ipv4Addr::new(a, b, c, d))],
            hops: 255,
            ..blank(packet, Protocol::Hsrp1, group)
        }),
        ACTIVE_1 => Heard::Nothing,
        passive if PASSIVE_1.contains(&passive) => Heard::Nothing,
        _ => Heard::Unread(Unread::Hsrp),
    }
}

/// Parses version 2, a sequence of TLVs: type, length, value.
fn parts(packet: &IpPacket<'_>, mut body: &[u8]) -> Heard<Advert> {
    let mut heard = Heard::Nothing;
    while let [kind, length, rest @ ..] = body {
        let Some((part, behind)) = rest.split_at_checked(usize::from(*length)) else {
            return Heard::Unread(Unread::CutHsrp);
        };
        let found = match (*kind, *length, part.first_chunk()) {
            (GROUP_STATE, GROUP_STATE_BYTES, Some(part)) => version_2(packet, part),
            (other, ..) if OTHER_PARTS.contains(&other) => Heard::Nothing,
            _ => Heard::Unread(Unread::Hsrp),
        };
        if matches!(found, Heard::Unread(_)) {
            return found;
        }
        if matches!(heard, Heard::Nothing) {
            heard = found;
        }
        body = behind;
    }
    heard
}

/// Parses the version 2 TLV with the state of a group.
fn version_2(packet: &IpPacket<'_>, part: &[u8; 40]) -> Heard<Advert> {
    let &[version, operation, state, family, high, low, ..] = part;
    let &[.., p1, p2, p3, p4, h1, h2, h3, h4, _, _, _, _] =
        part.first_chunk::<24>().unwrap_or(&[0; 24]);
    let virtual_address: [u8; 16] = part.last_chunk().copied().unwrap_or_default();
    let [a, b, c, d, ..] = virtual_address;
    let address = match (version, family) {
        (2, 4) => IpAddr::V4(Ipv4Addr::new(a, b, c, d)),
        (2, 6) => IpAddr::V6(Ipv6Addr::from(virtual_address)),
        _ => return Heard::Unread(Unread::Hsrp),
    };
    match (operation, state) {
        (HELLO | COUP, ACTIVE_2) => {}
        (HELLO | COUP | RESIGN, state) if PASSIVE_2.contains(&state) => return Heard::Nothing,
        (RESIGN, ACTIVE_2) => return Heard::Nothing,
        _ => return Heard::Unread(Unread::Hsrp),
    }
    let mut advert = Advert {
        interval_nanoseconds: u64::from(u32::from_be_bytes([h1, h2, h3, h4])) * MILLISECOND,
        priority: u32::from_be_bytes([p1, p2, p3, p4]),
        addresses: vec![address],
        hops: 255,
        ..blank(packet, Protocol::Hsrp2, 0)
    };
    advert.key.id = u16::from_be_bytes([high, low]);
    advert.key.family = Family::of(address);
    Heard::Advert(advert)
}
