//! Runs behind a flash cache, in front of a volume that serves one request at a time, compared with
//! their simulations: while the cache fills, and once it is full.
//!
//! The volume is nbdkit's memory behind a delay. Before each run fio measures how long a request to
//! the volume takes, because sleeps take longer on a busy machine. Before and after it, runs behind
//! a cache on the same disk, in front of a volume without a delay, measure how long a hit takes.
//! Nothing is fitted to the predicted run.
//!
//! The flash is a file on whatever disk is available. If the disk became faster or slower during a
//! run, that run cannot judge a prediction and is repeated. The slowest tenth of the seconds in a
//! part does not count, predicted or measured: one stall of a shared disk outweighs ten seconds.

use std::fs;

use serde_json::Value;
use xtask::failure::Failure;

use super::load::fio;
use super::scene::CacheScene;
use super::server::NbdServer;
use crate::folder;

/// Number of runs that must be judged.
const ROUNDS: usize = 5;

/// Maximum number of runs started, including those whose flash changed meanwhile.
const MOST_ROUNDS: usize = 12;

/// Maximum relative error of a prediction.
const TOLERANCE: f64 = 0.15;

/// Seconds of a run, and of each part of it that is compared.
const RUN_SECONDS: u64 = 90;
const PART_SECONDS: f64 = 20.0;

/// Target rate of the warm part of a run, in requests per second. Hits are measured at the same
/// rate: a virtual disk answers a processor that sleeps between two requests up to three times
/// later than a busy one.
const PACE: &str = "target_iops = 220\n";

/// Seconds of the hit measurement, including those in which the cache fills.
const HIT_SECONDS: u64 = 30;

/// A volume without a delay.
const FAST_VOLUME: [&str; 3] = ["--threads=1", "memory", "512M"];

/// A volume behind a delay: one thread, which sleeps before every request.
const VOLUME: [&str; 6] =
    ["--threads=1", "--filter=delay", "memory", "512M", "delay-read=10ms", "delay-write=10ms"];

/// Compares every run; `true` if all predictions are close.
pub(super) fn run(scene: &CacheScene) -> Result<bool, Failure> {
    let (mut is_met, mut round) = (true, 0);
    for _ in 0..MOST_ROUNDS {
        let Some([measured, predicted]) = one(scene)? else {
            continue;
        };
        round += 1;
        is_met &= print((round, "cold"), predicted.cold, measured.cold);
        is_met &= print((round, "warm"), predicted.warm, measured.warm);
        if round == ROUNDS {
            return Ok(is_met);
        }
    }
    println!("cache: {round} of {ROUNDS} runs could be judged: the disk is too unsteady");
    Ok(false)
}

/// Prints a row; `true` if the prediction is close.
fn print((round, part): (usize, &str), predicted: RunPart, measured: RunPart) -> bool {
    let close = predicted.is_close_to(measured);
    println!(
        "cache, run {round} {part}: {:.1} IOPS predicted, {:.1} measured ({:+.1} %); reads {:.2} \
         ms, {:.2} ({:+.1} %): {}",
        predicted.iops,
        measured.iops,
        percent(predicted.iops, measured.iops),
        predicted.read_ms,
        measured.read_ms,
        percent(predicted.read_ms, measured.read_ms),
        if close { "within 15 %" } else { "BEYOND 15 %" }
    );
    close
}

fn percent(predicted: f64, measured: f64) -> f64 {
    (predicted / measured - 1.0) * 100.0
}

/// A run and its simulation; `None` if the flash changed meanwhile.
fn one(scene: &CacheScene) -> Result<Option<[RunParts; 2]>, Failure> {
    let before = hit_micros(scene)?;
    let (service, measured) = {
        let volume = scene.nbdkit(&VOLUME)?;
        (service_micros(&volume)?, cached_run(scene, &volume.uri(), ("", RUN_SECONDS))?)
    };
    let after = hit_micros(scene)?;
    if percent(before, after).abs() > TOLERANCE * 100.0 {
        println!("cache, a run: a hit took {before:.0} us before it, {after:.0} after: repeated");
        return Ok(None);
    }
    let array = write(scene, "array.toml", &array([service, f64::midpoint(before, after)]))?;
    let simulated = write(scene, "simulated.toml", &plan(("/slow", ""), RUN_SECONDS, ""))?;
    let words = ["simulate", &simulated, "--array", &array, "--level=1"];
    let length = format!("--duration={RUN_SECONDS}s");
    let predicted = report(scene, &[&words[..], &[&length, "--output"]].concat())?;
    Ok(Some([measured, RunParts::of(&predicted)?]))
}

