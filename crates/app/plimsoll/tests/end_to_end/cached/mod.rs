//! The flash cache as users run it: made, served, attached by clients that are not ours, killed,
//! drained, removed.

mod fuzz;
mod guests;
mod holes;
mod initiators;
mod kills;
mod page;
mod peers;
mod refusals;
mod service;
mod suite;
mod tester;
mod tls;

use std::fs::{self, File};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::scene::{Ran, Scene};

/// Bytes of the volume.
const VOLUME_BYTES: u64 = 64 << 20;

/// How long a server may take to listen and to stop.
const PATIENCE: Duration = Duration::from_mins(1);

/// What the volume holds at first.
fn noise() -> &'static [u8] {
    static NOISE: OnceLock<Vec<u8>> = OnceLock::new();
    NOISE.get_or_init(|| {
        let mut noise = vec![0; usize::try_from(VOLUME_BYTES).unwrap()];
        units::Prng::new(units::Seed(7)).fill(&mut noise);
        noise
    })
}

/// A scene with a cache of 64 MiB and a volume that holds noise.
pub(crate) fn scene(name: &str) -> Scene {
    let scene = Scene::new(name);
    fs::write(scene.path("disk.img"), noise()).unwrap();
    scene.run(["cache", "create", "flash.img", "--size", "64MiB"]).expect_code(0);
    scene
}

/// A server of the scene's volume as `mail`, at the socket `nbd.sock`; killed when dropped.
pub(crate) struct Served<'a> {
    scene: &'a Scene,
    child: Child,
}

impl<'a> Served<'a> {
    pub(crate) fn start(scene: &'a Scene) -> Self {
        let words = ["cache", "serve", "flash.img", "--volume", "mail=disk.img", "--listen"];
        Self::with(scene, words.iter().chain(&["unix:nbd.sock"]).copied().collect())
    }

    fn with(scene: &'a Scene, words: Vec<&str>) -> Self {
        let mut command = scene.command(words);
        let errors = File::options().append(true).create(true).open(scene.path("serve.err"));
        command.stdout(Stdio::null()).stderr(errors.unwrap());
        let mut served = Self { scene, child: command.spawn().unwrap() };
        served.wait_for_socket("nbd.sock");
        served
    }

    fn wait_for_socket(&mut self, name: &str) {
        let begun = Instant::now();
        while UnixStream::connect(self.scene.path(name)).is_err() {
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none() && begun.elapsed() < PATIENCE, "{}", self.messages());
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn messages(&self) -> String {
        fs::read_to_string(self.scene.path("serve.err")).unwrap_or_default()
    }

    fn status(&self) -> Value {
        let ran = self.scene.run(["cache", "status", "flash.img", "--json"]);
        ran.expect_code(0);
        serde_json::from_str(&ran.out).unwrap()
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = std::process::Command::new("kill").args(["-s", name, &id]).status();
        assert!(sent.unwrap().success());
    }

    /// Ends it by SIGTERM; its exit status.
    fn stop(self) -> i32 {
        self.signal("TERM");
        self.ended()
    }

    /// Its exit status, once it has ended.
    fn ended(mut self) -> i32 {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code().unwrap();
            }
            assert!(begun.elapsed() < PATIENCE, "does not stop: {}", self.messages());
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Served<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs another program in the folder of a scene; `None`, said aloud, if it is not installed.
pub(crate) fn peer(scene: &Scene, words: &[&str]) -> Option<Ran> {
    let mut command = std::process::Command::new(words[0]);
    let output = command.args(&words[1..]).current_dir(&scene.folder).stdin(Stdio::null()).output();
    if output.is_err() {
        eprintln!("skipped: {} is not installed", words[0]);
    }
    output.ok().map(|output| Ran::of(&output))
}

/// Address of the volume for other programs.
fn address(scene: &Scene) -> String {
    format!("nbd+unix:///mail?socket={}", scene.path("nbd.sock").display())
}

fn same(one: &Path, other: &Path) -> bool {
    fs::read(one).unwrap() == fs::read(other).unwrap()
}
