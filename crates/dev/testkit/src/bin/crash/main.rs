//! The crash loop over many seeds, on every processor: `crash --seeds N [--first S]` runs N scripts
//! with power failing at several of their requests each, `crash --seed S --step K` repeats one
//! failure. `--log-segment 512|4096` sets the segment length of all logs; by default it changes
//! each time the database is opened.

mod tally;

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use ese::log_file::SegmentSize;
use testkit::crash::{CrashFailure, CrashOptions, CrashSummary, Steps, run};
use units::Seed;

use crate::tally::CrashTally;

/// Number of requests per script at which power fails in a run over many scripts. Scripts differ
/// more than the requests of one script do, so more scripts are a better use of the time.
const STEPS_OF_A_SEED: u64 = 6;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [seeds, first, seed, step, log_segment] =
        ["--seeds", "--first", "--seed", "--step", "--log-segment"]
            .map(|name| value(&arguments, name));
    let log_segment =
        log_segment.and_then(|bytes| usize::try_from(bytes).ok()).and_then(SegmentSize::from_bytes);
    let outcome = match (seeds, seed, step) {
        (Some(seeds), None, None) => run_many(first.unwrap_or(1), seeds, log_segment),
        (None, Some(seed), Some(step)) => {
            run_one(seed, Steps::One(step), log_segment).map_err(|failure| vec![failure])
        }
        (None, Some(seed), None) => {
            run_one(seed, Steps::Every, log_segment).map_err(|failure| vec![failure])
        }
        _ => {
            say(
                "usage: crash --seeds N [--first S] | --seed S [--step K] [--log-segment 512|4096]",
            );
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(summary) => {
            say(&format!(
                "every promise was kept: {} power failures, {} of them during recovery; \
                 {} durable commits acknowledged before them, {} lazy ones lost, as they may be, \
                 {} torn pages refused by name",
                summary.crashes,
                summary.during_recovery,
                summary.durable_commits,
                summary.lost_commits,
                summary.refused
            ));
            ExitCode::SUCCESS
        }
        Err(failures) => {
            for failure in &failures {
                say(&failure.to_string());
            }
            ExitCode::FAILURE
        }
    }
}

/// The number after the argument `name`.
fn value(arguments: &[String], name: &str) -> Option<u64> {
    let at = arguments.iter().position(|argument| argument == name)?;
    arguments.get(at + 1)?.parse().ok()
}

fn run_one(
    seed: u64,
    steps: Steps,
    log_segment: Option<SegmentSize>,
) -> Result<CrashSummary, CrashFailure> {
    let mut options = CrashOptions::new(Seed(seed), steps);
    options.script.log_segment = log_segment;
    run(&options)
}

/// Runs `seeds` scripts on every processor, until one fails.
fn run_many(
    first: u64,
    seeds: u64,
    log_segment: Option<SegmentSize>,
) -> Result<CrashSummary, Vec<CrashFailure>> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let next = AtomicU64::new(first);
    let stop = AtomicBool::new(false);
    let tally = Mutex::new(CrashTally::new(seeds));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + seeds {
                        break;
                    }
                    let result = run_one(seed, Steps::Some(STEPS_OF_A_SEED), log_segment);
                    let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
                    if !tally.take(result) {
                        stop.store(true, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    if tally.failures.is_empty() { Ok(tally.summary) } else { Err(tally.failures) }
}

fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
