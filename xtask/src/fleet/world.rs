//! A server and its agents for one case, stopped when dropped.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use xtask::failure::Failure;
use xtask::network::{Network, Place, SERVER};
use xtask::shell;

use super::certificate::Certificate;
use super::design::{Design, host_name};
use super::network::{CONTROLLER, place};
use super::reports::began;
use super::volume::Volume;
use super::wait_until;

/// Time limit for a fleet to prepare, warm up and begin to measure.
const BEGINS_WITHIN: Duration = Duration::from_mins(5);

/// Resources that all cases share.
pub(super) struct Site {
    pub(super) network: Network,
    folder: PathBuf,
    /// Folder with the programs.
    programs: PathBuf,
    certificate: Certificate,
}

/// A server and agents for one case.
pub(super) struct Fleet<'a> {
    site: &'a Site,
    pub(super) folder: PathBuf,
    agents: Vec<Child>,
    server: Option<Child>,
    pub(super) volume: Option<Volume>,
}

fn path(path: &Path) -> String {
    path.display().to_string()
}

impl Site {
    /// Uses two folders: one for the files of all cases, and one with the programs.
    pub(super) fn new(network: Network, folders: (&str, &str)) -> Result<Self, Failure> {
        // Only the folder of each case inside is emptied.
        let folder = shell::root().join(folders.0);
        let programs = shell::root().join(folders.1);
        fs::create_dir_all(&folder).map_err(Failure::of)?;
        let certificate = Certificate::new(&folder)?;
        Ok(Self { network, folder, programs, certificate })
    }

    /// A command that runs the program at a place, in `folder`.
    fn plimsoll(&self, place: Place, folder: &Path, words: &[&str]) -> Command {
        let program = path(&self.programs.join("plimsoll"));
        let mut command = self.network.command(place, &[&[program.as_str()], words].concat());
        command.current_dir(folder).stdin(Stdio::null());
        command
    }
}

impl<'a> Fleet<'a> {
    /// Starts a server, and agents with their plans on all hosts.
    pub(super) fn new(site: &'a Site, name: &str, design: &Design) -> Result<Self, Failure> {
        let folder = site.folder.join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(Failure::of)?;
        let mut fleet = Self { site, folder, agents: Vec::new(), server: None, volume: None };
        fleet.up()?;
        for host in 1..=design.hosts {
            let data = fleet.folder.join(format!("data{host}"));
            fs::create_dir_all(&data).map_err(Failure::of)?;
            if design.faulty == Some(host) {
                fleet.volume = Some(Volume::mount(&site.programs, &data)?);
            }
            for database in (design.databases)(host) {
                fs::create_dir_all(data.join(database)).map_err(Failure::of)?;
            }
            fleet.write(&format!("{}.toml", host_name(host)), &design.host_plan(host, &data))?;
            fleet.start_agent(host)?;
        }
        fleet.write("fleet.toml", &design.fleet_plan(name))?;
        Ok(fleet)
    }

    fn write(&self, name: &str, text: &str) -> Result<(), Failure> {
        fs::write(self.folder.join(name), text).map_err(Failure::of)
    }

    fn up(&self) -> Result<(), Failure> {
        let of = &self.site.certificate;
        let [cert, key, ca] = [&of.own, &of.key, &of.authority].map(|file| path(file));
        let listen = format!("{SERVER}:4222");
        let tls = ["--tls-cert", &cert, "--tls-key", &key, "--tls-ca", &ca];
        let words = [&["fleet", "up", "--listen", &listen][..], &tls].concat();
        self.answer(Place::SERVER, &words).map(drop)
    }

    /// Starts the agent of a host; a second agent takes over the folder of the first.
    pub(super) fn start_agent(&mut self, host: usize) -> Result<(), Failure> {
        let (name, state, data) = (host_name(host), format!("agent{host}"), format!("data{host}"));
        let words = ["agent", "--credentials", "plimsoll-fleet/agent.json", "--name", &name];
        let words = [&words[..], &["--state", &state, "--allow", &data]].concat();
        let mut command = self.site.plimsoll(place(host), &self.folder, &words);
        let said = File::create(self.folder.join(format!("{name}.txt"))).map_err(Failure::of)?;
        let agent = command.stdout(Stdio::null()).stderr(said).spawn().map_err(Failure::of)?;
        if self.agents.len() < host {
            self.agents.push(agent);
        } else {
            self.agents[host - 1] = agent;
        }
        Ok(())
    }

