//! Folders of the benchmark, and the servers in them.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use xtask::failure::Failure;
use xtask::shell;

use super::WARM_BYTES;
use super::server::NbdServer;
use crate::folder;

/// Variable that names a program to measure instead of the one built here.
const PROGRAM: &str = "PLIMSOLL";

/// Folder for files whose access must cost no time, like the peer's memory.
pub(crate) const MEMORY: &str = "/dev/shm";

/// Folders that are removed when this is dropped.
pub(super) struct CacheScene {
    program: String,
    memory: PathBuf,
    disk: PathBuf,
}

impl CacheScene {
    pub(super) fn new(directory: &Path) -> Result<Self, Failure> {
        let program = program()?;
        let memory = Path::new(MEMORY).join(format!("plimsoll-bench-{}", std::process::id()));
        let disk = directory.join("plimsoll-bench-cache");
        folder::remove(&disk)?;
        let scene = Self { program, memory, disk };
        folder::create(&scene.disk)?;
        folder::create(&scene.memory)?;
        scene.mount_huge_pages();
        Ok(scene)
    }

    /// Mounts the folder in memory with huge pages. Real flash transfers its bytes by itself, but
    /// memory in small pages needs eight lookups for a read of 32 KiB, which cost the server a
    /// sixth of its time.
    fn mount_huge_pages(&self) {
        let folder = self.memory.display().to_string();
        let words = ["mount", "-t", "tmpfs", "-o", "huge=always", "none", &folder];
        if shell::capture(&words).is_err() {
            println!("flash in small pages, which cost hits a sixth: huge ones need root");
        }
    }

    pub(super) fn in_memory(&self, name: &str) -> PathBuf {
        self.memory.join(name)
    }

    pub(super) fn on_disk(&self, name: &str) -> PathBuf {
        self.disk.join(name)
    }

    /// A command of our program.
    pub(super) fn plimsoll(&self, words: &[&str]) -> Command {
        shell::command(&[&[&*self.program, "--quiet"], words].concat())
    }

    /// Starts this program's server of `volume` behind an empty cache in memory, with the arguments
    /// `more`.
    pub(super) fn serve(&self, volume: &Path, more: &[&str]) -> Result<NbdServer, Failure> {
        let flash = self.in_memory("flash.img");
        // A flash device has its blocks from the start, but a file gets them with the first write.
        let mut file = File::create(&flash).map_err(Failure::of)?;
        let zeros = vec![0; 1 << 20];
        for _ in 0..(2 * WARM_BYTES) >> 20 {
            file.write_all(&zeros).map_err(Failure::of)?;
        }
        let flash = flash.display().to_string();
        let made = self.plimsoll(&["cache", "create", &flash]).status().map_err(Failure::of)?;
        if !made.success() {
            return Err(Failure::new(format!("{flash}: no cache was made")));
        }
        let socket = self.socket("ours.sock");
        let (named, at) =
            (format!("mail={}", volume.display()), format!("unix:{}", socket.display()));
        let words = ["cache", "serve", &flash, "--volume", &named, "--listen", &at];
        NbdServer::start(&mut self.plimsoll(&[&words[..], more].concat()), socket, "mail")
    }

    /// Starts the peer with these arguments.
    pub(super) fn nbdkit(&self, words: &[&str]) -> Result<NbdServer, Failure> {
        let socket = self.socket("peer.sock");
        let mut command = Command::new("nbdkit");
        command.args(["--foreground", "--unix"]).arg(&socket).args(words);
        NbdServer::start(&mut command, socket, "")
    }

    /// Share of reads that the last server started by [`Self::serve`] answered from the cache.
    pub(super) fn hit_share(&self) -> Result<f64, Failure> {
        let flash = self.in_memory("flash.img").display().to_string();
        let printed = shell::capture(&[&self.program, "cache", "status", &flash, "--json"])?;
        let status: Value = serde_json::from_str(&printed).map_err(Failure::of)?;
        let classes = status["classes"].as_array().map_or(&[][..], Vec::as_slice);
        let [reads, hits] = ["reads", "hits"]
            .map(|name| classes.iter().filter_map(|class| class[name].as_f64()).sum::<f64>());
        Ok(hits / reads.max(1.0))
    }

    /// Path of a socket; removes one that an earlier server has left there.
    fn socket(&self, name: &str) -> PathBuf {
        let socket = self.in_memory(name);
        // Usually no socket exists.
        let _ = fs::remove_file(&socket);
        socket
    }
}

impl Drop for CacheScene {
    fn drop(&mut self) {
        // Without root nothing is mounted.
        let _ = shell::capture(&["umount", "--lazy", &self.memory.display().to_string()]);
        for folder in [&self.memory, &self.disk] {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

/// The program to measure.
pub(crate) fn program() -> Result<String, Failure> {
    if let Ok(program) = std::env::var(PROGRAM) {
        return Ok(program);
    }
    shell::run(&["cargo", "build", "-q", "--release", "-p", "plimsoll"])?;
    Ok(shell::root().join("target/release/plimsoll").display().to_string())
}
