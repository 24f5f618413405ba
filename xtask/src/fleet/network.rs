//! Network namespaces on one bridge: the server, the controller and four hosts, each with a cable
//! that can be pulled.

use std::process::Command;

use xtask::failure::Failure;
use xtask::shell;

/// Hosts that have a network of their own; further agents share these.
pub(super) const HOSTS: usize = 4;

/// Address of the server.
pub(super) const SERVER: &str = "10.77.0.1";

/// One end of a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// With the bridge in it.
    Server,
    Controller,
    /// Counted from 1.
    Host(usize),
}

/// The namespaces; they go with the value.
pub(super) struct Network {
    /// Part of the names of all namespaces.
    tag: String,
}

impl Place {
    const fn number(self) -> usize {
        match self {
            Self::Server => 0,
            Self::Controller => HOSTS + 1,
            Self::Host(host) => (host - 1) % HOSTS + 1,
        }
    }
}

impl Network {
    pub(super) fn new() -> Result<Self, Failure> {
        let network = Self { tag: format!("plf{}", std::process::id()) };
        shell::run(&["ip", "netns", "add", &network.name(Place::Server)])?;
        for words in [
            &["ip", "link", "add", "br0", "type", "bridge"][..],
            &["ip", "addr", "add", "10.77.0.1/24", "dev", "br0"],
            &["ip", "link", "set", "br0", "up"],
            &["ip", "link", "set", "lo", "up"],
        ] {
            network.inside(Place::Server, words)?;
        }
        for place in (1..=HOSTS).map(Place::Host).chain([Place::Controller]) {
            network.connect(place)?;
        }
        Ok(network)
    }

    fn name(&self, place: Place) -> String {
        format!("{}-{}", self.tag, place.number())
    }

    fn connect(&self, place: Place) -> Result<(), Failure> {
        let (name, cable) = (self.name(place), cable(place));
        shell::run(&["ip", "netns", "add", &name])?;
        let veth = ["ip", "link", "add", &cable, "type", "veth", "peer", "name", "eth0", "netns"];
        self.inside(Place::Server, &[&veth[..], &[&name]].concat())?;
        self.inside(Place::Server, &["ip", "link", "set", &cable, "master", "br0", "up"])?;
        let address = format!("10.77.0.{}/24", place.number() + 1);
        self.inside(place, &["ip", "addr", "add", &address, "dev", "eth0"])?;
        self.inside(place, &["ip", "link", "set", "eth0", "up"])?;
        self.inside(place, &["ip", "link", "set", "lo", "up"])
    }

    fn inside(&self, place: Place, words: &[&str]) -> Result<(), Failure> {
        shell::run(&[&["ip", "netns", "exec", &self.name(place)], words].concat())
    }

    /// A program in the network of a place. `ip netns exec` becomes the program itself.
    pub(super) fn command(&self, place: Place, words: &[&str]) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.name(place)]).args(words);
        command
    }

    /// Pulls the cable of a place, or plugs it in.
    pub(super) fn plug(&self, place: Place, is_in: bool) -> Result<(), Failure> {
        let state = if is_in { "up" } else { "down" };
        self.inside(Place::Server, &["ip", "link", "set", &cable(place), state])
    }
}

fn cable(place: Place) -> String {
    format!("v{}", place.number())
}

impl Drop for Network {
    fn drop(&mut self) {
        for number in 0..=HOSTS + 1 {
            let _ = shell::capture(&["ip", "netns", "del", &format!("{}-{number}", self.tag)]);
        }
    }
}
