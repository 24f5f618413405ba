//! Decodes VRRP and CARP, which share a protocol number but differ in length.

use std::net::IpAddr;

use crate::advert::{Advert, GroupKey, Protocol};
use crate::checksum::{is_right, pseudo_header};
use crate::frame::IpPacket;
use crate::segment::Family;
use crate::unread::{Heard, Unread};

/// IP protocol number of VRRP and CARP.
pub(crate) const NUMBER: u8 = 112;
/// IP protocol numbers of `IPsec`: ESP and the authentication header. An intact authentication
/// header is skipped.
const IPSEC: [u8; 2] = [50, 51];
/// Length of a CARP advertisement.
const CARP_BYTES: usize = 36;
/// Length of CARP's authentication in four-byte words, in the position of VRRP's authentication
/// type.
const CARP_AUTHENTICATION: u8 = 7;
const HEADER_BYTES: usize = 8;
/// Authentication data after the addresses of VRRP 2.
const AUTHENTICATION_BYTES: usize = 8;
const SECOND: u64 = 1_000_000_000;
/// Unit of the interval of VRRP 3.
const CENTISECOND: u64 = SECOND / 100;

/// Whether `IPsec` hides an advertisement: 224.0.0.18 and `ff02::12` are for VRRP alone.
pub(crate) fn is_protected(packet: &IpPacket<'_>) -> bool {
    let is_for_vrrp = match packet.destination {
        IpAddr::V4(address) => address.octets() == [224, 0, 0, 18],
        IpAddr::V6(address) => address.segments() == [0xFF02, 0, 0, 0, 0, 0, 0, 0x12],
    };
    is_for_vrrp && IPSEC.contains(&packet.number)
}

/// Parses `packet`, which contains VRRP or CARP.
pub(crate) fn read(packet: &IpPacket<'_>) -> Heard<Advert> {
    let body = packet.payload;
    let Some(&header) = body.first_chunk::<HEADER_BYTES>().filter(|_| packet.is_whole) else {
        return Heard::Unread(Unread::CutVrrp);
    };
    let (protocol, advert) = match header[0] {
        0x21 if body.len() == CARP_BYTES && header[3] == CARP_AUTHENTICATION => {
            (Protocol::Carp, Some(carp(packet, header)))
        }
        0x21 => (Protocol::Vrrp2, version_2(packet, header)),
        0x31 => (Protocol::Vrrp3, version_3(packet, header)),
        other => {
            let (version, kind) = (other >> 4, other & 0x0F);
            return Heard::Unread(Unread::VrrpVersion { version, kind });
        }
    };
    advert.map_or(Heard::Unread(Unread::VrrpLength { protocol, id: header[1] }), Heard::Advert)
}

fn carp(packet: &IpPacket<'_>, header: [u8; HEADER_BYTES]) -> Advert {
    let [_, id, skew, _, _, base, ..] = header;
    // The skew is in units of 1/256 second.
    let interval = u64::from(base) * SECOND + u64::from(skew) * SECOND / 256;
    Advert {
        interval_nanoseconds: interval,
        priority: u32::from(skew),
        is_intact: is_right(&[packet.payload]),
        // The highest skew resigns the role.
        is_master: skew != u8::MAX,
        ..blank(packet, Protocol::Carp, id)
    }
}

/// Parses VRRP 2. MD5 digests may follow the password field, and senders differ in whether the
/// checksum covers them.
fn version_2(packet: &IpPacket<'_>, header: [u8; HEADER_BYTES]) -> Option<Advert> {
    let [_, id, priority, count, _, interval, ..] = header;
    let (addresses, _) = addresses(packet, usize::from(count))?;
    let body = packet.payload;
    let plain = HEADER_BYTES + addresses.len() * 4 + AUTHENTICATION_BYTES;
    let without_digest = body.get(..plain).unwrap_or(body);
    Some(Advert {
        interval_nanoseconds: u64::from(interval) * SECOND,
        priority: u32::from(priority),
        is_intact: is_right(&[body]) || is_right(&[without_digest]),
        is_master: priority > 0,
        addresses,
        ..blank(packet, Protocol::Vrrp2, id)
    })
}

fn version_3(packet: &IpPacket<'_>, header: [u8; HEADER_BYTES]) -> Option<Advert> {
    let [_, id, priority, count, high, low, ..] = header;
    let interval = u64::from(u16::from_be_bytes([high & 0x0F, low]));
    let (addresses, rest) = addresses(packet, usize::from(count))?;
    if !rest.is_empty() {
        return None;
    }
    let body = packet.payload;
    let before = pseudo_header(packet.source, packet.destination, body.len(), NUMBER);
    // For IPv4 the standards disagree on whether the checksum covers the packet's addresses.
    let is_bare_right = packet.source.is_ipv4() && is_right(&[body]);
    Some(Advert {
        interval_nanoseconds: interval * CENTISECOND,
        priority: u32::from(priority),
        addresses,
        is_intact: is_bare_right || is_right(&[&before, body]),
        is_master: priority > 0,
        ..blank(packet, Protocol::Vrrp3, id)
    })
}

/// The `count` addresses after the header, sorted, and the bytes after them; `None` if the packet
/// is too short. Ethernet pads short frames, but only beyond the length that the IP header gives.
fn addresses<'a>(packet: &IpPacket<'a>, count: usize) -> Option<(Vec<IpAddr>, &'a [u8])> {
    let width = if packet.source.is_ipv4() { 4 } else { 16 };
    let (whole, rest) = packet.payload.get(HEADER_BYTES..)?.split_at_checked(count * width)?;
    let mut found: Vec<IpAddr> = whole.chunks_exact(width).filter_map(address).collect();
    found.sort_unstable();
    Some((found, rest))
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    match bytes.len() {
        4 => <[u8; 4]>::try_from(bytes).ok().map(IpAddr::from),
        _ => <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from),
    }
}

/// An advertisement with the fields known from every packet.
pub(crate) fn blank(packet: &IpPacket<'_>, protocol: Protocol, id: u8) -> Advert {
    Advert {
        key: GroupKey {
            segment: packet.segment.clone(),
            family: Family::of(packet.source),
            protocol,
            id: u16::from(id),
        },
        nanoseconds: packet.nanoseconds,
        source: packet.source,
        mac: packet.mac,
        priority: 0,
        interval_nanoseconds: SECOND,
        addresses: Vec::new(),
        hops: packet.hops,
        identification: packet.identification,
        is_intact: true,
        is_master: true,
    }
}
