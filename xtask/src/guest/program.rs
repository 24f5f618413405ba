//! Programs next to a guest: the server of its volume, and a NATS server. Each is killed when
//! dropped, and by the kernel if the proof itself is killed.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use xtask::failure::Failure;
use xtask::shell;

/// A command that the kernel kills once this process is gone.
pub(super) fn dependent(program: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", program]);
    command
}

/// Builds the program with the development profile.
pub(super) fn build() -> Result<Plimsoll, Failure> {
    shell::run(&["cargo", "build", "-q", "-p", "plimsoll"])?;
    Ok(Plimsoll(shell::root().join("target/debug/plimsoll")))
}

/// Builds the program with the release profile.
pub(super) fn build_released() -> Result<Plimsoll, Failure> {
    shell::run(&["cargo", "build", "-q", "--release", "-p", "plimsoll"])?;
    Ok(Plimsoll(shell::root().join("target/release/plimsoll")))
}

/// The program under test.
pub(super) struct Plimsoll(PathBuf);

impl Plimsoll {
    /// Runs the program in `folder`; returns its output.
    pub(super) fn answer(&self, folder: &Path, words: &[&str]) -> Result<String, Failure> {
        let output = Command::new(&self.0).args(words).current_dir(folder).output();
        let output = output.map_err(Failure::of)?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(Failure::new(format!("`plimsoll {}` failed: {errors}", words.join(" "))))
    }

    /// The state that the server with this control socket reports; null if it does not answer.
    pub(super) fn status(&self, folder: &Path, control: &str) -> Value {
        let words = ["cache", "status", "none", "--json", "--control", control];
        let text = self.answer(folder, &words).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Starts the program as a server in `folder`; its messages are appended to `NAME.log`.
    pub(super) fn serve(
        &self,
        (folder, name): (&Path, &str),
        words: &[&str],
    ) -> Result<Server, Failure> {
        let mut command = dependent(&self.0.display().to_string());
        Server::start(command.args(words), folder, name)
    }
}

/// A server in the background.
pub(super) struct Server(Child);

impl Server {
    /// Starts `command` in `folder`; its messages are appended to `NAME.log`.
    pub(super) fn start(command: &mut Command, folder: &Path, name: &str) -> Result<Self, Failure> {
        let log = folder.join(format!("{name}.log"));
        let log = File::options().append(true).create(true).open(log).map_err(Failure::of)?;
        command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        Ok(Self(command.spawn().map_err(Failure::of)?))
    }

    /// Kills the server with SIGKILL.
    pub(super) fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Creates or empties the folder for one proof.
pub(super) fn emptied(folder: &Path, name: &str) -> Result<PathBuf, Failure> {
    let folder = folder.join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(Failure::of)?;
    Ok(folder)
}
