//! Finds an address to print that a browser on another machine can open.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// Unused addresses to which the system has a route if it has any.
const ELSEWHERE: [(IpAddr, IpAddr); 2] = [
    (IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1))),
    (IpAddr::V6(Ipv6Addr::UNSPECIFIED), IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1))),
];

/// Returns the host and port to open: for a server on all addresses, the first name that it was
/// given, or else the machine's address as seen by others.
pub(super) fn from_elsewhere(bound: SocketAddr, host_names: &[String]) -> String {
    if !bound.ip().is_unspecified() {
        return bound.to_string();
    }
    if let Some(name) = host_names.first() {
        return format!("{name}:{}", bound.port());
    }
    let own = ELSEWHERE.into_iter().find_map(|(from, to)| own_address(from, to));
    own.map_or(bound, |own| SocketAddr::new(own, bound.port())).to_string()
}

/// The machine's local address on the route to `to`; nothing is sent.
fn own_address(from: IpAddr, to: IpAddr) -> Option<IpAddr> {
    let socket = UdpSocket::bind((from, 0)).ok()?;
    socket.connect((to, 9)).ok()?;
    let own = socket.local_addr().ok()?.ip();
    (!own.is_unspecified()).then_some(own)
}

#[cfg(test)]
mod tests {
    use super::from_elsewhere;

    #[test]
    fn an_address_that_is_no_address_is_not_printed() {
        let bound = |text: &str| text.parse().unwrap();
        assert_eq!(from_elsewhere(bound("127.0.0.1:8437"), &[]), "127.0.0.1:8437");
        let named = from_elsewhere(bound("0.0.0.0:80"), &["bench.lan".to_owned()]);
        assert_eq!(named, "bench.lan:80");
        assert!(from_elsewhere(bound("0.0.0.0:80"), &[]).ends_with(":80"));
    }
}
