//! The served flash cache compared with nbdkit: hits with its memory plugin, misses with its file
//! plugin, and the processor time of both; runs behind a cache compared with their simulations; and
//! the restart of a cache of 400 GB.

mod load;
mod predicted;
mod scene;
mod server;
mod shared_memory;

use std::path::Path;

use xtask::failure::Failure;
use xtask::shell;

use crate::pairs;
use load::{ServedLoad, fill, read_randomly};
use scene::CacheScene;
pub(crate) use scene::{MEMORY, program};

/// Numbers of requests in flight.
const DEPTHS: [&str; 2] = ["1", "16"];

/// Minimum hits per second, divided by those of nbdkit's memory plugin.
const HITS: f64 = 0.8;

/// Minimum misses per second, divided by those of nbdkit's file plugin: a miss may take a tenth
/// longer.
const MISSES: f64 = 1.0 / 1.1;

/// Size of the volume that fits into the cache, and of the one that does not.
const WARM_BYTES: u64 = 256 << 20;
const COLD_BYTES: u64 = 2 << 30;

/// Programs that the benchmark needs.
const TOOLS: [&str; 4] = ["fio", "nbdkit", "nbdcopy", "nbdinfo"];

/// Measures restart, hits and misses, and fails if a goal is missed.
pub(crate) fn run(directory: &Path) -> Result<(), Failure> {
    restart()?;
    if !has_tools() {
        return Ok(());
    }
    let scene = CacheScene::new(directory)?;
    let mut is_met = true;
    for depth in DEPTHS {
        is_met &= hits(&scene, depth)?;
    }
    for depth in DEPTHS {
        is_met &= misses(&scene, depth)?;
    }
    if is_met { Ok(()) } else { Err(Failure::new("the flash cache misses a goal")) }
}

/// Compares runs behind a cache with their simulations, and fails if one is too far off.
pub(crate) fn predicted_runs(directory: &Path) -> Result<(), Failure> {
    if !has_tools() || predicted::run(&CacheScene::new(directory)?)? {
        return Ok(());
    }
    Err(Failure::new("a run behind the flash cache is not as predicted"))
}

/// Compares hits over vhost-user with those over NBD, and fails if they are not fast enough.
pub(crate) fn in_shared_memory(directory: &Path) -> Result<(), Failure> {
    if !has_tools() || shared_memory::run(&CacheScene::new(directory)?)? {
        return Ok(());
    }
    Err(Failure::new("vhost-user is not fast enough"))
}

/// Whether the programs that serve and load are installed; prints a message if not.
fn has_tools() -> bool {
    let lacking: Vec<&str> = TOOLS.into_iter().filter(|tool| !shell::installed(tool)).collect();
    if !lacking.is_empty() {
        println!("skipped: no {}; apt install fio nbdkit libnbd-bin", lacking.join(", no "));
    }
    lacking.is_empty()
}

/// Opens a store of 400 GB in memory after a kill, and prints processor seconds and memory.
fn restart() -> Result<(), Failure> {
    let words = "cargo test -q --release -p flashcache --lib store::large -- --ignored --nocapture";
    shell::run(&words.split(' ').collect::<Vec<_>>())
}

/// Hits of a warm cache whose flash is memory, compared with nbdkit's memory plugin.
fn hits(scene: &CacheScene, depth: &str) -> Result<bool, Failure> {
    let volume = scene.in_memory("warm.img");
    fill(&volume, WARM_BYTES)?;
    let ours = scene.serve(&volume, &[])?;
    // Reads every block once, in random order: sequential reads bypass the cache.
    read_randomly(&ours, &["--iodepth=16", "--randrepeat=1"])?;
    let peer = scene.nbdkit(&["memory", &WARM_BYTES.to_string()])?;
    shell::run(&["nbdcopy", &volume.display().to_string(), &peer.uri()])?;
    let mut loads = [Vec::new(), Vec::new()];
    let [own, other] = &mut loads;
    let pairs = pairs::measure(
        HITS,
        || ServedLoad::noted(own, &ours, depth),
        || ServedLoad::noted(other, &peer, depth),
    )?;
    Ok(print(("hits", depth), &pairs, &loads, scene.hit_share()?))
}

/// Misses of an empty cache in front of a file on a disk, compared with nbdkit's file plugin.
fn misses(scene: &CacheScene, depth: &str) -> Result<bool, Failure> {
    let volume = scene.on_disk("cold.img");
    if !volume.exists() {
        fill(&volume, COLD_BYTES)?;
    }
    let file = format!("file={}", volume.display());
    let peer = scene.nbdkit(&["file", &file, "fadvise=random", "cache=none"])?;
    let (mut loads, mut share) = ([Vec::new(), Vec::new()], 0.0_f64);
    let [own, other] = &mut loads;
    let pairs = pairs::measure(
        MISSES,
        || {
            let ours = scene.serve(&volume, &[])?;
            let per_second = ServedLoad::noted(own, &ours, depth)?;
            share = share.max(scene.hit_share()?);
            Ok(per_second)
        },
        || {
            load::forget(&volume)?;
            ServedLoad::noted(other, &peer, depth)
        },
    )?;
    Ok(print(("misses", depth), &pairs, &loads, share))
}

/// Prints a line; `true` if its goal is met.
fn print(
    (what, depth): (&str, &str),
    pairs: &pairs::Pairs,
    loads: &[Vec<ServedLoad>; 2],
    hit_share: f64,
) -> bool {
    let is_met = pairs.ratio >= pairs.goal;
    let [own, other] = loads.each_ref().map(|loads| ServedLoad::median_micros(loads));
    println!(
        "cache, {what}, {depth:>2} in flight: {:.0} reads/s of 32 KiB, nbdkit {:.0}: {:.3} x ({} \
         of {:.2}); processor time {own:.1} us a read, nbdkit {other:.1} us; {:.1} % were hits",
        pairs.ours,
        pairs.peer,
        pairs.ratio,
        if is_met { "goal met" } else { "BELOW THE GOAL" },
        pairs.goal,
        hit_share * 100.0
    );
    is_met
}
