//! A guest whose kernel attaches a volume of `cache serve` over iSCSI, with and without CHAP: what
//! the guest writes must match what it reads after a second login, and what the volume contains
//! without its cache.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use xtask::failure::Failure;

use super::content::Content;
use super::image::{self, Contents, pack};
use super::machine::{Hardware, Machine};
use super::program::{self, Plimsoll, Server, emptied};
use super::tools::is_equipped;

/// Size of the volume in bytes, and of the flash as an argument.
const VOLUME_BYTES: u64 = 256 << 20;
const FLASH: &str = "48MiB";

/// Time limit for everything that the guest does.
const PATIENCE: Duration = Duration::from_mins(5);

/// Time limit for the server to start.
const BEGINS_WITHIN: Duration = Duration::from_secs(20);

/// Prefix of the target name.
const NAME: &str = "iqn.2026-11.example.test:cache";

/// The initiator's secret and the target's, as in `attached.sh`.
const SECRETS: &str = "abcdefghijkl\nmnopqrstuvwx\n";

/// Messages on logins that the guest must print, in order.
const PLAIN: [&str; 2] = ["attached as it must be", "attached a second time"];
const WITH_CHAP: [&str; 5] = [
    "refused without account",
    "refused with a wrong secret",
    "refused with a target that proves nothing",
    "attached as it must be",
    "attached a second time",
];

/// Programs that the guest needs.
const PROGRAMS: [&str; 3] = ["/usr/sbin/mke2fs", "/usr/sbin/iscsid", "/usr/bin/iscsiadm"];

/// Runs the proof, which takes two minutes.
pub(crate) fn attached() -> Result<(), Failure> {
    if !is_equipped(&[("/usr/sbin/debugfs", "e2fsprogs"), ("/usr/sbin/iscsid", "open-iscsi")]) {
        return Ok(());
    }
    let (begun, plimsoll) = (Instant::now(), program::build()?);
    for (account, expected) in [("none", &PLAIN[..]), ("chap", &WITH_CHAP)] {
        let files = Scene::new(&plimsoll, account)?.prove(account, expected)?;
        println!("account {account}: {}; {files} files whole", expected.join(", "));
    }
    println!("{} s", begun.elapsed().as_secs());
    Ok(())
}

struct Scene<'a> {
    folder: PathBuf,
    hardware: Hardware,
    plimsoll: &'a Plimsoll,
}

impl<'a> Scene<'a> {
    fn new(plimsoll: &'a Plimsoll, account: &str) -> Result<Self, Failure> {
        let shared = image::folder()?;
        let folder = emptied(&shared, &format!("attached-{account}"))?;
        let kernel = image::kernel(&shared)?;
        let modules = "virtio_pci virtio_net iscsi_tcp sd_mod";
        let contents = Contents { first: "attached.sh", programs: &PROGRAMS, modules };
        let root = pack(&folder, &kernel, &contents)?;
        let disk = File::create_new(folder.join("disk.img")).map_err(Failure::of)?;
        disk.set_len(VOLUME_BYTES).map_err(Failure::of)?;
        plimsoll.answer(&folder, &["cache", "create", "flash.img", "--size", FLASH])?;
        let hardware = Hardware { kernel, root, memory_mib: 256, reconnect_seconds: 0 };
        Ok(Self { folder, hardware, plimsoll })
    }

    /// Has the guest log in, write, log out and read; returns the number of files that it wrote.
    fn prove(&self, account: &str, expected: &[&str]) -> Result<usize, Failure> {
        let (server, portal) = self.serve(account == "chap")?;
        let job = format!("attach account={account} portal={portal} target={NAME}:mail");
        let mut guest = Machine::start_alone((&self.folder, "attached"), &self.hardware, &job)?;
        guest.wait("the end", PATIENCE, |said| said.contains("every file read\n"))?;
        guest.kill();
        drop(server);
        judge(&guest.said(), expected, || Content::on_disk(&self.folder))
    }

