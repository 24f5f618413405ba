//! The logs of the real engine replayed onto pages in memory: MiB/s beside a sequential read of the
//! same files, and the most memory that it took.

mod forged;
mod pages;

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use eselog::{LogFile, LogReplay};
use units::{Prng, Seed};
use xtask::failure::Failure;
use xtask::shell;

use forged::ForgedLog;
use pages::{MemoryPages, PAGE_SIZE, header};

/// Generations of 1 MiB.
const GENERATIONS: u32 = 1024;
/// Replay takes at most twice as long as reading.
const LEAST_SHARE: f64 = 0.5;
/// As much as a command gives to the pages of a replay.
const CACHE_BYTES: usize = 64 << 20;
const MOST_MEMORY_MIB: f64 = 512.0;
const MIB: f64 = 1_048_576.0;

/// Writes 1 GiB of logs into `directory`, reads and replays them, and prints both.
pub(crate) fn run(directory: &Path) -> Result<(), Failure> {
    let folder = directory.join("replay");
    let wrong = |error: std::io::Error| Failure::new(format!("{}: {error}", folder.display()));
    fs::create_dir_all(&folder).map_err(wrong)?;
    let paths = written(&folder).map_err(wrong)?;
    let read = sequential_read(&folder, &paths)?;
    let began = Instant::now();
    let changes = replayed(&paths).map_err(wrong)?;
    let replay = mib_per_second(&paths, began);
    fs::remove_dir_all(&folder).map_err(wrong)?;
    let (share, memory) = (replay / read, peak_memory_mib());
    println!("sequential read {read:>8.0} MiB/s, unbuffered, {} files of 1 MiB", paths.len());
    println!("replay          {replay:>8.0} MiB/s, {changes} changes of pages in memory");
    println!("share           {share:>8.2} of a limit of at least {LEAST_SHARE}");
    println!("memory          {memory:>8.0} MiB of a limit of {MOST_MEMORY_MIB} MiB");
    if share >= LEAST_SHARE && memory <= MOST_MEMORY_MIB {
        return Ok(());
    }
    Err(Failure::new("the replay is slower or larger than its limits"))
}

fn written(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut random = Prng::new(Seed(50));
    let mut log = ForgedLog::default();
    let mut paths = Vec::new();
    for generation in 1..=GENERATIONS {
        let path = folder.join(format!("edb{generation:08x}.log"));
        fs::write(&path, log.generation(generation, &mut random))?;
        File::open(&path)?.sync_all()?;
        paths.push(path);
    }
    Ok(paths)
}

fn mib_per_second(paths: &[PathBuf], began: Instant) -> f64 {
    let bytes: u64 = paths.iter().filter_map(|path| fs::metadata(path).ok()).map(|m| m.len()).sum();
    bytes as f64 / MIB / began.elapsed().as_secs_f64()
}

/// Reads the files past the system's cache, as the first program after a crash would.
fn sequential_read(folder: &Path, paths: &[PathBuf]) -> Result<f64, Failure> {
    let script = "for log in \"$0\"/*.log; do dd if=\"$log\" of=/dev/null bs=1M iflag=direct \
                  status=none || exit 1; done";
    let began = Instant::now();
    shell::run(&["sh", "-c", script, &folder.display().to_string()])?;
    Ok(mib_per_second(paths, began))
}

/// Replays the files one after the other. Returns the number of changes.
fn replayed(paths: &[PathBuf]) -> std::io::Result<u64> {
    let mut replay = LogReplay::new(MemoryPages::new(), &header(), CACHE_BYTES);
    for path in paths {
        let mut bytes = Vec::new();
        File::open(path)?.read_to_end(&mut bytes)?;
        let file = LogFile::open(&bytes).map_err(std::io::Error::other)?;
        let survey = file.survey();
        for record in file.records(&survey).flatten() {
            let Ok(()) = replay.apply(&record);
        }
    }
    let Ok((_, summary)) = replay.finish();
    assert!(summary.behind.is_empty(), "every change fits its page");
    assert!(PAGE_SIZE.bytes() > 0);
    Ok(summary.changes_made)
}

/// The most memory that this process has had, in MiB; 0 off Linux.
pub(crate) fn peak_memory_mib() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().split(' ').next()?.parse::<f64>().ok());
    kib.unwrap_or_default() / 1024.0
}
