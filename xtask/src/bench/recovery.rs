//! Recovery after a crash that left some 500 logs to replay, against fio's random reads: replaying
//! must be bound by the device.
//!
//! What replay does above all is read the pages that the log changed: most of them were written
//! before the crash. So its reads a second are held against those of fio on the same file, with as
//! many in flight.

use std::fs;
use std::path::Path;

use device::DeviceError;
use device_os::{Backend, World};
use engine::recovery::{RecoverySettings, RecoverySummary, redo};
use units::{Bytes, Seed};

use super::crashed::{self, Crashed, FILE};
use super::{fio, folder, pairs};
use crate::failure::Failure;
use crate::shell;

/// Records of some 900 bytes make this 20 times the cache.
const CRASHED: Crashed = Crashed {
    records: 1_300_000,
    cache: Bytes::from_mib(64),
    log: Bytes::from_mib(500),
    seed: Seed(1),
};

/// The goal: page reads a second of replay over fio's.
const GOAL: f64 = 0.8;

/// Seconds of each measurement of fio.
const SECONDS: u64 = 4;

/// Measures in a folder of its own below `directory`, which is removed. Fails below the goal;
/// nothing but a message where fio is absent.
pub fn run(directory: &Path) -> Result<(), Failure> {
    if !fio::installed() {
        println!("{}", fio::ABSENT);
        return Ok(());
    }
    let folder = directory.join("plimsoll-bench-recovery");
    folder::remove(&folder)?;
    folder::create(&folder)?;
    let measured = measure(&folder);
    folder::remove(&folder)?;
    let pairs = measured?;
    println!(
        "recovery: {:.0} page reads/s, fio {:.0}: {:.3} x with {} in flight (goal {GOAL})",
        pairs.ours,
        pairs.peer,
        pairs.ratio,
        depth(),
    );
    if pairs.ratio >= GOAL {
        return Ok(());
    }
    Err(Failure::new("recovery is slower than its goal"))
}

fn depth() -> usize {
    RecoverySettings::default().reads_in_flight
}

fn measure(folder: &Path) -> Result<pairs::Pairs, Failure> {
    CRASHED.make(folder)?;
    let (file, kept) = (folder.join(FILE), folder.join("kept.edb"));
    copy(&file, &kept)?;
    let bytes = fs::metadata(&file).map_err(|error| failed(&file, &error))?;
    println!(
        "a database of {}, {:.0} x its cache of {}",
        Bytes(bytes.len()),
        bytes.len() as f64 / CRASHED.cache.0 as f64,
        CRASHED.cache
    );
    let ours = || {
        copy(&kept, &file)?;
        let summary = replay(folder)?;
        println!("  {}", described(&summary));
        Ok(summary.pages_read as f64 / summary.redo_time.as_secs_f64())
    };
    let peer = || {
        let (depth, runtime) = (
            format!("--iodepth={}", depth()),
            format!("--runtime={SECONDS}"),
        );
        let arguments = [
            "--rw=randread",
            "--time_based",
            "--bs=32k",
            &depth,
            &runtime,
        ];
        Ok(fio::run(&file, &arguments)?.operations_per_second)
    };
    pairs::measure(GOAL, ours, peer)
}

fn described(summary: &RecoverySummary) -> String {
    let generations = summary.last.0 - summary.first.0 + 1;
    format!(
        "{generations} logs, {} records, {} pages read, {} written, {} changes made, {} there \
         already, in {:.1} s",
        summary.records,
        summary.pages_read,
        summary.pages_written,
        summary.pages_redone,
        summary.pages_skipped,
        summary.redo_time.as_secs_f64()
    )
}

/// Redoes the log. Undoing what was never committed is the live engine's and takes no time here.
fn replay(folder: &Path) -> Result<RecoverySummary, Failure> {
    let failed = |error: DeviceError| Failure::new(error.to_string());
    let world = World::new(Backend::Auto).map_err(failed)?;
    let files = crashed::files(&world.volume(folder).map_err(failed)?);
    let runtime = world.executor().runtime();
    let settings = RecoverySettings {
        cache: CRASHED.cache,
        ..RecoverySettings::default()
    };
    let redone = world
        .executor()
        .block_on(async move { redo(&runtime, &files, &settings, &|_| ()).await });
    let redone = redone.map_err(|error| Failure::new(error.to_string()))?;
    let redone = redone.ok_or_else(|| Failure::new("the database was closed properly"))?;
    Ok(redone.summary)
}

/// Makes `to` what `from` is, on the disk.
fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    let (source, target) = (from.display().to_string(), to.display().to_string());
    shell::run(&["cp", "--reflink=auto", &source, &target])?;
    let file = fs::File::open(to).map_err(|error| failed(to, &error))?;
    file.sync_all().map_err(|error| failed(to, &error))
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("{}: {error}", path.display()))
}
