//! A guest whose file system is behind `cache serve`, over NBD or vhost-user, while the server is
//! killed repeatedly, and finally together with the guest: no synchronised data may be lost, and no
//! stale data read.

use std::fs::File;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use xtask::failure::Failure;

use super::content::Content;
use super::image::{self, Contents, OF_A_DISK, pack};
use super::machine::{GuestDisk, Hardware, Machine};
use super::program::{self, Plimsoll, Server, emptied};
use super::tools::is_equipped;

/// Number of kills of the server under load; one more kills the guest too.
const KILLS: u32 = 12;

/// Size of the volume in bytes, and of the flash as an argument.
const VOLUME_BYTES: u64 = 512 << 20;
const FLASH: &str = "48MiB";

/// Time limit for the guest to boot, or to continue after a kill.
const PATIENCE: Duration = Duration::from_mins(2);

/// Number of files that the guest writes between two kills.
const PROGRESS: usize = 15;

/// Maximum number of faults to list.
const MOST_LINES: usize = 20;

/// The server's sockets.
const EXPORT: &str = "mail.sock";
const RINGS: &str = "rings.sock";
const CONTROL: &str = "flash.img.sock";

struct Scene {
    disk: GuestDisk<'static>,
    folder: PathBuf,
    hardware: Hardware,
    plimsoll: Plimsoll,
}

/// Runs the proof over NBD, which takes minutes.
pub(crate) fn cached() -> Result<(), Failure> {
    prove(GuestDisk::Nbd(EXPORT))
}

/// Runs the proof over vhost-user, which takes minutes.
pub(crate) fn cached_in_shared_memory() -> Result<(), Failure> {
    prove(GuestDisk::VhostUser(RINGS))
}

fn prove(disk: GuestDisk<'static>) -> Result<(), Failure> {
    if !is_equipped(&[("/usr/sbin/debugfs", "e2fsprogs")]) {
        return Ok(());
    }
    let scene = Scene::new(disk)?;
    let begun = Instant::now();
    let written = scene.write()?;
    let server = scene.serve()?;
    let (found, from_flash) = scene.read()?;
    drop(server);
    let behind = Content::on_disk(&scene.folder)?;
    let mut wrong = [written.faults.clone(), found.faults.clone()].concat();
    wrong.extend(written.differences(&found));
    let lost = written.differences(&behind).into_iter();
    wrong.extend(lost.map(|line| format!("on the volume alone: {line}")));
    if !wrong.is_empty() {
        wrong.truncate(MOST_LINES);
        return Err(Failure::list("the guest's files did not survive:", &wrong));
    }
    println!(
        "{} files whole after {KILLS} kills of the server and one of the guest with it; e2fsck \
         finds nothing; {from_flash} reads of the second boot were answered from flash; {} s",
        written.files.len(),
        begun.elapsed().as_secs()
    );
    Ok(())
}

impl Scene {
    fn new(guest_disk: GuestDisk<'static>) -> Result<Self, Failure> {
        let plimsoll = program::build()?;
        let shared = image::folder()?;
        let folder = emptied(&shared, "cached")?;
        let kernel = image::kernel(&shared)?;
        let contents =
            Contents { first: "cached.sh", programs: &["/usr/sbin/mke2fs"], modules: OF_A_DISK };
        let root = pack(&folder, &kernel, &contents)?;
        let disk = File::create_new(folder.join("disk.img")).map_err(Failure::of)?;
        disk.set_len(VOLUME_BYTES).map_err(Failure::of)?;
        plimsoll.answer(&folder, &["cache", "create", "flash.img", "--size", FLASH])?;
        let hardware = Hardware { kernel, root, memory_mib: 192, reconnect_seconds: 60 };
        Ok(Self { disk: guest_disk, folder, hardware, plimsoll })
    }

    fn serve(&self) -> Result<Server, Failure> {
        let (listen, rings) = (format!("unix:{EXPORT}"), format!("mail={RINGS}"));
        let words = ["cache", "serve", "flash.img", "--volume", "mail=disk.img", "--listen"];
        let sockets = [&*listen, "--vhost-user", &*rings];
        self.plimsoll.serve((&self.folder, "serve"), &[&words[..], &sockets].concat())
    }

    fn start(&self, job: &str) -> Result<Machine, Failure> {
        Machine::start((&self.folder, job), &self.hardware, (&[self.disk], job), false)
    }

    /// Has the guest write while the server is killed; returns the content that must exist
    /// afterwards.
    fn write(&self) -> Result<Content, Failure> {
        let mut server = self.serve()?;
        let mut guest = self.start("write")?;
        guest.wait("the mounted file system", PATIENCE, |said| said.contains("mounted\n"))?;
        for number in 0..KILLS {
            let before = whole(&guest.said());
            guest.wait("progress", PATIENCE, |said| whole(said) >= before + PROGRESS)?;
            thread::sleep(pause(number, 379, 700));
            server.kill();
            thread::sleep(pause(number, 731, 2_500));
            server = self.serve()?;
            println!("kill {}: {} files written so far", number + 1, whole(&guest.said()));
        }
        let before = whole(&guest.said());
        guest.wait("progress", PATIENCE, |said| whole(said) >= before + PROGRESS)?;
        server.kill();
        guest.kill();
        Ok(Content::read(&guest.said()))
    }

    /// Boots the guest again; returns the content that it finds, and how many of its reads were
    /// answered from flash.
    fn read(&self) -> Result<(Content, u64), Failure> {
        let mut guest = self.start("read")?;
        guest.wait("the end", PATIENCE, |said| said.contains("every file read\n"))?;
        let status = self.plimsoll.status(&self.folder, CONTROL);
        let classes = status["classes"].as_array().into_iter().flatten();
        let hits = classes.filter_map(|class| class["hits"].as_u64()).sum();
        Ok((Content::read(&guest.said()), hits))
    }
}

/// Number of files that the guest has reported as whole.
fn whole(said: &str) -> usize {
    said.lines().filter(|line| line.starts_with("whole ")).count()
}

/// A pause of less than `most` milliseconds, varying with `number`.
fn pause(number: u32, step: u32, most: u32) -> Duration {
    Duration::from_millis(u64::from(number * step % most))
}
