//! Two hosts of one volume on this machine, and a NATS server between them.

use std::fs::{self, File};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use xtask::failure::Failure;

use crate::guest::image::{self, Contents, OF_A_DISK, pack};
use crate::guest::machine::{GuestDisk, Hardware, Machine};
use crate::guest::program::{self, Plimsoll, Server, dependent, emptied};

/// Names of the hosts.
pub(super) const HOSTS: [&str; 2] = ["left", "right"];

/// Size of the volume in bytes, and of each host's cache, of which the log of recent writes takes
/// 16 MiB, so that some of the rarer reads miss.
const VOLUME_BYTES: u64 = 128 << 20;
const CACHE: &str = "40MiB";

/// Time limit for the hosts to start.
const PATIENCE: Duration = Duration::from_mins(1);

/// Two hosts and a NATS server; see the module.
pub(super) struct Site {
    folder: PathBuf,
    hardware: Hardware,
    plimsoll: Plimsoll,
    server: String,
    /// Kept so that they are stopped when dropped.
    servers: Vec<Server>,
}

/// The name of the guest's machine after `number` moves.
pub(super) fn name(number: usize) -> String {
    format!("machine{number}")
}

impl Site {
    /// Starts everything except the guest. The first host owns the volume, and both copies are in
    /// service.
    pub(super) fn new() -> Result<Self, Failure> {
        let plimsoll = program::build()?;
        let shared = image::folder()?;
        let folder = emptied(&shared, "moved")?;
        let kernel = image::kernel(&shared)?;
        let contents =
            Contents { first: "moved.sh", programs: &["/usr/bin/fio"], modules: OF_A_DISK };
        let root = pack(&folder, &kernel, &contents)?;
        let hardware = Hardware { kernel, root, memory_mib: 384, reconnect_seconds: 60 };
        let disk = File::create_new(folder.join("disk.img")).map_err(Failure::of)?;
        disk.set_len(VOLUME_BYTES).map_err(Failure::of)?;
        let free = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
        let port = free.map_err(Failure::of)?.port();
        let mut nats = dependent("nats-server");
        nats.args(["-a", "127.0.0.1", "-p", &port.to_string(), "-js", "-sd", "nats"]);
        let servers = vec![Server::start(&mut nats, &folder, "nats")?];
        wait("the NATS server", || TcpStream::connect(("127.0.0.1", port)).is_ok())?;
        let server = format!("nats://127.0.0.1:{port}");
        let mut site = Self { folder, hardware, plimsoll, server, servers };
        for host in [0, 1] {
            site.start(host)?;
            wait("an owner", || site.status(0)["role"] == "owner")?;
        }
        wait("both copies", || site.status(0)["data_on"] == "both")?;
        Ok(site)
    }

    fn start(&mut self, host: usize) -> Result<(), Failure> {
        let (name, server) = (HOSTS[host], &self.server);
        let document = format!(
            "volume = \"mail\"\nhosts = [\"left\", \"right\"]\nhost = \"{name}\"\n\
             flash = \"{name}.flash\"\nsize = \"{VOLUME_BYTES}B\"\ncached = \"{CACHE}\"\n\
             server = \"{server}\"\nlisten = [\"unix:{name}.sock\"]\ndevice = \"disk.img\"\n"
        );
        let file = format!("{name}.toml");
        fs::write(self.folder.join(&file), document).map_err(Failure::of)?;
        let words = ["cache", "serve", "--mirror", &file];
        self.servers.push(self.plimsoll.serve((&self.folder, name), &words)?);
        Ok(())
    }

    fn status(&self, host: usize) -> serde_json::Value {
        self.plimsoll.status(&self.folder, &format!("{}.flash.sock", HOSTS[host]))
    }

    /// Number of clients' reads on a host so far, and how many of them its cache answered.
    pub(super) fn reads(&self, host: usize) -> Result<[u64; 2], Failure> {
        let status = self.status(host);
        match ["reads", "read_hits"].map(|key| status[key].as_u64()) {
            [Some(reads), Some(hits)] => Ok([reads, hits]),
            _ => Err(Failure::new(format!("{} does not answer: {status}", HOSTS[host]))),
        }
    }

    /// Moves the volume to a host and waits until it has arrived.
    pub(super) fn hand_over(&self, host: usize) -> Result<(), Failure> {
        let words = ["cache", "hand-over", "mail", HOSTS[host], "--server", &self.server];
        self.plimsoll.answer(&self.folder, &words).map(drop)
    }

    /// The guest's machine after `number` moves, on the export of a host.
    pub(super) fn machine(
        &self,
        number: usize,
        host: usize,
        incoming: bool,
    ) -> Result<Machine, Failure> {
        let socket = format!("{}.sock", HOSTS[host]);
        let disks = [GuestDisk::Nbd(&socket)];
        Machine::start((&self.folder, &name(number)), &self.hardware, (&disks, "move"), incoming)
    }
}

fn wait(what: &str, until: impl Fn() -> bool) -> Result<(), Failure> {
    let limit = Instant::now() + PATIENCE;
    while !until() {
        if Instant::now() > limit {
            return Err(Failure::new(format!("{what} does not come")));
        }
        thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}
