//! Recovery after a crash that left some 500 logs to replay, compared with fio's random I/O: replay
//! must be bound by the device.
//!
//! Replay mostly reads the pages that the log changed, so its page reads per second are compared
//! with fio's random reads of the same file, with equally many in flight. When replay also writes,
//! and reads the log, the device does more for it than for fio; so all its requests to the file are
//! also compared with fio's random reads and writes in the same shares.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use device::{Observation, Observer, OpKind, Purpose, TracedVolume, Volume};
use device_os::{Backend, World};
use engine::recovery::{RecoverySettings, RecoverySummary, WRITES_IN_FLIGHT, redo};
use units::{Bytes, Seed};

use crate::crashed::{self, Crashed};
use crate::mail::Mail;
use crate::{PAIRS, fio, folder, killed, median};
use xtask::failure::Failure;
use xtask::shell;

/// Outstanding log, and the cache used both to write and to replay it.
const LOG: Bytes = Bytes::from_mib(500);
const CACHE: Bytes = Bytes::from_mib(64);

/// 1.3 million records of some 900 bytes make the file 20 times the cache.
const UPDATES: Crashed = Crashed { records: 1_300_000, cache: CACHE, log: LOG, seed: Seed(1) };

/// The database is 20 times the cache, and no checkpoint comes before the log is long enough.
const MAIL: Mail = Mail {
    database: "1280MiB",
    cache: CACHE,
    checkpoint_depth: Some(Bytes::from_mib(1024)),
    threads: 8,
};

/// The goal: replay's page reads per second divided by fio's.
const GOAL: f64 = 0.8;

/// Seconds of each fio measurement.
const SECONDS: u64 = 4;

/// Measures in a temporary folder below `directory`. Fails if a load is below the goal; prints only
/// a message if fio is absent.
pub(crate) fn run(directory: &Path) -> Result<(), Failure> {
    if !fio::installed() {
        println!("{}", fio::ABSENT);
        return Ok(());
    }
    let updates = in_folder(directory, |folder| {
        UPDATES.make(folder)?;
        measure("updates in place", folder, crashed::FILE)
    })?;
    let mail = in_folder(directory, |folder| {
        let file = killed::make(MAIL, LOG, folder)?;
        measure("the mail load", folder, &file)
    })?;
    if updates.min(mail) >= GOAL {
        return Ok(());
    }
    Err(Failure::new("recovery is slower than its goal"))
}

fn in_folder<T>(
    directory: &Path,
    work: impl FnOnce(&Path) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let folder = directory.join("plimsoll-bench-recovery");
    folder::remove(&folder)?;
    folder::create(&folder)?;
    let done = work(&folder);
    folder::remove(&folder)?;
    done
}

/// One pair: a replay, and fio right before or after it.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    /// Pages that replay reads per second.
    reads: f64,
    /// Replay's requests to the database file per second.
    requests: f64,
    /// fio's random reads per second.
    peer_reads: f64,
    /// fio's requests per second, in the same mix of reads and writes as replay's.
    peer_requests: f64,
}

/// Measures the pairs and prints them; returns the ratio of page reads.
fn measure(name: &str, folder: &Path, file: &str) -> Result<f64, Failure> {
    let scene = RecoveryScene::new(folder, file)?;
    println!("{name}: {scene}");
    let mut rounds = Vec::new();
    let mut percent_reads = 0;
    for pair in 0..PAIRS {
        let mut round = Round::default();
        // fio uses the read share of the preceding replay, so the first pair begins with a replay.
        if pair % 2 == 0 {
            percent_reads = scene.ours(&mut round)?;
            scene.peers(percent_reads, &mut round)?;
        } else {
            scene.peers(percent_reads, &mut round)?;
            percent_reads = scene.ours(&mut round)?;
        }
        println!(
            "  pair {}: {:.0} page reads/s against {:.0}, {:.0} requests/s against {:.0}",
            pair + 1,
            round.reads,
            round.peer_reads,
            round.requests,
            round.peer_requests
        );
        rounds.push(round);
    }
    let middle = |value: fn(&Round) -> f64| median(rounds.iter().map(value).collect());
    let ratio = middle(|round| round.reads / round.peer_reads);
    println!(
        "recovery, {name}: {:.0} page reads/s, fio {:.0}: {ratio:.3} x with {} in flight \
         (goal {GOAL})",
        middle(|round| round.reads),
        middle(|round| round.peer_reads),
        reads_in_flight(),
    );
    println!(
        "  {:.0} requests/s, fio {:.0} with {percent_reads} % reads: {:.3} x with {} in flight",
        middle(|round| round.requests),
        middle(|round| round.peer_requests),
        middle(|round| round.requests / round.peer_requests),
        reads_in_flight() + WRITES_IN_FLIGHT,
    );
    Ok(ratio)
}

