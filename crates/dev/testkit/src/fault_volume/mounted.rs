//! Mounts a volume and ensures that it is unmounted again.

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use fuser::{BackgroundSession, Config, MountOption, Session};
use nix::mount::{MntFlags, umount2};

use super::backing::Served;
use super::rule::Rule;
use super::switch::Switch;

/// Threads that answer requests; each may wait for the backing disk.
const THREADS: usize = 8;

/// A mounted volume; see the module. Unmounted when dropped.
pub struct FaultVolume {
    mount_point: PathBuf,
    switch: Arc<Switch>,
    session: Option<BackgroundSession>,
    watcher: Child,
}

impl FaultVolume {
    /// Whether this user can mount a FUSE volume on this machine.
    pub fn is_possible() -> bool {
        let mut options = fs::OpenOptions::new();
        let device = options.read(true).write(true).open("/dev/fuse");
        device.is_ok() && nix::unistd::geteuid().is_root()
    }

    /// Mounts the folder `backing` at the folder `mount_point`. Fails if `/dev/fuse` is missing or
    /// this user may not mount.
    pub fn mount(backing: &Path, mount_point: &Path) -> io::Result<Self> {
        let (backing, mount_point) = (backing.canonicalize()?, mount_point.canonicalize()?);
        let switch = Arc::new(Switch::new());
        let served = Served::new(backing, Arc::clone(&switch));
        let mut config = Config::default();
        config.mount_options = vec![MountOption::FSName("plimsoll-faults".to_owned())];
        config.n_threads = Some(THREADS);
        let session = Session::new(served, &mount_point, &config)?.spawn()?;
        Ok(Self { watcher: watch(&mount_point)?, mount_point, switch, session: Some(session) })
    }

    /// Replaces all rules. Hung requests continue.
    pub fn set(&self, rules: Vec<Rule>) {
        self.switch.set(rules);
    }

    /// Number of faults injected so far.
    pub fn injected(&self) -> u64 {
        self.switch.injected()
    }

    /// Number of flushes received, including ignored ones.
    pub fn flushes(&self) -> u64 {
        self.switch.flushes()
    }

    /// The folder at which the volume is mounted.
    pub fn folder(&self) -> &Path {
        &self.mount_point
    }
}

impl Drop for FaultVolume {
    fn drop(&mut self) {
        self.switch.set(Vec::new());
        // A folder still in use is unmounted once its last user is gone.
        let _ = umount2(&self.mount_point, MntFlags::MNT_DETACH);
        drop(self.session.take());
        drop(self.watcher.stdin.take());
        let _ = self.watcher.wait();
    }
}

/// Starts a shell that unmounts the folder when this process is gone, however it ended.
fn watch(mount_point: &Path) -> io::Result<Child> {
    Command::new("sh")
        .args(["-c", "read -r line; umount -l \"$0\" 2>/dev/null"])
        .arg(mount_point)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Ctrl-C goes to the process group of this process, so the shell gets a separate one.
        .process_group(0)
        .spawn()
}
