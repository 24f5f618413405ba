//! Two hosts under faults over many seeds, on every processor: `mirror --seeds N [--first S]`.

#[path = "../tests/model/mod.rs"]
mod model;
#[path = "../tests/world/mod.rs"]
mod world;

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use model::{Explored, SMALL, explore};
use world::{Broken, Tally, run};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (first, seeds) = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--seeds", seeds] => (Ok(1), seeds.parse()),
        ["--seeds", seeds, "--first", first] | ["--first", first, "--seeds", seeds] => {
            (first.parse(), seeds.parse())
        }
        _ => return usage(),
    };
    let (Ok(first), Ok(seeds)) = (first, seeds) else { return usage() };
    let specification = explore(&SMALL);
    print(&format!(
        "specification: {} states, fault {:?}",
        specification.states, specification.fault
    ));
    match all_seeds(first, seeds, &specification) {
        Ok(tally) => {
            print(&format!("{tally:#?}"));
            print(&format!(
                "{seeds} seeds: 0 acknowledged writes lost, 0 stale reads, never two writers"
            ));
            ExitCode::SUCCESS
        }
        Err(broken) => {
            print(&broken.to_string());
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    print("usage: mirror --seeds N [--first S]");
    ExitCode::from(64)
}

/// Each thread takes every n-th seed, until one of them finds a broken promise.
fn all_seeds(first: u64, seeds: u64, specification: &Explored) -> Result<Tally, Broken> {
    let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let stop = AtomicBool::new(false);
    let share = |offset: usize| {
        let mut sum = Tally::default();
        for seed in (first..first + seeds).skip(offset).step_by(threads) {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            sum.add(
                &run(seed, specification).inspect_err(|_| stop.store(true, Ordering::Relaxed))?,
            );
        }
        Ok(sum)
    };
    let share = &share;
    thread::scope(|scope| {
        let running: Vec<_> =
            (0..threads).map(|offset| scope.spawn(move || share(offset))).collect();
        let mut all = Tally::default();
        for thread in running {
            let sum = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            all.add(&sum);
        }
        Ok(all)
    })
}

fn print(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
