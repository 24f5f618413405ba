//! Random reads of an export by fio, and their cost to the server.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use serde_json::Value;
use units::{Prng, Seed};
use xtask::failure::Failure;
use xtask::shell;

use super::server::NbdServer;
use crate::median;

/// Length of a measurement.
const SECONDS: &str = "--runtime=3";

/// Results of a load.
#[derive(Clone, Copy)]
pub(super) struct ServedLoad {
    per_second: f64,
    /// Processor time of the server per read.
    micros: f64,
}

impl ServedLoad {
    /// Measures reads of 32 KiB with `depth` in flight.
    fn of(server: &NbdServer, depth: &str) -> Result<Self, Failure> {
        let before = server.processor_time()?;
        let depth = format!("--iodepth={depth}");
        let words = [&depth, "--time_based", SECONDS, "--norandommap", "--randrepeat=0"];
        let job = read_randomly(server, &words)?;
        let spent = server.processor_time()?.saturating_sub(before);
        let figure = |name: &str| job["read"][name].as_f64().unwrap_or(0.0);
        let micros = spent.as_secs_f64() * 1e6 / figure("total_ios").max(1.0);
        Ok(Self { per_second: figure("iops"), micros })
    }

    /// Measures such a load, adds it to `list` and returns the reads per second.
    pub(super) fn noted(
        list: &mut Vec<Self>,
        server: &NbdServer,
        depth: &str,
    ) -> Result<f64, Failure> {
        let load = Self::of(server, depth)?;
        list.push(load);
        Ok(load.per_second)
    }

    pub(super) fn median_micros(loads: &[Self]) -> f64 {
        median(loads.iter().map(|load| load.micros).collect())
    }
}

/// Reads all of an export at random; returns the job's figures.
pub(super) fn read_randomly(server: &NbdServer, words: &[&str]) -> Result<Value, Failure> {
    fio(server, "randread", words)
}

/// Issues requests of 32 KiB in fio's pattern `pattern` to an export; returns the job's figures.
pub(super) fn fio(server: &NbdServer, pattern: &str, words: &[&str]) -> Result<Value, Failure> {
    let (uri, size) = (format!("--uri={}", server.uri()), format!("--size={}", server.bytes()));
    let pattern = format!("--rw={pattern}");
    let base = ["fio", "--name=load", "--ioengine=nbd", "--bs=32k", "--output-format=json"];
    job(&shell::capture(&[&base[..], &[&pattern, &uri, &size], words].concat())?)
}

/// Extracts the job from fio's JSON output.
fn job(printed: &str) -> Result<Value, Failure> {
    // A line about the connection may come first.
    let document = printed.find('{').and_then(|at| serde_json::from_str(&printed[at..]).ok());
    let job = document.and_then(|document: Value| document["jobs"].get(0).cloned());
    job.ok_or_else(|| Failure::new(format!("cannot read the output of fio:\n{printed}")))
}

/// Creates a file of incompressible bytes.
pub(super) fn fill(path: &Path, bytes: u64) -> Result<(), Failure> {
    let mut file = File::create(path).map_err(Failure::of)?;
    let mut part = vec![0; 1 << 20];
    let mut prng = Prng::new(Seed(1));
    for _ in 0..bytes >> 20 {
        prng.fill(&mut part);
        file.write_all(&part).map_err(Failure::of)?;
    }
    file.sync_all().map_err(Failure::of)
}

/// Makes the kernel drop its cached pages of a file.
pub(super) fn forget(path: &Path) -> Result<(), Failure> {
    let file = format!("of={}", path.display());
    shell::capture(&["dd", &file, "oflag=nocache", "conv=notrunc,fdatasync", "count=0"]).map(drop)
}