    /// Runs the program at a place; returns its exit status and output.
    fn answer(&self, place: Place, words: &[&str]) -> Result<(i32, String), Failure> {
        let mut command = self.site.plimsoll(place, &self.folder, words);
        let output = command.stderr(Stdio::piped()).output().map_err(Failure::of)?;
        let code = output.status.code().unwrap_or(-1);
        if output.stdout.is_empty() {
            return Err(Failure::new(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
        }
        Ok((code, String::from_utf8_lossy(&output.stdout).into_owned()))
    }

    /// Starts the fleet run; [`Fleet::report`] returns its report.
    pub(super) fn start(&self) -> Result<Child, Failure> {
        let words = ["fleet", "run", "fleet.toml", "-o", "out", "--json"];
        let mut command = self.site.plimsoll(CONTROLLER, &self.folder, &words);
        let said = File::create(self.folder.join("controller.txt")).map_err(Failure::of)?;
        command.stdout(Stdio::piped()).stderr(said).spawn().map_err(Failure::of)
    }

    /// Waits for the run to end; returns its exit status and report.
    pub(super) fn report(&self, run: Child) -> Result<(i32, Value), Failure> {
        let output = run.wait_with_output().map_err(Failure::of)?;
        let report = serde_json::from_slice(&output.stdout).map_err(|_| {
            let said = fs::read_to_string(self.folder.join("controller.txt")).unwrap_or_default();
            Failure::new(format!("no report: {}", said.lines().last().unwrap_or_default()))
        })?;
        began(&report)?;
        Ok((output.status.code().unwrap_or(-1), report))
    }

    /// Collects the journals again; returns exit status and report.
    pub(super) fn collect(&self) -> Result<(i32, Value), Failure> {
        let words = ["fleet", "collect", "out", "--json"];
        let (code, text) = self.answer(CONTROLLER, &words)?;
        Ok((code, serde_json::from_str(&text).map_err(Failure::of)?))
    }

    /// Waits until all hosts have measured for four seconds.
    pub(super) fn wait_for_the_measurement(&self) -> Result<(), Failure> {
        let journal = self.folder.join("out/fleet.jsonl");
        let has_begun =
            || fs::read_to_string(&journal).is_ok_and(|text| text.contains("\"measuring\""));
        wait_until("the measurement", BEGINS_WITHIN, has_begun)?;
        thread::sleep(Duration::from_secs(6));
        Ok(())
    }

    /// Pulls the cable of a host, or plugs it in.
    pub(super) fn plug(&self, host: usize, is_in: bool) -> Result<(), Failure> {
        self.site.network.plug(place(host), is_in)
    }

    /// Stops the run of a host, which continues without its agent.
    fn end_run(&self, host: usize) -> Result<(), Failure> {
        let runs = fs::read_dir(self.folder.join(format!("agent{host}/runs")));
        for run in runs.map_err(Failure::of)?.flatten() {
            let process = fs::read_to_string(run.path().join("run.pid")).map_err(Failure::of)?;
            let words = fs::read(format!("/proc/{}/cmdline", process.trim()));
            let words = String::from_utf8_lossy(&words.unwrap_or_default()).into_owned();
            if words.contains(&path(&run.path())) {
                shell::run(&["kill", "-KILL", process.trim()])?;
            }
        }
        Ok(())
    }

    /// Sends a signal to the agent of a host.
    pub(super) fn signal(&self, host: usize, signal: &str) -> Result<(), Failure> {
        let process = self.agents[host - 1].id().to_string();
        shell::run(&["kill", signal, &process])
    }

    /// Kills the server with SIGKILL.
    pub(super) fn kill_server(&self) -> Result<(), Failure> {
        let file = self.folder.join("plimsoll-fleet/server.pid");
        let process = fs::read_to_string(file).map_err(Failure::of)?;
        shell::run(&["kill", "-KILL", process.trim()])
    }

    /// Starts a killed server again with its existing files.
    pub(super) fn restart_server(&mut self) -> Result<(), Failure> {
        let configuration = path(&self.folder.join("plimsoll-fleet/nats.conf"));
        let words = ["nats-server", "-c", &configuration];
        let mut command = self.site.network.command(Place::SERVER, &words);
        let said = File::create(self.folder.join("server.txt")).map_err(Failure::of)?;
        let server = command.stdout(Stdio::null()).stderr(said).spawn().map_err(Failure::of)?;
        self.server = Some(server);
        Ok(())
    }
}

impl Drop for Fleet<'_> {
    fn drop(&mut self) {
        for agent in self.agents.iter_mut().chain(&mut self.server) {
            let _ = agent.kill().and_then(|()| agent.wait());
        }
        for host in 1..=self.agents.len() {
            let _ = self.end_run(host);
        }
        let _ = self.answer(Place::SERVER, &["fleet", "down"]);
    }
}
