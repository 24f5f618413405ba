//! A folder of one host on a volume that fails or slows down on command.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use xtask::failure::Failure;
use xtask::shell;

use super::wait_until;

/// The running program that mounts the volume; unmounted when dropped.
pub(super) struct Volume {
    program: Child,
    mount: PathBuf,
}

impl Volume {
    /// Mounts a volume at `mount`, with its files in an adjacent folder, using the program in
    /// `programs`.
    pub(super) fn mount(programs: &Path, mount: &Path) -> Result<Self, Failure> {
        let backing = mount.with_extension("disk");
        for folder in [mount, backing.as_path()] {
            fs::create_dir_all(folder).map_err(Failure::of)?;
        }
        let program = Command::new(programs.join("faultfs"))
            .args([backing.as_path(), mount])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .map_err(Failure::of)?;
        let volume = Self { program, mount: mount.to_path_buf() };
        wait_until("the mount of a volume with faults", Duration::from_secs(20), || {
            fs::read_to_string("/proc/mounts")
                .is_ok_and(|all| all.contains(&*mount.to_string_lossy()))
        })?;
        Ok(volume)
    }

    /// Applies `rules`, separated by semicolons, to requests from now on; `testkit` describes them.
    pub(super) fn set(&mut self, rules: &str) -> Result<(), Failure> {
        let input = self.program.stdin.as_mut();
        let input = input.ok_or_else(|| Failure::new("the volume takes no rules"))?;
        writeln!(input, "set {rules}").map_err(Failure::of)
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        // The program unmounts the volume when its input ends.
        drop(self.program.stdin.take());
        let ended = || self.program.try_wait().is_ok_and(|status| status.is_some());
        if wait_until("the end of a volume", Duration::from_secs(10), ended).is_err() {
            let _ = shell::capture(&["umount", "-l", &self.mount.display().to_string()]);
            let _ = self.program.kill().and_then(|()| self.program.wait());
        }
    }
}
