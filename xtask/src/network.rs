//! Network namespaces on one bridge: a server and clients, each with a cable that can be pulled,
//! cut in one direction, or slowed. Connections survive all of it, as with real cables.

use std::process::Command;

use crate::failure::Failure;
use crate::shell;

/// Address of the server.
pub const SERVER: &str = "10.77.0.1";

/// Hardware address that no interface has: packets to it are sent, but never received.
const NOWHERE: &str = "02:00:00:00:00:99";

/// Longest queueing time of a packet on a slow link, after which it is dropped.
const QUEUE: &str = "800ms";

/// A namespace of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(usize);

impl Place {
    /// The server's namespace, which contains the bridge.
    pub const SERVER: Self = Self(0);

    /// The namespace of a client, counted from 1.
    pub const fn client(number: usize) -> Self {
        assert!(number > 0, "clients are counted from 1");
        Self(number)
    }
}

/// A direction of a client's cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the client to the server.
    ToServer,
    /// From the server to the client.
    FromServer,
}

/// The namespaces and their cables, removed when dropped.
#[derive(Debug)]
pub struct Network {
    /// Prefix of the names of all namespaces.
    tag: String,
    clients: usize,
}

/// Reason why this machine cannot have namespaces, if any.
pub fn missing() -> Option<&'static str> {
    let is_root = shell::capture(&["id", "-u"]).is_ok_and(|id| id.trim() == "0");
    if !is_root {
        return Some("network namespaces need root");
    }
    let has_ip = shell::capture(&["sh", "-c", "command -v ip"]).is_ok();
    (!has_ip).then_some("it needs the package iproute2")
}

impl Network {
    /// Creates a server and `clients`. No other network on this machine may have the same `tag`.
    pub fn new(tag: String, clients: usize) -> Result<Self, Failure> {
        let network = Self { tag, clients };
        shell::run(&["ip", "netns", "add", &network.name(Place::SERVER)])?;
        for words in [
            &["ip", "link", "add", "br0", "type", "bridge"][..],
            &["ip", "addr", "add", "10.77.0.1/24", "dev", "br0"],
            &["ip", "link", "set", "br0", "up"],
            &["ip", "link", "set", "lo", "up"],
        ] {
            network.inside(Place::SERVER, words)?;
        }
        for client in 1..=clients {
            network.connect(Place::client(client))?;
        }
        Ok(network)
    }

    fn name(&self, place: Place) -> String {
        format!("{}-{}", self.tag, place.0)
    }

    fn connect(&self, place: Place) -> Result<(), Failure> {
        let (name, cable) = (self.name(place), cable(place));
        shell::run(&["ip", "netns", "add", &name])?;
        let veth = ["ip", "link", "add", &cable, "type", "veth", "peer", "name", "eth0", "netns"];
        self.inside(Place::SERVER, &[&veth[..], &[&name]].concat())?;
        self.inside(Place::SERVER, &["ip", "link", "set", &cable, "master", "br0", "up"])?;
        let address = format!("{}/24", address(place));
        self.inside(place, &["ip", "addr", "add", &address, "dev", "eth0"])?;
        self.inside(place, &["ip", "link", "set", "eth0", "up"])?;
        self.inside(place, &["ip", "link", "set", "lo", "up"])
    }

    fn inside(&self, place: Place, words: &[&str]) -> Result<(), Failure> {
        shell::run(&[&["ip", "netns", "exec", &self.name(place)], words].concat())
    }

    /// A command in the network of a place. `ip netns exec` replaces itself with the program.
    pub fn command(&self, place: Place, words: &[&str]) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.name(place)]).args(words);
        command
    }

    /// Moves a command into the network of a place, with its arguments, folder and environment, but
    /// without its input and output. The kernel kills it once the thread that starts it is gone.
    #[must_use]
    pub fn enter(&self, place: Place, program: &Command) -> Command {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "ip", "netns", "exec", &self.name(place)]);
        command.arg(program.get_program()).args(program.get_args());
        if let Some(folder) = program.get_current_dir() {
            command.current_dir(folder);
        }
        let set = program.get_envs().filter_map(|(key, value)| Some((key, value?)));
        command.envs(set);
        command
    }

    /// Pulls the cable of a client, or plugs it in.
    pub fn plug(&self, client: Place, is_in: bool) -> Result<(), Failure> {
        let state = if is_in { "up" } else { "down" };
        self.inside(Place::SERVER, &["ip", "link", "set", &cable(client), state])
    }

    /// Drops all packets in one direction of a client's cable, or stops dropping them.
    pub fn cut(&self, client: Place, direction: Direction, is_cut: bool) -> Result<(), Failure> {
        let (from, device, to) = match direction {
            Direction::ToServer => (client, "eth0", SERVER.to_owned()),
            Direction::FromServer => (Place::SERVER, "br0", address(client)),
        };
        let words: &[&str] = if is_cut {
            &["replace", &to, "lladdr", NOWHERE, "nud", "permanent", "dev", device]
        } else {
            &["del", &to, "dev", device]
        };
        self.inside(from, &[&["ip", "neigh"], words].concat())
    }

    /// Limits one direction of a client's cable to `kbit` thousand bits per second; `None` for no
    /// limit.
    pub fn slow(
        &self,
        client: Place,
        direction: Direction,
        kbit: Option<u32>,
    ) -> Result<(), Failure> {
        let (from, device) = match direction {
            Direction::ToServer => (client, "eth0".to_owned()),
            Direction::FromServer => (Place::SERVER, cable(client)),
        };
        let Some(kbit) = kbit else {
            return self.inside(from, &["tc", "qdisc", "del", "dev", &device, "root"]);
        };
        let rate = format!("{kbit}kbit");
        let words = ["tc", "qdisc", "replace", "dev", &device, "root", "tbf", "rate", &rate];
        self.inside(from, &[&words[..], &["burst", "16kb", "latency", QUEUE]].concat())
    }
}

fn cable(place: Place) -> String {
    format!("v{}", place.0)
}

fn address(place: Place) -> String {
    format!("10.77.0.{}", place.0 + 1)
}

impl Drop for Network {
    fn drop(&mut self) {
        for number in 0..=self.clients {
            let _ = shell::capture(&["ip", "netns", "del", &self.name(Place(number))]);
        }
    }
}