/// Runs the load behind an empty cache on the disk, in front of the volume at `uri`.
fn cached_run(
    scene: &CacheScene,
    uri: &str,
    (pace, seconds): (&str, u64),
) -> Result<RunParts, Failure> {
    let bare = write(scene, "bare.toml", &plan((uri, pace), seconds, ""))?;
    call(scene, &["format", uri])?;
    call(scene, &["prepare", &bare])?;
    let flash = scene.on_disk("flash.cache");
    // The run before has left its flash.
    let _ = fs::remove_file(&flash);
    let cache = format!("[cache]\nfile = \"{}\"\nsize = \"96MiB\"\n", flash.display());
    let cached = write(scene, "cached.toml", &plan((uri, pace), seconds, &cache))?;
    RunParts::of(&report(scene, &["run", &cached, "--output"])?)
}

/// Microseconds that the volume takes for a request while others wait behind it.
fn service_micros(volume: &NbdServer) -> Result<f64, Failure> {
    let job = fio(volume, "randread", &["--iodepth=4", "--time_based", "--runtime=5"])?;
    let per_second = job["read"]["iops"].as_f64().filter(|rate| *rate > 0.0);
    per_second.map(|rate| 1e6 / rate).ok_or_else(|| Failure::new("the volume answers nothing"))
}

/// Microseconds of a hit on the cache's disk, measured by a run of the same load in front of
/// another volume.
fn hit_micros(scene: &CacheScene) -> Result<f64, Failure> {
    let volume = scene.nbdkit(&FAST_VOLUME)?;
    let measured = cached_run(scene, &volume.uri(), (PACE, HIT_SECONDS))?;
    Ok(measured.warm.read_ms * 1e3)
}

/// One small database, so that the cache fills quickly.
fn plan((folder, pace): (&str, &str), seconds: u64, cache: &str) -> String {
    format!(
        "[databases]\nfolders = [\"{folder}\"]\ncount = 1\nsize = \"24MiB\"\n\
         [engine]\ncache_minimum = \"1MiB\"\ncache_maximum = \"1MiB\"\n\
         [workload]\nthreads = 4\n{pace}\
         [test]\nduration = \"{seconds}s\"\nwarm_up_limit = \"1s\"\ninterval = \"1s\"\n\
         maintenance = false\nchecksum = false\n{cache}"
    )
}

/// A volume behind flash that completes a request of any kind every `service` microseconds.
fn array([service, hit]: [f64; 2]) -> String {
    format!(
        "name = \"one request at a time\"\nprovenance = \"a delay\"\n\
         [calibration]\nuncertainty_percent = 15\n\
         [limits]\niops = {}\nmb_per_second = 20000\nrequest_kib = 4096\n\
         [raid]\nlevel = 0\ndisks = 1\n\
         [flash]\ncapacity_gb = 1\ndies = 16\nread_us = 1\nprogram_us = 1\npage_kib = 32\n\
         interface_mb_per_second = 20000\noverhead_us = 0\nbuffer_kib = 0\n\
         [path]\nmb_per_second = 2000\nlatency_us = 30\nprocessors = 1\nrequest_us = 60\n\
         [host_cache]\nsize_gb = 0.1\nread_us = {hit}\nwrite_us = {hit}\n\
         mb_per_second = 20000\n",
        1e6 / service
    )
}

fn write(scene: &CacheScene, name: &str, text: &str) -> Result<String, Failure> {
    let path = scene.on_disk(name);
    fs::write(&path, text).map_err(Failure::of)?;
    Ok(path.display().to_string())
}

fn call(scene: &CacheScene, words: &[&str]) -> Result<(), Failure> {
    let output = scene.plimsoll(words).output().map_err(Failure::of)?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Failure::new(format!("`{}` failed: {said}", words.join(" "))))
}

/// Runs the program, and returns the report in the folder that the last word names. The verdict
/// does not matter, because the volume is slow.
fn report(scene: &CacheScene, words: &[&str]) -> Result<Value, Failure> {
    let folder = scene.on_disk("run");
    folder::remove(&folder)?;
    let to = folder.display().to_string();
    let output = scene.plimsoll(&[words, &[&to]].concat()).output().map_err(Failure::of)?;
    let said = String::from_utf8_lossy(&output.stderr);
    let text = fs::read(folder.join("report.json"))
        .map_err(|error| Failure::new(format!("`{}`: {error}: {said}", words.join(" "))))?;
    serde_json::from_slice(&text).map_err(Failure::of)
}

