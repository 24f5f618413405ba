//! One volume on two hosts as users run it: two servers and a NATS server, on loopback or each in
//! its own network, killed, paused and cut off while guests write.

mod device;
mod guest;
mod history;
mod homes;
mod instants;
mod kills;
mod network;
mod orders;
mod refusals;
mod speed;
mod trims;

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use xtask::network::{Network, Place, SERVER};

use crate::scene::Scene;

/// Bytes of the volume.
const VOLUME_BYTES: u64 = 64 << 20;

/// The two hosts.
const HOSTS: [&str; 2] = ["left", "right"];

/// How long anything may take that takes a moment.
const PATIENCE: Duration = Duration::from_mins(1);

/// Two hosts and a NATS server, all ended with the test.
struct Pair {
    scene: Scene,
    /// Of the NATS server: address and port.
    address: (String, u16),
    /// The hosts' networks, unless all share that of this machine.
    network: Option<Network>,
    nats: Option<Child>,
    hosts: [Option<Child>; 2],
}

/// What the documents of a pair say.
struct PairDocument {
    is_backed: bool,
    bytes: u64,
    /// How long requests wait for a host that serves.
    patience: Duration,
    /// Folder of a host's copy in the scene, ending with `/`, or nothing.
    folders: [&'static str; 2],
}

impl PairDocument {
    const fn usual(is_backed: bool, bytes: u64) -> Self {
        Self { is_backed, bytes, patience: Duration::from_secs(5), folders: ["", ""] }
    }
}

impl Pair {
    /// Documents and a NATS server; `None`, said aloud, on a machine without one.
    fn new(name: &str, is_backed: bool) -> Option<Self> {
        Self::of_size(name, is_backed, VOLUME_BYTES)
    }

    fn of_size(name: &str, is_backed: bool, bytes: u64) -> Option<Self> {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = ("127.0.0.1".to_owned(), free.local_addr().unwrap().port());
        drop(free);
        let document = PairDocument::usual(is_backed, bytes);
        Self::of(Scene::new(name), address, None, &document)
    }

    /// The same with a network for each host.
    fn within(scene: Scene, network: Network, document: &PairDocument) -> Option<Self> {
        Self::of(scene, (SERVER.to_owned(), 4_222), Some(network), document)
    }

    fn of(
        scene: Scene,
        address: (String, u16),
        network: Option<Network>,
        document: &PairDocument,
    ) -> Option<Self> {
        if document.is_backed {
            let disk = File::create_new(scene.path("disk.img")).unwrap();
            disk.set_len(document.bytes).unwrap();
        }
        let mut pair = Self { scene, address, network, nats: None, hosts: [None, None] };
        for host in [0, 1] {
            let text = pair.document(host, document);
            pair.scene.write(&format!("{}.toml", HOSTS[host]), text.as_bytes());
        }
        pair.allow_messages([true; 2]);
        pair.start_nats().then_some(pair)
    }

    fn document(&self, host: usize, of: &PairDocument) -> String {
        let (name, folder) = (HOSTS[host], of.folders[host]);
        let device = if of.is_backed { "device = \"disk.img\"\n" } else { "" };
        format!(
            "volume = \"mail\"\nhosts = [\"left\", \"right\"]\nhost = \"{name}\"\n\
             flash = \"{folder}{name}.flash\"\nsize = \"{}B\"\npatience = \"{}s\"\n\
             server = \"{}\"\nlisten = [\"unix:{name}.sock\"]\n\
             control = \"{name}.flash.sock\"\n{device}",
            of.bytes,
            of.patience.as_secs(),
            self.server(),
        )
    }

    /// The URL of the NATS server.
    fn server(&self) -> String {
        format!("nats://{}:{}", self.address.0, self.address.1)
    }

    /// Which hosts the NATS server delivers messages of the other one to; a running server must
    /// read its configuration again.
    fn allow_messages(&self, to: [bool; 2]) {
        let subject = |host: &str| format!("\"plimsoll.v1.mirror.mail.{host}.peer\"");
        let denied = HOSTS.iter().zip(to).filter(|(_, is_allowed)| !is_allowed);
        let denied: Vec<String> = denied.map(|(host, _)| subject(host)).collect();
        let text = format!(
            "authorization {{ users = [ {{ user: host, password: unused, permissions: {{ \
             publish: {{ deny: [{}] }} }} }} ] }}\nno_auth_user: host\n\
             jetstream {{ store_dir: nats }}\n",
            denied.join(", ")
        );
        // A server that reads it meanwhile must not find half of it.
        self.scene.write("nats.conf.new", text.as_bytes());
        fs::rename(self.scene.path("nats.conf.new"), self.scene.path("nats.conf")).unwrap();
    }

