//! Namespaces, links, server and agents; all of it is gone with the values.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use xtask::failure::Failure;
use xtask::shell;

use super::wait_until;

pub(super) const HOSTS: usize = 4;
const SERVER: &str = "10.77.0.1:4222";
const PATIENCE: Duration = Duration::from_mins(3);

/// A bridge with four hosts on it, each in its own network.
pub(super) struct World {
    folder: PathBuf,
    /// Part of the names of all networks.
    tag: String,
}

/// A server and its agents for one case.
pub(super) struct Fleet<'a> {
    world: &'a World,
    pub(super) folder: PathBuf,
    agents: Vec<Child>,
}

fn path(path: &Path) -> String {
    path.display().to_string()
}

impl World {
    pub(super) fn new() -> Result<Self, Failure> {
        let folder = shell::root().join("target/fleet");
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(Failure::of)?;
        let world = Self { folder, tag: format!("plf{}", std::process::id()) };
        let centre = world.network(0);
        shell::run(&["ip", "netns", "add", &centre])?;
        world.inside(0, &["ip", "link", "add", "br0", "type", "bridge"])?;
        world.inside(0, &["ip", "addr", "add", "10.77.0.1/24", "dev", "br0"])?;
        world.inside(0, &["ip", "link", "set", "br0", "up"])?;
        world.inside(0, &["ip", "link", "set", "lo", "up"])?;
        for host in 1..=HOSTS {
            world.add(host)?;
        }
        world.certify()?;
        Ok(world)
    }

    fn network(&self, host: usize) -> String {
        format!("{}-{host}", self.tag)
    }

    fn add(&self, host: usize) -> Result<(), Failure> {
        let (network, link) = (self.network(host), format!("v{host}"));
        shell::run(&["ip", "netns", "add", &network])?;
        let veth = ["ip", "link", "add", &link, "type", "veth", "peer", "name", "eth0", "netns"];
        self.inside(0, &[&veth[..], &[&network]].concat())?;
        self.inside(0, &["ip", "link", "set", &link, "master", "br0", "up"])?;
        let address = format!("10.77.0.{}/24", host + 1);
        self.inside(host, &["ip", "addr", "add", &address, "dev", "eth0"])?;
        self.inside(host, &["ip", "link", "set", "eth0", "up"])?;
        self.inside(host, &["ip", "link", "set", "lo", "up"])
    }

    /// An authority and a certificate of the server by it.
    fn certify(&self) -> Result<(), Failure> {
        let file = |name: &str| path(&self.folder.join(name));
        let new = ["openssl", "req", "-newkey", "ec", "-pkeyopt"];
        let curve = ["ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
        let (authority, key) = (file("ca.pem"), file("ca.key"));
        let own = ["-x509", "-subj", "/CN=plimsoll", "-keyout", &key, "-out", &authority];
        shell::capture(&[&new[..], &curve, &own].concat())?;
        let (server, server_key) = (file("server.pem"), file("server.key"));
        let signed = ["-x509", "-subj", "/CN=server", "-CA", &authority, "-CAkey", &key];
        let names = ["-addext", "subjectAltName=IP:10.77.0.1", "-addext"];
        let rest = ["basicConstraints=critical,CA:FALSE", "-keyout", &server_key, "-out", &server];
        shell::capture(&[&new[..], &curve, &signed, &names, &rest].concat()).map(drop)
    }

    fn inside(&self, host: usize, words: &[&str]) -> Result<(), Failure> {
        let network = self.network(host);
        shell::run(&[&["ip", "netns", "exec", &network], words].concat())
    }

    /// The program in the network of a host, with the files of `folder`.
    fn plimsoll(&self, host: usize, folder: &Path, words: &[&str]) -> Command {
        let program = path(&shell::root().join("target/debug/plimsoll"));
        let network = self.network(host);
        let begin = ["netns", "exec", &network, &program];
        let mut command = Command::new("ip");
        command.args(begin).args(words).current_dir(folder).stdin(Stdio::null());
        command
    }

    /// A server with agents on all hosts, which measure for `seconds`.
    pub(super) fn fleet(&self, name: &str, seconds: u32) -> Result<Fleet<'_>, Failure> {
        let folder = self.folder.join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(Failure::of)?;
        let mut fleet = Fleet { world: self, folder, agents: Vec::new() };
        fleet.up()?;
        let mut plan = format!("name = {name:?}\n");
        for host in 1..=HOSTS {
            fleet.join(host, seconds)?;
            let host = format!("[[host]]\nhost = \"h{host}\"\nplan = \"h{host}.toml\"\n");
            plan.push_str(&host);
        }
        fs::write(fleet.folder.join("fleet.toml"), plan).map_err(Failure::of)?;
        Ok(fleet)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for host in 0..=HOSTS {
            let _ = shell::capture(&["ip", "netns", "del", &self.network(host)]);
        }
    }
}

