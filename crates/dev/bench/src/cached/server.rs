//! A server of one export: this program's or nbdkit.

use std::fs;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use xtask::failure::Failure;
use xtask::shell;

/// Maximum time until a server listens.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server that is stopped when this is dropped.
pub(super) struct NbdServer {
    child: Child,
    socket: PathBuf,
    export: &'static str,
    bytes: u64,
}

impl NbdServer {
    /// Starts `command`, which listens on `socket`.
    pub(super) fn start(
        command: &mut Command,
        socket: PathBuf,
        export: &'static str,
    ) -> Result<Self, Failure> {
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn();
        let mut server = Self { child: child.map_err(Failure::of)?, socket, export, bytes: 0 };
        server.wait()?;
        let size = shell::capture(&["nbdinfo", "--size", &server.uri()])?;
        server.bytes = size.trim().parse().map_err(Failure::of)?;
        Ok(server)
    }

    fn wait(&mut self) -> Result<(), Failure> {
        let began = Instant::now();
        while UnixStream::connect(&self.socket).is_err() {
            let has_ended = self.child.try_wait().map_err(Failure::of)?.is_some();
            if has_ended || began.elapsed() > PATIENCE {
                return Err(Failure::new(format!("{}: no server", self.socket.display())));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    /// Bytes of the export.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn socket(&self) -> &Path {
        &self.socket
    }

    pub(super) fn uri(&self) -> String {
        format!("nbd+unix:///{}?socket={}", self.export, self.socket.display())
    }

    /// User and system time of the server, in the kernel's ticks of a hundredth of a second.
    pub(super) fn processor_time(&self) -> Result<Duration, Failure> {
        let path = format!("/proc/{}/stat", self.child.id());
        let text = fs::read_to_string(&path).map_err(Failure::of)?;
        // The name in parentheses may contain anything; both times come after it.
        let fields = text.rsplit_once(')').map_or("", |(_, fields)| fields);
        let times = fields.split_whitespace().skip(11).take(2);
        let ticks: u64 = times.filter_map(|field| field.parse::<u64>().ok()).sum();
        Ok(Duration::from_millis(ticks * 10))
    }
}

impl Drop for NbdServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
