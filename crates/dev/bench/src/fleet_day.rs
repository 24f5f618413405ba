//! Reports a fleet of 16 hosts that measured for a day: duration of the reports, and size of the
//! page. The first report reads all journals, as `plimsoll fleet collect` does once it has them;
//! later ones read the journals' digests.

use std::fs;
use std::path::Path;
use std::time::Duration;

use record::JOURNAL;
use record::synthetic::Synthetic;
use serde_json::{Value, json};

use crate::folder;
use crate::reported::{journal, report};
use xtask::failure::Failure;
use xtask::shell;

/// 24 hours of two databases, a sample every 15 seconds, on each host.
const RUN: Synthetic =
    Synthetic { measure_intervals: 5_760, read_median_ns: 4_100_000, ..Synthetic::USUAL };

const HOSTS: usize = 16;
const LONGEST: Duration = Duration::from_secs(5);
const LARGEST_BYTES: u64 = 5_000_000;

/// Generates the fleet run in a folder below `directory` and reports it. Fails if a limit is
/// missed.
pub(crate) fn run(directory: &Path) -> Result<(), Failure> {
    shell::run(&["cargo", "build", "-q", "--release", "-p", "plimsoll"])?;
    let folder = directory.join("plimsoll-bench-fleet-day");
    folder::remove(&folder)?;
    folder::create(&folder)?;
    let measured = measure(&folder);
    folder::remove(&folder)?;
    let Day { bytes, first, later, page } = measured?;
    let is_kept = later <= LONGEST && page < LARGEST_BYTES;
    println!(
        "fleet-day: {HOSTS} journals of {} MB read in {:.2} s, and reported by their digests in \
         {:.2} s (at most {} s), a page of {page} bytes (below {LARGEST_BYTES}): {}",
        bytes / 1_000_000,
        first.as_secs_f64(),
        later.as_secs_f64(),
        LONGEST.as_secs(),
        if is_kept { "kept" } else { "MISSED" }
    );
    if is_kept { Ok(()) } else { Err(Failure::new("the report of a fleet's day misses a limit")) }
}

/// Size of one host's journal, duration of the reports, and size of their page.
struct Day {
    bytes: u64,
    first: Duration,
    later: Duration,
    page: u64,
}

fn measure(folder: &Path) -> Result<Day, Failure> {
    let hosts = folder.join("hosts");
    let first = hosts.join("h1");
    fs::create_dir_all(&first).map_err(Failure::of)?;
    let bytes = journal(&RUN, &first)?;
    for host in 2..=HOSTS {
        let other = hosts.join(format!("h{host}"));
        fs::create_dir_all(&other).map_err(Failure::of)?;
        fs::hard_link(first.join(JOURNAL), other.join(JOURNAL)).map_err(Failure::of)?;
    }
    fs::write(folder.join("fleet.jsonl"), fleet_journal()).map_err(Failure::of)?;
    let first = report(folder)?;
    let of_journals = fs::read(folder.join("report.json")).map_err(Failure::of)?;
    let later = report(folder)?;
    if fs::read(folder.join("report.json")).map_err(Failure::of)? != of_journals {
        return Err(Failure::new("digests report other figures than their journals"));
    }
    let page = fs::metadata(folder.join("report.html")).map_err(Failure::of)?.len();
    Ok(Day { bytes, first, later, page })
}

/// The fleet's own journal of an uneventful run.
fn fleet_journal() -> String {
    let names: Vec<String> = (1..=HOSTS).map(|host| format!("h{host}")).collect();
    let mut events = vec![json!({
        "event": "started", "run": "r1", "name": "day", "build": "plimsoll", "hosts": names,
        "shared_storage": false,
    })];
    for host in 0..HOSTS {
        let clock = json!({ "offset_ns": 0, "error_ns": 100_000 });
        events.push(json!({ "event": "found", "host": host, "agent": format!("a{host}") }));
        events.push(json!({ "event": "clock", "host": host, "clock": clock }));
        events.push(json!({ "event": "host_ended", "host": host, "status": 0 }));
    }
    events.push(json!({ "event": "ended", "early": Value::Null }));
    let mut text = String::new();
    for event in events {
        text.extend([json!({ "at_ns": 1, "event": event }).to_string(), "\n".to_owned()]);
    }
    text
}