/// The first and the last seconds of a run.
struct RunParts {
    cold: RunPart,
    warm: RunPart,
}

impl RunParts {
    fn of(report: &Value) -> Result<Self, Failure> {
        let mut rows = report["intervals"].as_array().cloned().unwrap_or_default();
        rows.retain(is_load);
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else {
            return Err(Failure::new("the report has no intervals"));
        };
        let (begin, end) = (seconds(first, "from_ns"), seconds(last, "to_ns"));
        Ok(Self {
            cold: RunPart::of(&rows, [begin, begin + PART_SECONDS]),
            warm: RunPart::of(&rows, [end - PART_SECONDS, end]),
        })
    }
}

fn is_load(row: &Value) -> bool {
    ["warm", "measure"].iter().any(|phase| row["phase"] == *phase)
}

fn seconds(row: &Value, name: &str) -> f64 {
    row[name].as_f64().unwrap_or(0.0) / 1e9
}

/// Load during some seconds, and the mean latency of reads without the slowest tenth of the
/// seconds.
#[derive(Clone, Copy, Debug)]
struct RunPart {
    iops: f64,
    read_ms: f64,
}

impl RunPart {
    /// Sums up the intervals between two moments.
    fn of(rows: &[Value], [from, to]: [f64; 2]) -> Self {
        let (mut span, mut requests, mut latencies) = (0.0, 0.0, Vec::new());
        for row in rows {
            if seconds(row, "from_ns") < from || seconds(row, "to_ns") > to {
                continue;
            }
            let figure =
                |series: &str, name: &str| row["series"][series][name].as_f64().unwrap_or(0.0);
            let read = figure("database_read", "count");
            span += seconds(row, "to_ns") - seconds(row, "from_ns");
            requests += read + figure("database_write", "count");
            latencies.push((figure("database_read", "average_ms"), read));
        }
        Self { iops: requests / span.max(1e-9), read_ms: mean_without_slowest(latencies) }
    }

    fn is_close_to(self, measured: Self) -> bool {
        [(self.iops, measured.iops), (self.read_ms, measured.read_ms)]
            .into_iter()
            .all(|(predicted, measured)| percent(predicted, measured).abs() <= TOLERANCE * 100.0)
    }
}

/// Mean of latencies, given for single seconds with their number of reads, without the slowest
/// tenth of the seconds.
fn mean_without_slowest(mut seconds: Vec<(f64, f64)>) -> f64 {
    seconds.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    seconds.truncate(seconds.len() - seconds.len().div_ceil(10));
    let reads: f64 = seconds.iter().map(|(_, reads)| reads).sum();
    seconds.iter().map(|(latency, reads)| latency * reads).sum::<f64>() / reads.max(1.0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{RunParts, mean_without_slowest};

    #[test]
    fn the_first_and_the_last_seconds_of_the_load_are_told_apart() {
        let row = |phase: &str, at: u64, reads: u64, average: f64| {
            let read = json!({ "count": reads, "average_ms": average });
            let (from, to) = (at * 1_000_000_000, (at + 10) * 1_000_000_000);
            let write = json!({ "count": 10 });
            let series = json!({ "database_read": read, "database_write": write });
            json!({ "phase": phase, "from_ns": from, "to_ns": to, "series": series })
        };
        let rows = [
            row("tune", 0, 1_000, 1.0),
            row("warm", 10, 90, 8.0),
            row("measure", 20, 30, 4.0),
            row("measure", 30, 500, 9.0),
            row("measure", 40, 190, 2.0),
            row("measure", 50, 190, 1.0),
        ];
        let parts = RunParts::of(&json!({ "intervals": rows })).unwrap();
        assert_eq!((parts.cold.iops, parts.cold.read_ms), (7.0, 4.0));
        assert_eq!((parts.warm.iops, parts.warm.read_ms), (20.0, 1.0));
        assert!(parts.warm.is_close_to(parts.warm) && !parts.warm.is_close_to(parts.cold));
        assert!(RunParts::of(&json!({ "intervals": [] })).is_err());
        let mut seconds = vec![(2.0, 30.0), (1.0, 10.0), (900.0, 5.0)];
        assert!((mean_without_slowest(seconds.clone()) - 1.75).abs() < 1e-9, "a stall");
        seconds.extend([(1.75, 3.0); 17]);
        seconds.push((3.0, 50.0));
        assert_eq!(seconds.len(), 21, "three do not count");
        assert!((mean_without_slowest(seconds) - 99.25 / 61.0).abs() < 1e-9);
    }
}
