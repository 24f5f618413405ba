//! One volume on two hosts as users run it: two servers and a NATS server on loopback, killed while
//! guests write.

mod device;
mod guest;
mod kills;
mod orders;
mod refusals;

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

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
    port: u16,
    nats: Option<Child>,
    hosts: [Option<Child>; 2],
}

impl Pair {
    /// Documents and a NATS server; `None`, said aloud, on a machine without one.
    fn new(name: &str, is_backed: bool) -> Option<Self> {
        Self::of_size(name, is_backed, VOLUME_BYTES)
    }

    fn of_size(name: &str, is_backed: bool, bytes: u64) -> Option<Self> {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let scene = Scene::new(name);
        if is_backed {
            let disk = File::create_new(scene.path("disk.img")).unwrap();
            disk.set_len(bytes).unwrap();
        }
        let mut pair = Self { scene, port, nats: None, hosts: [None, None] };
        for host in HOSTS {
            let document = pair.document(host, is_backed, bytes);
            pair.scene.write(&format!("{host}.toml"), document.as_bytes());
        }
        pair.start_nats().then_some(pair)
    }

    fn document(&self, host: &str, is_backed: bool, bytes: u64) -> String {
        let device = if is_backed { "device = \"disk.img\"\n" } else { "" };
        format!(
            "volume = \"mail\"\nhosts = [\"left\", \"right\"]\nhost = \"{host}\"\n\
             flash = \"{host}.flash\"\nsize = \"{bytes}B\"\npatience = \"5s\"\n\
             server = \"nats://127.0.0.1:{}\"\nlisten = [\"unix:{host}.sock\"]\n{device}",
            self.port
        )
    }

    fn start_nats(&mut self) -> bool {
        let program = ["/usr/sbin/nats-server", "/usr/bin/nats-server"]
            .into_iter()
            .find(|path| Path::new(path).exists());
        let Some(program) = program else {
            eprintln!("SKIPPED: nats-server is not installed (apt-get install nats-server)");
            return false;
        };
        let mut command = Command::new(program);
        command.args(["-a", "127.0.0.1", "-p", &self.port.to_string(), "-js", "-sd"]);
        command.arg(self.scene.path("nats")).stdout(Stdio::null()).stderr(Stdio::null());
        self.nats = Some(command.spawn().unwrap());
        let port = self.port;
        wait("the NATS server", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
        true
    }

    fn kill_nats(&mut self) {
        end(&mut self.nats);
    }

    fn start(&mut self, host: usize) {
        let name = HOSTS[host];
        let mut command = self.scene.command(["cache", "serve", "--mirror"]);
        let errors = File::options().append(true).create(true).open(self.log(host));
        command.arg(format!("{name}.toml")).stdout(Stdio::null()).stderr(errors.unwrap());
        self.hosts[host] = Some(command.spawn().unwrap());
    }

    fn kill(&mut self, host: usize) {
        end(&mut self.hosts[host]);
    }

    fn log(&self, host: usize) -> std::path::PathBuf {
        self.scene.path(format!("{}.err", HOSTS[host]))
    }

    fn messages(&self) -> String {
        let text = |host| fs::read_to_string(self.log(host)).unwrap_or_default();
        format!("left:\n{}right:\n{}", text(0), text(1))
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

#[track_caller]
fn wait(what: &str, mut until: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !until() {
        assert!(begun.elapsed() < PATIENCE, "{what} does not come");
        thread::sleep(Duration::from_millis(20));
    }
}
