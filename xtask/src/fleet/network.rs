//! Network places of the hosts, the controller and the server of a fleet.

use xtask::failure::Failure;
use xtask::network::{Network, Place};

/// Number of hosts with a separate network; further agents share these networks.
pub(super) const HOSTS: usize = 4;

/// Place from which fleet runs are ordered.
pub(super) const CONTROLLER: Place = Place::client(HOSTS + 1);

/// The place of a host, counted from 1.
pub(super) const fn place(host: usize) -> Place {
    Place::client((host - 1) % HOSTS + 1)
}

/// Creates the network of a server, a controller and the hosts.
pub(super) fn new() -> Result<Network, Failure> {
    Network::new(format!("plf{}", std::process::id()), HOSTS + 1)
}
