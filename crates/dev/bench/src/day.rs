//! The report of a one-day run at the default interval: how long it takes, how large its page is,
//! and how long a browser takes to open it.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use record::synthetic::Synthetic;

use crate::median;
use crate::reported::{journal, report};
use xtask::failure::Failure;
use xtask::shell;

/// 24 hours of two databases, a sample every 15 seconds.
const RUN: Synthetic =
    Synthetic { measure_intervals: 5_760, read_median_ns: 4_100_000, ..Synthetic::USUAL };

const LONGEST: Duration = Duration::from_secs(2);
const LARGEST_BYTES: u64 = 3_000_000;
const OPENS_WITHIN_SECONDS: f64 = 1.0;

/// Number of times the browser opens each page.
const LOOKS: usize = 3;

/// Generates the report of the run in `folder` and prints the figures that have limits. Fails if a
/// limit is missed.
pub(crate) fn run(folder: &Path) -> Result<(), Failure> {
    let bytes = journal(&RUN, folder)?;
    let took = report(folder)?;
    let page = folder.join("report.html");
    let size = fs::metadata(&page).map_err(Failure::of)?.len();
    println!(
        "day: a journal of {} MB rendered in {:.2} s (at most {} s: {})",
        bytes / 1_000_000,
        took.as_secs_f64(),
        LONGEST.as_secs(),
        kept(took <= LONGEST)
    );
    let mut all_kept = took <= LONGEST && size < LARGEST_BYTES;
    println!(
        "day: its page has {size} bytes (below {LARGEST_BYTES}: {})",
        kept(size < LARGEST_BYTES)
    );
    if shell::installed("chromium") {
        let empty = folder.join("empty.html");
        fs::write(&empty, "<!DOCTYPE html><title>empty</title>").map_err(Failure::of)?;
        let opens = opening(&page)? - opening(&empty)?;
        println!(
            "day: Chromium opens it in {opens:.2} s more than an empty page (below 1 s: {})",
            kept(opens < OPENS_WITHIN_SECONDS)
        );
        all_kept &= opens < OPENS_WITHIN_SECONDS;
    } else {
        println!("day: SKIPPED, no chromium on this machine: how long a browser takes to open it");
    }
    if all_kept { Ok(()) } else { Err(Failure::new("the report of a day misses a limit")) }
}

const fn kept(is_kept: bool) -> &'static str {
    if is_kept { "kept" } else { "MISSED" }
}

/// Seconds until a browser has loaded a page, including its own start: median of several.
fn opening(page: &Path) -> Result<f64, Failure> {
    let address = format!("file://{}", page.display());
    let mut seconds = Vec::new();
    for _ in 0..LOOKS {
        let began = Instant::now();
        let words = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"];
        shell::capture(&[&words[..], &[&address]].concat())?;
        seconds.push(began.elapsed().as_secs_f64());
    }
    Ok(median(seconds))
}
