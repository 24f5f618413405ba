//! A real iSCSI target on the loopback interface: `tgtd` of the package tgt, with a separate
//! control socket, so that no other instance on the machine is touched.

use std::fs::{self, File};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// Name of the only target.
pub const TARGET: &str = "iqn.2026-11.example.plimsoll:mail";

/// The `tgtd` process, see the module. It is stopped when this is dropped.
pub struct Tgt {
    child: Child,
    folder: PathBuf,
    port: u16,
}

impl Tgt {
    /// Starts `tgtd` with its socket in `folder`, one target and no LUN. If tgt is not installed,
    /// reports that the test is skipped and returns `None`.
    ///
    /// # Panics
    /// If `tgtd` is installed but does not start.
    pub fn start(folder: &Path) -> Option<Self> {
        Self::start_with(folder, &[])
    }

    /// Like [`Self::start`], with a portal on each of `hosts` too.
    ///
    /// # Panics
    /// If `tgtd` is installed but does not start.
    #[expect(clippy::print_stderr, reason = "a skipped test says so")]
    pub fn start_with(folder: &Path, hosts: &[&str]) -> Option<Self> {
        // A port that is free now, and probably still when `tgtd` opens it.
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port of the loopback interface");
        let port = listener.local_addr().expect("a bound address").port();
        drop(listener);
        let mut command = Command::new("tgtd");
        command.args(["-f", "-C", "1", "--iscsi", &format!("portal=127.0.0.1:{port}")]);
        command.env("TGT_IPC_SOCKET", folder.join("tgt"));
        let log = File::create(folder.join("tgt.log")).expect("a log of tgtd");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let Ok(child) = command.spawn() else {
            eprintln!("skipped: tgtd is not installed (Debian package tgt)");
            return None;
        };
        let mut server = Self { child, folder: folder.to_owned(), port };
        for _ in 0..500 {
            let listens = TcpStream::connect(("127.0.0.1", port)).is_ok();
            if listens && server.tries(&["--op", "show", "--mode", "system"]) {
                server.admin(&["--op", "new", "--mode", "target", "--tid", "1", "-T", TARGET]);
                server.admin(&["--op", "bind", "--mode", "target", "--tid", "1", "-I", "ALL"]);
                for host in hosts {
                    let portal = format!("portal={host}:{port}");
                    server.admin(&["--op", "new", "--mode", "portal", "--param", &portal]);
                }
                return Some(server);
            }
            let ended = server.child.try_wait().expect("a child can be asked");
            assert!(ended.is_none(), "tgtd ended: see {}", folder.join("tgt.log").display());
            thread::sleep(Duration::from_millis(20));
        }
        panic!("tgtd does not listen");
    }

    /// The target's portal as `HOST:PORT`.
    pub fn portal(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The address of a LUN, for the account `user`.
    pub fn address(&self, user: Option<&str>, lun: u16) -> String {
        let user = user.map_or(String::new(), |user| format!("{user}@"));
        format!("iscsi://{user}{}/{TARGET}/{lun}", self.portal())
    }

    /// Adds a LUN with a new backing file of `bytes` bytes.
    ///
    /// # Panics
    /// If that fails.
    pub fn add_lun(&self, lun: u16, bytes: u64) {
        let disk = self.disk(lun);
        let file = File::create_new(&disk).expect("a new disk");
        file.set_len(bytes).expect("room for a disk");
        self.offer(lun, &[]);
    }

    /// Adds a LUN with its existing backing file; `words` are further arguments of `tgtadm`.
    ///
    /// # Panics
    /// If that fails.
    pub fn offer(&self, lun: u16, words: &[&str]) {
        let (number, disk) = (lun.to_string(), self.disk(lun).display().to_string());
        let new = ["--op", "new", "--mode", "logicalunit", "--tid", "1", "--lun", &number];
        self.admin(&[&new[..], &["-b", &disk], words].concat());
    }

    /// Path of the backing file of a LUN.
    pub fn disk(&self, lun: u16) -> PathBuf {
        self.folder.join(format!("lun{lun}.img"))
    }

    /// Sets a parameter of a LUN, such as `readonly=1`.
    ///
    /// # Panics
    /// If that fails.
    pub fn set(&self, lun: u16, parameter: &str) {
        let number = lun.to_string();
        let words = ["--op", "update", "--mode", "logicalunit", "--tid", "1", "--lun", &number];
        self.admin(&[&words[..], &["--params", parameter]].concat());
    }

    /// Sets a parameter of the target, such as `HeaderDigest` to `CRC32C`.
    ///
    /// # Panics
    /// If that fails.
    pub fn set_target(&self, name: &str, value: &str) {
        let words = ["--op", "update", "--mode", "target", "--tid", "1"];
        self.admin(&[&words[..], &["-n", name, "-v", value]].concat());
    }

    /// Makes the target require this account, or authenticate itself with it if `is_outgoing`.
    ///
    /// # Panics
    /// If that fails.
    pub fn add_account(&self, user: &str, secret: &str, is_outgoing: bool) {
        self.admin(&["--op", "new", "--mode", "account", "--user", user, "--password", secret]);
        let words = ["--op", "bind", "--mode", "account", "--tid", "1", "--user", user];
        self.admin(&[&words[..], if is_outgoing { &["--outgoing"] } else { &[] }].concat());
    }

    /// Kills `tgtd` immediately, as if the machine lost power.
    pub fn kill(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn admin(&self, words: &[&str]) {
        assert!(self.tries(words), "tgtadm {words:?} fails");
    }

    fn tries(&self, words: &[&str]) -> bool {
        let mut command = Command::new("tgtadm");
        command.args(["-C", "1", "--lld", "iscsi"]).args(words);
        command.env("TGT_IPC_SOCKET", self.folder.join("tgt"));
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    }
}

impl Drop for Tgt {
    fn drop(&mut self) {
        self.kill();
        let _ = fs::remove_file(self.folder.join("tgt.1"));
    }
}
