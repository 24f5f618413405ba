//! The checksum of Internet protocols, RFC 1071.

use std::net::IpAddr;

/// Whether the sum over `parts`, including the checksum, is correct. Every part except the last
/// must have an even length.
pub(crate) fn is_right(parts: &[&[u8]]) -> bool {
    let sum: u64 = parts
        .iter()
        .flat_map(|part| part.chunks(2))
        .map(|pair| u64::from(pair[0]) << 8 | pair.get(1).copied().map_or(0, u64::from))
        .sum();
    fold(sum) == 0xFFFF
}

fn fold(sum: u64) -> u64 {
    if sum > 0xFFFF { fold((sum & 0xFFFF) + (sum >> 16)) } else { sum }
}

/// The pseudo-header summed in front of a VRRP 3 packet: addresses, length and protocol number.
pub(crate) fn pseudo_header(
    source: IpAddr,
    destination: IpAddr,
    length: usize,
    number: u8,
) -> Vec<u8> {
    let mut header = Vec::with_capacity(40);
    for address in [source, destination] {
        match address {
            IpAddr::V4(address) => header.extend(address.octets()),
            IpAddr::V6(address) => header.extend(address.octets()),
        }
    }
    let length = u32::try_from(length).unwrap_or(u32::MAX);
    match source {
        IpAddr::V4(_) => {
            header.extend([0, number]);
            header.extend(&length.to_be_bytes()[2..]);
        }
        IpAddr::V6(_) => {
            header.extend(length.to_be_bytes());
            header.extend([0, 0, 0, number]);
        }
    }
    header
}