impl Fleet<'_> {
    fn up(&self) -> Result<(), Failure> {
        let [cert, key, ca] =
            ["server.pem", "server.key", "ca.pem"].map(|name| path(&self.world.folder.join(name)));
        let tls = ["--tls-cert", &cert, "--tls-key", &key, "--tls-ca", &ca];
        let words = [&["fleet", "up", "--listen", SERVER][..], &tls].concat();
        self.answer(&words).map(drop)
    }

    fn join(&mut self, host: usize, seconds: u32) -> Result<(), Failure> {
        let data = self.folder.join(format!("data{host}"));
        fs::create_dir_all(&data).map_err(Failure::of)?;
        let plan = format!(
            "[databases]\nfolders = [{:?}]\nsize = \"16MiB\"\n[engine]\ncache_minimum = \"2MiB\"\n\
             cache_maximum = \"4MiB\"\n[workload]\nthreads = 1\ntarget_iops = 40\n[test]\n\
             duration = \"{seconds}s\"\nwarm_up_limit = \"1s\"\ninterval = \"1s\"\n",
            path(&data)
        );
        fs::write(self.folder.join(format!("h{host}.toml")), plan).map_err(Failure::of)?;
        self.start_agent(host)
    }

    pub(super) fn start_agent(&mut self, host: usize) -> Result<(), Failure> {
        let (name, state, data) =
            (format!("h{host}"), format!("agent{host}"), format!("data{host}"));
        let words = ["agent", "--credentials", "plimsoll-fleet/agent.json", "--name", &name];
        let words = [&words[..], &["--state", &state, "--allow", &data]].concat();
        let mut command = self.world.plimsoll(host, &self.folder, &words);
        let agent = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        self.agents.push(agent.map_err(Failure::of)?);
        Ok(())
    }

    /// What the program answers on the machine of the controller.
    pub(super) fn answer(&self, words: &[&str]) -> Result<(i32, String), Failure> {
        let mut command = self.world.plimsoll(0, &self.folder, words);
        let output = command.stderr(Stdio::piped()).output().map_err(Failure::of)?;
        let code = output.status.code().unwrap_or(-1);
        if output.stdout.is_empty() {
            return Err(Failure::new(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
        }
        Ok((code, String::from_utf8_lossy(&output.stdout).into_owned()))
    }

    /// Starts the fleet run; its report comes from [`Fleet::report`].
    pub(super) fn start(&self) -> Result<Child, Failure> {
        let words = ["fleet", "run", "fleet.toml", "-o", "out", "--json"];
        let mut command = self.world.plimsoll(0, &self.folder, &words);
        command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().map_err(Failure::of)
    }

    /// Exit status and report of a run that ends.
    pub(super) fn report(run: Child) -> Result<(i32, Value), Failure> {
        let output = run.wait_with_output().map_err(Failure::of)?;
        let report = serde_json::from_slice(&output.stdout).map_err(Failure::of)?;
        Ok((output.status.code().unwrap_or(-1), report))
    }

    /// Collects the journals once more: exit status and report.
    pub(super) fn collect(&self) -> Result<(i32, Value), Failure> {
        let (code, text) = self.answer(&["fleet", "collect", "out", "--json"])?;
        Ok((code, serde_json::from_str(&text).map_err(Failure::of)?))
    }

    /// Waits until all hosts measure.
    pub(super) fn wait_for_the_measurement(&self) -> Result<(), Failure> {
        let journal = self.folder.join("out/fleet.jsonl");
        let has_begun =
            || fs::read_to_string(&journal).is_ok_and(|text| text.contains("\"measuring\""));
        wait_until("the measurement", PATIENCE, has_begun)?;
        std::thread::sleep(Duration::from_secs(4));
        Ok(())
    }

    pub(super) fn link(&self, host: usize, state: &str) -> Result<(), Failure> {
        self.world.inside(0, &["ip", "link", "set", &format!("v{host}"), state])
    }

    /// Sends a signal to the agent of a host. `ip netns exec` becomes the agent itself.
    pub(super) fn signal(&self, host: usize, signal: &str) -> Result<(), Failure> {
        let process = self.agents[host - 1].id().to_string();
        shell::run(&["kill", signal, &process])
    }

    /// Kills the server at once.
    pub(super) fn kill_server(&self) -> Result<(), Failure> {
        let file = self.folder.join("plimsoll-fleet/server.pid");
        let process = fs::read_to_string(file).map_err(Failure::of)?;
        shell::run(&["kill", "-KILL", process.trim()])
    }

    /// Starts a killed server with its files as they are.
    pub(super) fn restart_server(&self) -> Result<(), Failure> {
        let folder = self.folder.join("plimsoll-fleet");
        let network = self.world.network(0);
        let mut command = Command::new("ip");
        command
            .args(["netns", "exec", &network, "nats-server", "-c"])
            .arg(folder.join("nats.conf"));
        let server = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let process = server.map_err(Failure::of)?.id().to_string();
        fs::write(folder.join("server.pid"), process).map_err(Failure::of)
    }
}

impl Drop for Fleet<'_> {
    fn drop(&mut self) {
        for agent in &mut self.agents {
            let _ = agent.kill();
            let _ = agent.wait();
        }
        let _ = self.answer(&["fleet", "down"]);
    }
}
