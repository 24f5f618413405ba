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
    shown(bound, host_names, || ELSEWHERE.into_iter().find_map(|(from, to)| own_address(from, to)))
}

fn shown(bound: SocketAddr, host_names: &[String], own: impl FnOnce() -> Option<IpAddr>) -> String {
    if !bound.ip().is_unspecified() {
        return bound.to_string();
    }
    if let Some(name) = host_names.first() {
        return format!("{name}:{}", bound.port());
    }
    own().map_or(bound, |own| SocketAddr::new(own, bound.port())).to_string()
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
    use std::net::{IpAddr, Ipv4Addr};

    use super::{own_address, shown};

    fn address(bound: &str, names: &[String]) -> String {
        shown(bound.parse().unwrap(), names, || Some(IpAddr::from([10, 0, 0, 7])))
    }

    #[test]
    fn an_address_that_is_no_address_is_not_printed() {
        assert_eq!(address("127.0.0.1:8437", &[]), "127.0.0.1:8437");
        assert_eq!(address("0.0.0.0:80", &["bench.lan".to_owned()]), "bench.lan:80");
        assert_eq!(address("0.0.0.0:80", &[]), "10.0.0.7:80");
        assert_eq!(address("[::]:80", &[]), "10.0.0.7:80");
    }

    #[test]
    fn the_own_address_is_the_one_on_the_route() {
        let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
        assert_eq!(own_address(Ipv4Addr::UNSPECIFIED.into(), loopback), Some(loopback));
    }
}
