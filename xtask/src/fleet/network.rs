//! Places of the parts of a fleet in their network.

use xtask::failure::Failure;
use xtask::network::{Network, Place};

/// Hosts that have a network of their own; further agents share these.
pub(super) const HOSTS: usize = 4;

/// Where fleet runs are ordered.
pub(super) const CONTROLLER: Place = Place::client(HOSTS + 1);

/// The place of a host, counted from 1.
pub(super) const fn place(host: usize) -> Place {
    Place::client((host - 1) % HOSTS + 1)
}

/// A server, a controller and the hosts.
pub(super) fn new() -> Result<Network, Failure> {
    Network::new(format!("plf{}", std::process::id()), HOSTS + 1)
}
