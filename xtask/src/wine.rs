//! One Wine session for all programs that run under it: Windows boots once, within a time limit.
//!
//! Debian's wrapper stops Wine's server after the last program, so that each program would boot
//! Windows again, and a boot whose services have died would wait for them forever.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use xtask::failure::Failure;

/// The program that runs Windows programs.
pub(crate) const WINE: &str = "/usr/lib/wine/wine64";

const SERVER: &str = "/usr/lib/wine/wineserver64";

/// Time limit of a boot: thirty times as long as the first boot, which fills the prefix, takes on
/// an idle machine.
const BOOT_LIMIT: Duration = Duration::from_mins(5);

const BOOTS: usize = 2;

/// A booted Wine; its server is stopped when this is dropped.
pub(crate) struct Session {
    prefix: PathBuf,
}

impl Session {
    /// Boots the Windows in `prefix`, created if missing.
    pub(crate) fn boot(prefix: PathBuf) -> Result<Self, Failure> {
        fs::create_dir_all(&prefix)
            .map_err(|error| Failure::new(format!("{}: {error}", prefix.display())))?;
        let session = Self { prefix };
        for _ in 0..BOOTS {
            session.server("-k");
            session.server("-p");
            let mut boot = session.command(WINE);
            boot.args(["wineboot", "--init"]);
            if ends_within(&mut boot, BOOT_LIMIT)? {
                return Ok(session);
            }
            println!("Wine has not booted within {} s", BOOT_LIMIT.as_secs());
        }
        Err(Failure::new(format!(
            "Wine does not boot; remove {} and try again",
            session.prefix.display()
        )))
    }

    /// The Wine prefix.
    pub(crate) fn prefix(&self) -> &Path {
        &self.prefix
    }

    /// A command that runs in this session.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("WINEPREFIX", &self.prefix).env("WINEDEBUG", "-all");
        command
    }

    /// Starts or stops the server. A failure to start shows in the boot.
    fn server(&self, how: &str) {
        let mut command = self.command(SERVER);
        let _ = command.arg(how).stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.server("-k");
    }
}

/// Whether a command succeeds within `limit`; after that it is killed.
fn ends_within(command: &mut Command, limit: Duration) -> Result<bool, Failure> {
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().map_err(Failure::of)?;
    let started = Instant::now();
    while started.elapsed() < limit {
        if let Some(status) = child.try_wait().map_err(Failure::of)? {
            return Ok(status.success());
        }
        thread::sleep(Duration::from_millis(50));
    }
    child.kill().and_then(|()| child.wait()).map_err(Failure::of)?;
    Ok(false)
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::Duration;

    use super::ends_within;

    #[test]
    fn a_command_that_hangs_is_ended_at_the_limit() {
        let mut hangs = Command::new("sleep");
        assert!(!ends_within(hangs.arg("3600"), Duration::from_millis(200)).unwrap());
        assert!(ends_within(&mut Command::new("true"), Duration::from_mins(1)).unwrap());
        assert!(!ends_within(&mut Command::new("false"), Duration::from_mins(1)).unwrap());
    }
}