    /// Starts the server; returns it, and the portal's address as the guest sees it.
    fn serve(&self, has_account: bool) -> Result<(Server, String), Failure> {
        let words = ["cache", "serve", "flash.img", "--volume", "mail=disk.img", "--listen"];
        let iscsi = ["unix:mail.sock", "--iscsi", "127.0.0.1:0", "--iscsi-name", NAME];
        let mut words = [&words[..], &iscsi].concat();
        if has_account {
            let secrets = self.folder.join("secrets");
            fs::write(&secrets, SECRETS).map_err(Failure::of)?;
            let mode = fs::Permissions::from_mode(0o600);
            fs::set_permissions(&secrets, mode).map_err(Failure::of)?;
            words.extend(["--iscsi-user", "guest", "--iscsi-secrets", "secrets"]);
        }
        let server = self.plimsoll.serve((&self.folder, "serve"), &words)?;
        let limit = Instant::now() + BEGINS_WITHIN;
        loop {
            let said = fs::read_to_string(self.folder.join("serve.log")).unwrap_or_default();
            if let Some(port) = port(&said) {
                return Ok((server, format!("10.0.2.2:{port}")));
            }
            if Instant::now() > limit {
                return Err(Failure::new(format!("the server does not begin: {said}")));
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Compares the guest's messages, and the files on the volume, with the expected ones; returns the
/// number of files.
fn judge(
    said: &str,
    expected: &[&str],
    on_disk: impl Fn() -> Result<Content, Failure>,
) -> Result<usize, Failure> {
    let logins: Vec<&str> = said.lines().filter(|line| is_login(line)).collect();
    if logins != expected {
        return Err(Failure::new(format!("logins: {}\n{said}", logins.join(", "))));
    }
    let mut wrong = Content::read(said).faults;
    if wrong.is_empty() {
        let [written, found] = ["whole ", "found "].map(|kind| {
            let lines: Vec<&str> = said.lines().filter(|line| line.starts_with(kind)).collect();
            Content::read(&lines.join("\n"))
        });
        wrong.extend(written.differences(&found));
        let lost = written.differences(&on_disk()?).into_iter();
        wrong.extend(lost.map(|line| format!("on the volume alone: {line}")));
        if wrong.is_empty() && !written.files.is_empty() {
            return Ok(written.files.len());
        }
    }
    Err(Failure::list("the guest's files did not survive:", &wrong))
}

fn is_login(line: &str) -> bool {
    line.starts_with("attached ") || line.starts_with("refused ")
}

/// The port of the portal, as the server reports it.
fn port(said: &str) -> Option<u16> {
    let address = said.split("iscsi://").nth(1)?.split('/').next()?;
    address.rsplit_once(':')?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Content, judge, port};

    #[test]
    fn the_port_is_read_once_its_line_is_whole() {
        let said = "Serving at nbd+unix:///mail\nServing at iscsi://127.0.0.1:3261/iqn.x:mail/0\n";
        assert_eq!(port(said), Some(3261));
        assert_eq!(port("Serving at nbd+unix:///mail\n"), None);
    }

    #[test]
    fn a_login_that_must_fail_and_a_lost_file_are_faults() {
        let expected = ["refused with a wrong secret", "attached as it must be"];
        let said = "refused with a wrong secret\nattached as it must be\nwhole a 1\nwhole b 2\n\
                    found a 1\nfound b 2\n";
        let judged = |said: &str, disk: &str| judge(said, &expected, || Ok(Content::read(disk)));
        let disk = "found a 1\nfound b 2\n";
        assert_eq!(judged(said, disk).ok(), Some(2));
        assert!(judged(&said.replace("refused", "attached"), disk).is_err());
        assert!(judged(&said.replace("found b 2", "found b 3"), disk).is_err());
        assert!(judged(said, "found a 1\n").is_err());
        assert!(judged(&format!("{said}failed to log out\n"), disk).is_err());
        assert!(judged("refused with a wrong secret\nattached as it must be\n", disk).is_err());
    }
}
