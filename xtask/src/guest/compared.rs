//! A guest's reads over vhost-user compared with its reads over NBD, in one machine with the same
//! served volume as both disks. The guest's processor is emulated, which adds the same cost to
//! either and so brings their ratio closer to 1 than on a real processor. A third disk, of zeros
//! that QEMU returns at once, shows the upper bound.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use xtask::failure::Failure;

use super::image::{self, Contents, OF_A_DISK, pack};
use super::machine::{GuestDisk, Hardware, Machine};
use super::program::{self, emptied};
use super::tools::is_equipped;

/// Bytes of the volume, and of the flash.
const VOLUME_BYTES: usize = 256 << 20;
const FLASH_BYTES: usize = 512 << 20;

/// Time limit for the guest to boot and to measure ten pairs.
const PATIENCE: Duration = Duration::from_mins(5);

/// The server's sockets.
const EXPORT: &str = "mail.sock";
const RINGS: &str = "rings.sock";

/// Folder for files whose access must cost no time: both disks read the same flash.
const MEMORY: &str = "/dev/shm";

/// Minimum ratio of the median reads with one request in flight: below it vhost-user is slower than
/// NBD.
const LEAST: f64 = 1.0;

/// Reads per second over vhost-user, over NBD, and from the disk of zeros.
type Turn = [f64; 3];

/// Runs the comparison, which takes three minutes.
pub(crate) fn compared() -> Result<(), Failure> {
    if !is_equipped(&[("/usr/bin/fio", "fio")]) {
        return Ok(());
    }
    let plimsoll = program::build_released()?;
    let folder = emptied(Path::new(MEMORY), &format!("plimsoll-guest-{}", std::process::id()))?;
    let measured = measure(&plimsoll, &folder);
    let _ = fs::remove_dir_all(&folder);
    let said = measured?;
    let [one, many] = [1, 16].map(|depth| judged(&said, depth));
    many?;
    let ratio = one?;
    if ratio >= LEAST {
        return Ok(());
    }
    Err(Failure::new(format!("vhost-user is slower than NBD in a guest: {ratio:.2} x")))
}

fn measure(plimsoll: &program::Plimsoll, folder: &Path) -> Result<String, Failure> {
    let kernel = image::kernel(&image::folder()?)?;
    let root = packed(folder, &kernel)?;
    fs::write(folder.join("disk.img"), vec![1; VOLUME_BYTES]).map_err(Failure::of)?;
    // A flash device has its blocks from the start, but a file gets them with the first write.
    fs::write(folder.join("flash.img"), vec![0; FLASH_BYTES]).map_err(Failure::of)?;
    plimsoll.answer(folder, &["cache", "create", "flash.img"])?;
    let (listen, rings) = (format!("unix:{EXPORT}"), format!("mail={RINGS}"));
    let words = ["cache", "serve", "flash.img", "--volume", "mail=disk.img", "--listen"];
    let sockets = [&*listen, "--vhost-user", &*rings];
    let _server = plimsoll.serve((folder, "serve"), &[&words[..], &sockets].concat())?;
    let hardware = Hardware { kernel, root, memory_mib: 512, reconnect_seconds: 60 };
    let disks =
        [GuestDisk::VhostUser(RINGS), GuestDisk::Nbd(EXPORT), GuestDisk::Zeros(VOLUME_BYTES)];
    let mut guest = Machine::start((folder, "compared"), &hardware, (&disks, "compare"), false)?;
    guest.wait("the last pair", PATIENCE, |said| said.contains("every pair measured\n"))?;
    Ok(guest.said())
}

fn packed(folder: &Path, kernel: &Path) -> Result<PathBuf, Failure> {
    let programs = &["/usr/bin/fio"];
    pack(folder, kernel, &Contents { first: "compared.sh", programs, modules: OF_A_DISK })
}

/// Prints the turns with this number of requests in flight; returns the median ratio of vhost-user
/// to NBD.
fn judged(said: &str, depth: u32) -> Result<f64, Failure> {
    let start = format!("pair {depth} ");
    let turns: Vec<Turn> =
        said.lines().filter_map(|line| line.strip_prefix(&start)).filter_map(turn).collect();
    let median = |ratio: fn(&Turn) -> f64| {
        let mut ratios: Vec<f64> = turns.iter().map(ratio).collect();
        ratios.sort_by(f64::total_cmp);
        ratios.get(ratios.len() / 2).copied()
    };
    let ratios =
        median(|[ring, socket, _]| ring / socket).zip(median(|[_, socket, zeros]| zeros / socket));
    let (ratio, of_zeros) =
        ratios.ok_or_else(|| Failure::new(format!("no pair was measured:\n{said}")))?;
    for [ring, socket, zeros] in &turns {
        print!("  {depth:>2} in flight: {ring:.0} over vhost-user, {socket:.0} over NBD, ");
        println!("{zeros:.0} of zeros");
    }
    println!(
        "a guest's reads of 32 KiB, {depth} in flight: {ratio:.2} x those over NBD; of zeros \
         {of_zeros:.2} x"
    );
    Ok(ratio)
}

fn turn(text: &str) -> Option<Turn> {
    let numbers: Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
    let turn = Turn::try_from(numbers.ok()?).ok()?;
    (turn[1] > 0.0).then_some(turn)
}

#[cfg(test)]
mod tests {
    use super::judged;

    #[test]
    fn a_depth_is_judged_by_the_median_of_its_turns() {
        let said =
            "pair 1 30 20 40\npair 16 9 9 9\npair 1 50 20 40\npair 1 10 20 40\npair 1 x 20 9\n";
        assert!((judged(said, 1).unwrap() - 1.5).abs() < 1e-9);
        assert!(judged("pair 1 30 20\n", 1).is_err());
    }
}