fn reads_in_flight() -> usize {
    RecoverySettings::default().reads_in_flight
}

/// A database with its log, and a copy of the database as the crash left it.
struct RecoveryScene {
    folder: PathBuf,
    name: String,
    file: PathBuf,
    kept: PathBuf,
    bytes: u64,
}

impl std::fmt::Display for RecoveryScene {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let caches = self.bytes as f64 / CACHE.0 as f64;
        let bytes = Bytes(self.bytes);
        write!(f, "a database of {bytes}, {caches:.0} x its cache of {CACHE}")
    }
}

impl RecoveryScene {
    fn new(folder: &Path, name: &str) -> Result<Self, Failure> {
        let (file, kept) = (folder.join(name), folder.join("kept.edb"));
        copy(&file, &kept)?;
        let metadata = fs::metadata(&file).map_err(|error| failed(&file, &error))?;
        Ok(Self {
            folder: folder.to_owned(),
            name: name.to_owned(),
            file,
            kept,
            bytes: metadata.len(),
        })
    }

    /// Replays the log; returns the percentage of reads among its requests.
    fn ours(&self, round: &mut Round) -> Result<u32, Failure> {
        copy(&self.kept, &self.file)?;
        let (summary, requests) = self.replay()?;
        let seconds = summary.redo_time.as_secs_f64();
        let (reads, writes) = (requests.reads.get(), requests.writes.get());
        println!("  {}, {writes} write requests", described(&summary));
        round.reads = summary.pages_read as f64 / seconds;
        round.requests = (reads + writes) as f64 / seconds;
        let percent = reads * 100 / (reads + writes).max(1);
        Ok(u32::try_from(percent).unwrap_or(100))
    }

    /// Redoes the log only. The live engine also undoes uncommitted changes, which takes no time
    /// here.
    fn replay(&self) -> Result<(RecoverySummary, Rc<RecoveryRequests>), Failure> {
        let world = World::new(Backend::Auto).map_err(Failure::of)?;
        let volume = world.volume(&self.folder).map_err(Failure::of)?;
        let requests = Rc::new(RecoveryRequests::default());
        let observer = Rc::<RecoveryRequests>::clone(&requests);
        let volume: Rc<dyn Volume> = Rc::new(TracedVolume::new(volume, observer));
        let files = crashed::files(&volume, &self.name);
        let runtime = world.executor().runtime();
        let settings = RecoverySettings { cache: CACHE, ..RecoverySettings::default() };
        let redone = world
            .executor()
            .block_on(async move { redo(&runtime, &files, &settings, &|_| ()).await });
        let redone = redone.map_err(Failure::of)?;
        let redone = redone.ok_or_else(|| Failure::new("the database was closed properly"))?;
        Ok((redone.summary, requests))
    }

    /// Measures fio's reads at replay's read depth, then reads and writes in replay's mix at its
    /// total depth. The writes destroy the file, so it is copied anew for each replay.
    fn peers(&self, percent_reads: u32, round: &mut Round) -> Result<(), Failure> {
        let depth = reads_in_flight();
        round.peer_reads = self.peer(&["--rw=randread"], depth)?;
        let mix = format!("--rwmixread={percent_reads}");
        round.peer_requests = self.peer(&["--rw=randrw", &mix], depth + WRITES_IN_FLIGHT)?;
        Ok(())
    }

    fn peer(&self, load: &[&str], depth: usize) -> Result<f64, Failure> {
        let depth = format!("--iodepth={depth}");
        let runtime = format!("--runtime={SECONDS}");
        let shared = ["--time_based", "--bs=32k", &depth, &runtime];
        let arguments = [load, &shared].concat();
        Ok(fio::run(&self.file, &arguments)?.operations_per_second)
    }
}

/// Counts requests to the database file.
#[derive(Default)]
struct RecoveryRequests {
    reads: Cell<u64>,
    writes: Cell<u64>,
}

impl Observer for RecoveryRequests {
    fn observe(&self, observation: &Observation) {
        let count = match (observation.purpose, observation.kind) {
            (Purpose::Database, OpKind::Read) => &self.reads,
            (Purpose::Database, OpKind::Write) => &self.writes,
            _ => return,
        };
        count.set(count.get() + 1);
    }
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

/// Copies the contents of `from` to `to`, and makes them durable.
fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    let (source, target) = (from.display().to_string(), to.display().to_string());
    shell::run(&["cp", "--reflink=auto", &source, &target])?;
    let file = fs::File::open(to).map_err(|error| failed(to, &error))?;
    file.sync_all().map_err(|error| failed(to, &error))
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("{}: {error}", path.display()))
}
