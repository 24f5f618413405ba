//! A guest with one volume as two disks, over NBD and over vhost-user: what the way without copies
//! through a socket is worth.

use std::fs::File;
use std::time::Duration;

use xtask::failure::Failure;

use super::image::{self, Contents, OF_A_DISK, pack};
use super::machine::{GuestDisk, Hardware, Machine};
use super::program::{self, emptied};
use super::tools::is_equipped;

/// Bytes of the volume, all of which the flash holds.
const VOLUME_BYTES: u64 = 64 << 20;
const FLASH: &str = "160MiB";

/// How long the guest may take for all of its reads.
const PATIENCE: Duration = Duration::from_mins(8);

/// What vhost-user must reach of NBD.
const GOAL: f64 = 1.3;

/// Requests in flight, as the guest names them.
const DEPTHS: [&str; 2] = ["1", "16"];

/// Has a guest read the same flash over both, in alternation; four minutes on a quiet machine.
pub(crate) fn compared() -> Result<(), Failure> {
    if !is_equipped(&[("/usr/bin/fio", "fio")]) {
        return Ok(());
    }
    let plimsoll = program::build_release()?;
    let shared = image::folder()?;
    let folder = emptied(&shared, "compared")?;
    let kernel = image::kernel(&shared)?;
    let contents =
        Contents { first: "compared.sh", programs: &["/usr/bin/fio"], modules: OF_A_DISK };
    let root = pack(&folder, &kernel, &contents)?;
    let disk = File::create_new(folder.join("disk.img")).map_err(Failure::of)?;
    disk.set_len(VOLUME_BYTES).map_err(Failure::of)?;
    plimsoll.answer(&folder, &["cache", "create", "flash.img", "--size", FLASH])?;
    let sockets = ["--listen", "unix:mail.sock", "--vhost-user", "mail=rings.sock"];
    let words = ["cache", "serve", "flash.img", "--volume", "mail=disk.img"];
    let _server = plimsoll.serve((&folder, "serve"), &[&words[..], &sockets].concat())?;
    let hardware = Hardware { kernel, root, memory_mib: 384, reconnect_seconds: 60 };
    let disks = [GuestDisk::Nbd("mail.sock"), GuestDisk::VhostUser("rings.sock")];
    let mut guest = Machine::start((&folder, "compared"), &hardware, (&disks, "read"), false)?;
    guest.wait("the end", PATIENCE, |said| said.contains("every read done\n"))?;
    judge(&guest.said())
}

/// Prints the ratio of the medians at each depth, and holds them to the goal.
fn judge(said: &str) -> Result<(), Failure> {
    let mut is_reached = true;
    for depth in DEPTHS {
        let [nbd, vhost_user] = ["vda", "vdb"].map(|disk| median(said, (disk, depth)));
        let (Some(nbd), Some(vhost_user)) = (nbd, vhost_user) else {
            return Err(Failure::new(format!("the guest does not say what it reached:\n{said}")));
        };
        let ratio = vhost_user / nbd;
        is_reached &= ratio >= GOAL;
        println!(
            "reads of 32 KiB, {depth} in flight: {vhost_user:.0} IOPS over vhost-user, {nbd:.0} \
             over NBD: {ratio:.2} x (at least {GOAL})"
        );
    }
    if is_reached { Ok(()) } else { Err(Failure::new("vhost-user is not fast enough")) }
}

/// The median of what a disk reached at a depth.
fn median(said: &str, (disk, depth): (&str, &str)) -> Option<f64> {
    let mut reached: Vec<f64> = said
        .lines()
        .filter_map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            match words[..] {
                ["reached", of, at, iops] if (of, at) == (disk, depth) => iops.parse().ok(),
                _ => None,
            }
        })
        .collect();
    reached.sort_by(f64::total_cmp);
    reached.get(reached.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::judge;

    #[test]
    fn every_depth_must_reach_the_goal() {
        let said = |deep: u32| {
            format!(
                "reached vda 1 100\nreached vdb 1 140\nreached vda 16 1000\nreached vdb 16 {deep}\n"
            )
        };
        assert!(judge(&said(1_400)).is_ok());
        assert!(judge(&said(1_200)).is_err());
        assert!(judge("reached vda 1 100\n").is_err());
    }
}
