//! Times `serve` over a thousand runs: the very first list, the first list after a restart with
//! known runs, later lists, and a scrape during a run.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use record::JOURNAL;
use record::synthetic::Synthetic;
use xtask::failure::Failure;
use xtask::shell;

use crate::reported::journal;
use crate::{folder, median};

/// Two databases, ten minutes.
const RUN: Synthetic =
    Synthetic { warm_intervals: 2, read_median_ns: 4_100_000, ..Synthetic::USUAL };

const RUNS: usize = 1_000;
const LISTED_WITHIN_MS: f64 = 200.0;
const SCRAPED_WITHIN_MS: f64 = 5.0;

/// Number of requests of each kind; the median counts.
const TIMES: usize = 21;

/// Time within which all journals must be read.
const READ_WITHIN: Duration = Duration::from_mins(2);

/// Generates the runs in a folder below `directory` and requests them. Fails if a limit is missed.
pub(crate) fn run(directory: &Path) -> Result<(), Failure> {
    shell::run(&["cargo", "build", "-q", "--release", "-p", "plimsoll"])?;
    let folder = directory.join("plimsoll-bench-served");
    folder::remove(&folder)?;
    folder::create(&folder)?;
    let measured = measure(&folder);
    folder::remove(&folder)?;
    if measured? { Ok(()) } else { Err(Failure::new("a list or a scrape misses its limit")) }
}

/// Prints every figure; returns whether all limits hold.
fn measure(folder: &Path) -> Result<bool, Failure> {
    let runs = folder.join("runs");
    folder::create(&runs)?;
    journal(&RUN, folder)?;
    for number in 1..RUNS {
        let place = runs.join(format!("run-{number:04}"));
        folder::create(&place)?;
        fs::copy(folder.join(JOURNAL), place.join(JOURNAL)).map_err(Failure::of)?;
    }
    // A live run: its journal is locked, as the program that writes it would lock it.
    let live = runs.join("run-live");
    folder::create(&live)?;
    fs::copy(folder.join(JOURNAL), live.join(JOURNAL)).map_err(Failure::of)?;
    let held = File::options().write(true).open(live.join(JOURNAL)).map_err(Failure::of)?;
    held.lock().map_err(Failure::of)?;
    let caches = folder.join("caches");
    let server = Server::start(&runs, &caches)?;
    let (first, page) = server.ask("/")?;
    let began = Instant::now();
    while server.ask("/")?.1.contains("are being read") && began.elapsed() < READ_WITHIN {}
    println!(
        "served: the first list of all: {first:.1} ms, {} of {RUNS} runs unread in it; all read \
         {:.1} s later",
        unread(&page),
        began.elapsed().as_secs_f64()
    );
    let later = server.median("/")?;
    drop(server);
    let server = Server::start(&runs, &caches)?;
    let (restarted, page) = server.ask("/")?;
    let scraped = server.median("/metrics")?;
    let mut kept = told("the first list of all", first, LISTED_WITHIN_MS);
    kept &= told("a later list, median", later, LISTED_WITHIN_MS);
    kept &= told("the first list after another start", restarted, LISTED_WITHIN_MS);
    println!("served: {} runs unread in it", unread(&page));
    kept &= told("a scrape with a live run, median", scraped, SCRAPED_WITHIN_MS);
    Ok(kept)
}

fn unread(page: &str) -> usize {
    page.matches("being read</td>").count()
}

fn told(what: &str, milliseconds: f64, limit: f64) -> bool {
    let is_kept = milliseconds < limit;
    let word = if is_kept { "kept" } else { "MISSED" };
    println!("served: {what}: {milliseconds:.2} ms (below {limit} ms: {word})");
    is_kept
}

/// A running server of the program.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(runs: &Path, caches: &Path) -> Result<Self, Failure> {
        let mut command = Command::new(shell::root().join("target/release/plimsoll"));
        command.args(["--quiet", "serve", "--listen", "127.0.0.1:0"]).arg(runs);
        command.env("XDG_CACHE_HOME", caches).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(Failure::of)?;
        let mut line = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out).read_line(&mut line).map_err(Failure::of)?;
        }
        let address = line.trim().trim_start_matches("http://");
        let address = address.split('/').next().unwrap_or_default().to_owned();
        Ok(Self { child, address })
    }

    /// Milliseconds until the whole response has arrived, and the response.
    fn ask(&self, place: &str) -> Result<(f64, String), Failure> {
        let began = Instant::now();
        let mut stream = TcpStream::connect(&self.address).map_err(Failure::of)?;
        let request =
            format!("GET {place} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address);
        stream.write_all(request.as_bytes()).map_err(Failure::of)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).map_err(Failure::of)?;
        Ok((began.elapsed().as_secs_f64() * 1e3, answer))
    }

    fn median(&self, place: &str) -> Result<f64, Failure> {
        let mut times = Vec::with_capacity(TIMES);
        for _ in 0..TIMES {
            times.push(self.ask(place)?.0);
        }
        Ok(median(times))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
