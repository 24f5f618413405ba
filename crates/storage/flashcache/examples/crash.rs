//! The crash loop over many seeds, on every processor: `crash --seeds N [--first S]`.

#[path = "../tests/crash/mod.rs"]
mod crash;

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crash::{Broken, Tally, run};

/// Seeds between two lines of progress.
const PROGRESS_EVERY: u64 = 1_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(seeds) = value(&arguments, "--seeds") else {
        say("usage: crash --seeds N [--first S]");
        return ExitCode::from(2);
    };
    match run_many(value(&arguments, "--first").unwrap_or(1), seeds) {
        Ok(tally) => {
            say(&format!(
                "{seeds} seeds: every promise was kept: 0 stale reads, 0 acknowledged writes lost"
            ));
            say(&format!("{tally:#?}"));
            ExitCode::SUCCESS
        }
        Err(broken) => {
            say(&broken.to_string());
            ExitCode::FAILURE
        }
    }
}

/// The number after the argument `name`.
fn value(arguments: &[String], name: &str) -> Option<u64> {
    let at = arguments.iter().position(|argument| argument == name)?;
    arguments.get(at + 1)?.parse().ok()
}

/// Runs all seeds, until one fails.
fn run_many(first: u64, seeds: u64) -> Result<Tally, Broken> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let next = AtomicU64::new(first);
    let stop = AtomicBool::new(false);
    let outcome = Mutex::new(Ok(Tally::default()));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + seeds {
                        break;
                    }
                    let result = run(seed);
                    stop.fetch_or(result.is_err(), Ordering::Relaxed);
                    let mut outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner);
                    take(&mut outcome, result);
                    let done = seed + 1 - first;
                    if done.is_multiple_of(PROGRESS_EVERY) {
                        say(&format!("about {done} of {seeds} seeds"));
                    }
                }
            });
        }
    });
    outcome.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn take(outcome: &mut Result<Tally, Broken>, result: Result<Tally, Broken>) {
    match (&mut *outcome, result) {
        (Ok(all), Ok(tally)) => all.add(&tally),
        (Ok(_), Err(broken)) => *outcome = Err(broken),
        (Err(_), _) => {}
    }
}

fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