    /// `command` in the network of the NATS server, or of a host counted from 1.
    fn placed(&self, command: Command, place: Place) -> Command {
        let Some(network) = &self.network else { return command };
        network.enter(place, &command)
    }

    fn start_nats(&mut self) -> bool {
        let program = ["/usr/sbin/nats-server", "/usr/bin/nats-server"]
            .into_iter()
            .find(|path| Path::new(path).exists());
        let Some(program) = program else {
            eprintln!("SKIPPED: nats-server is not installed (apt-get install nats-server)");
            return false;
        };
        let log = self.scene.path("nats.err");
        let mut command = Command::new(program);
        command.args(["-c", "nats.conf", "-a", &self.address.0, "-p"]);
        command.arg(self.address.1.to_string()).current_dir(&self.scene.folder);
        let mut command = self.placed(command, Place::SERVER);
        let errors = File::create(&log).unwrap();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors);
        self.nats = Some(command.spawn().unwrap());
        wait("the NATS server", || {
            fs::read_to_string(&log).is_ok_and(|text| text.contains("Server is ready"))
        });
        true
    }

    fn kill_nats(&mut self) {
        end(&mut self.nats);
    }

    fn start(&mut self, host: usize) {
        let document = format!("{}.toml", HOSTS[host]);
        let command = self.scene.command(["cache", "serve", "--mirror", &document]);
        let mut command = self.placed(command, Place::client(host + 1));
        let errors = File::options().append(true).create(true).open(self.log(host));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors.unwrap());
        self.hosts[host] = Some(command.spawn().unwrap());
    }

    fn kill(&mut self, host: usize) {
        end(&mut self.hosts[host]);
    }

    /// Sends a signal to the server on `host`, if it runs.
    fn signal(&self, host: usize, signal: &str) {
        send_signal(self.hosts[host].as_ref(), signal);
    }

    fn log(&self, host: usize) -> std::path::PathBuf {
        self.scene.path(format!("{}.err", HOSTS[host]))
    }

    fn messages(&self) -> String {
        let text = |path| fs::read_to_string(path).unwrap_or_default();
        let nats = text(self.scene.path("nats.err"));
        let nats: Vec<&str> = nats.lines().rev().take(8).collect();
        let [left, right] = [0, 1].map(|host| text(self.log(host)));
        format!("left:\n{left}right:\n{right}NATS, last first:\n{}", nats.join("\n"))
    }

    /// What the server on a host says of the volume; null if it does not answer.
    fn status(&self, host: usize) -> Value {
        let socket = format!("{}.flash.sock", HOSTS[host]);
        let ran = self.scene.run(["cache", "status", "none", "--json", "--control", &socket]);
        serde_json::from_str(&ran.out).unwrap_or_default()
    }

    fn is_owner(&self, host: usize) -> bool {
        self.status(host)["role"] == "owner"
    }

    /// The host that serves, once one does.
    fn owner(&self) -> usize {
        let mut found = None;
        self.wait("a host to serve", |pair| {
            found = [0, 1].into_iter().find(|host| pair.is_owner(*host));
            found.is_some()
        });
        found.unwrap()
    }

    /// Waits until both copies count.
    fn wait_for_both(&self) -> usize {
        self.wait("both copies", |pair| {
            [0, 1].iter().any(|host| {
                let status = pair.status(*host);
                status["role"] == "owner" && status["data_on"] == "both"
            })
        });
        self.owner()
    }

    #[track_caller]
    fn wait(&self, what: &str, mut until: impl FnMut(&Self) -> bool) {
        let begun = Instant::now();
        while !until(self) {
            assert!(begun.elapsed() < PATIENCE, "{what} does not come: {}", self.messages());
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// The volume's address on a host.
    fn address(&self, host: usize) -> String {
        let socket = self.scene.path(format!("{}.sock", HOSTS[host]));
        format!("nbd+unix:///mail?socket={}", socket.display())
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        for child in self.hosts.iter_mut().chain([&mut self.nats]) {
            end(child);
        }
    }
}

fn end(child: &mut Option<Child>) {
    if let Some(mut child) = child.take() {
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Sends a signal to a program, if it runs.
fn send_signal(child: Option<&Child>, signal: &str) {
    if let Some(child) = child {
        let _ = Command::new("kill").args([signal, &child.id().to_string()]).status();
    }
}

#[track_caller]
fn wait(what: &str, mut until: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !until() {
        assert!(begun.elapsed() < PATIENCE, "{what} does not come");
        thread::sleep(Duration::from_millis(20));
    }
}
