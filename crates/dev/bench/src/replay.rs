//! The logs of the real engine replayed onto pages in memory: MiB/s compared with a sequential read
//! of the same files, and peak memory.

mod forged;
mod pages;

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use eselog::{LogFile, LogReplay, ReplaySummary};
use units::{Prng, Seed};
use xtask::failure::Failure;
use xtask::shell;

use forged::ReplaceLog;
use pages::{MemoryPages, header};

use crate::median;

/// Number of log files, 1 MiB each.
const GENERATIONS: u32 = 1024;
/// Minimum share of the read speed: replay may take twice as long as reading.
const LEAST_SHARE: f64 = 0.5;
/// Page cache of a replay, as large as in `plimsoll recover --into`.
const CACHE_BYTES: usize = 64 << 20;
const MOST_MEMORY_MIB: f64 = 512.0;
const MIB: f64 = 1_048_576.0;

/// Pairs of a read and a replay; their medians count.
const PAIRS: usize = 5;

/// Writes 1 GiB of logs to `directory`, reads and replays them in turn, and prints both speeds.
/// Then replays and undoes as much log of one transaction that never ended.
pub(crate) fn run(directory: &Path) -> Result<(), Failure> {
    let folder = directory.join("replay");
    let wrong = |error: io::Error| Failure::new(format!("{}: {error}", folder.display()));
    fs::create_dir_all(&folder).map_err(wrong)?;
    let random = || Prng::new(Seed(50));
    let paths = written(&folder, ReplaceLog::new(random())).map_err(wrong)?;
    let (mut reads, mut replays) = (Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        reads.push(sequential_read(&folder, &paths)?);
        let began = Instant::now();
        let summary = replayed(&folder, &paths, false).map_err(wrong)?.1;
        replays.push(mib_per_second(&paths, began));
        assert!(summary.changes_made > 0 && summary.behind.is_empty());
    }
    let open = written(&folder, ReplaceLog::open(random())).map_err(wrong)?;
    let began = Instant::now();
    let (pages, summary) = replayed(&folder, &open, true).map_err(wrong)?;
    assert!(summary.behind.is_empty() && summary.changes_undone == summary.changes_made / 2);
    assert!(pages.are_first(), "undo restores every row");
    let undone = mib_per_second(&open, began);
    fs::remove_dir_all(&folder).map_err(wrong)?;
    let share = median(std::iter::zip(&replays, &reads).map(|(a, b)| a / b).collect());
    judge(median(reads), median(replays), share, undone)
}

/// Prints the figures and fails if they miss their limits.
fn judge(read: f64, replay: f64, share: f64, undone: f64) -> Result<(), Failure> {
    let memory = peak_memory_mib();
    println!("sequential read  {read:>8.0} MiB/s, unbuffered, {GENERATIONS} files of 1 MiB");
    println!("replay           {replay:>8.0} MiB/s, pages in memory; medians of {PAIRS} pairs");
    println!("share            {share:>8.2} of a limit of at least {LEAST_SHARE}");
    println!("open transaction {undone:>8.0} MiB/s, redo and undo of {GENERATIONS} MiB of logs");
    println!("memory           {memory:>8.0} MiB of a limit of {MOST_MEMORY_MIB} MiB");
    if share >= LEAST_SHARE && memory <= MOST_MEMORY_MIB {
        return Ok(());
    }
    Err(Failure::new("the replay is slower or larger than its limits"))
}

fn written(folder: &Path, mut log: ReplaceLog) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for generation in 1..=GENERATIONS {
        let path = folder.join(format!("edb{generation:08x}.log"));
        fs::write(&path, log.generation(generation))?;
        File::open(&path)?.sync_all()?;
        paths.push(path);
    }
    Ok(paths)
}

fn mib_per_second(paths: &[PathBuf], began: Instant) -> f64 {
    let bytes: u64 = paths.iter().filter_map(|path| fs::metadata(path).ok()).map(|m| m.len()).sum();
    bytes as f64 / MIB / began.elapsed().as_secs_f64()
}

/// Reads the files bypassing the system's cache, as the first program after a crash would.
fn sequential_read(folder: &Path, paths: &[PathBuf]) -> Result<f64, Failure> {
    let script = "for log in \"$0\"/*.log; do dd if=\"$log\" of=/dev/null bs=1M iflag=direct \
                  status=none || exit 1; done";
    let began = Instant::now();
    shell::run(&["sh", "-c", script, &folder.display().to_string()])?;
    Ok(mib_per_second(paths, began))
}

/// Replays the files one after the other, and undoes open transactions if `undo`.
fn replayed(
    folder: &Path,
    paths: &[PathBuf],
    undo: bool,
) -> io::Result<(MemoryPages, ReplaySummary)> {
    let mut replay = LogReplay::new(MemoryPages::new(folder)?, &header(), CACHE_BYTES);
    let mut bytes = Vec::new();
    for path in paths {
        bytes.clear();
        File::open(path)?.read_to_end(&mut bytes)?;
        let file = LogFile::open(&bytes).map_err(io::Error::other)?;
        let survey = file.survey();
        for record in file.records(&survey).flatten() {
            replay.apply(&record)?;
        }
    }
    if undo {
        replay.undo()?;
    }
    replay.finish()
}

/// Peak memory of this process in MiB; 0 on systems other than Linux.
pub(crate) fn peak_memory_mib() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().split(' ').next()?.parse::<f64>().ok());
    kib.unwrap_or_default() / 1024.0
}
