//! Fails power at more than two thousand requests and checks that every promise is kept.

use crate::crash::{CrashOptions, CrashSummary, Script, Steps, run};
use units::Seed;

/// Runs the crash loop; a broken promise fails the test with the command that repeats it.
fn must_keep_promises(options: &CrashOptions) -> CrashSummary {
    match run(options) {
        Ok(summary) => summary,
        Err(failure) => panic!("{failure}"),
    }
}

/// Runs random scripts, a few of the many that `cargo xtask crash --seeds N` runs.
fn scripts(seeds: std::ops::Range<u64>) {
    let mut all = CrashSummary::default();
    for seed in seeds {
        all.add(&must_keep_promises(&CrashOptions::new(Seed(seed), Steps::Some(10))));
    }
    assert!(all.crashes >= 1_000 && all.during_recovery > 100, "{all:?}");
    assert!(all.durable_commits > 100 && all.lost_commits > 0, "{all:?}");
}

#[test]
fn random_scripts_survive() {
    scripts(1..66);
}

/// Two sessions wait for room in the cache, one takes the room meant for the other, and both must
/// finish.
#[test]
fn a_session_whose_room_another_one_took_goes_on() {
    let summary = must_keep_promises(&CrashOptions::new(Seed(9_143), Steps::Every));
    assert!(summary.crashes > 100, "{summary:?}");
}

#[test]
fn more_random_scripts_survive() {
    scripts(1_000..1_065);
}

#[test]
fn a_short_script_survives_a_failure_at_every_request() {
    let seed = Seed(77);
    let summary = must_keep_promises(&CrashOptions {
        seed,
        steps: Steps::Every,
        script: Script::short(seed),
        array: None,
    });
    assert!(summary.requests > 40, "{summary:?}");
    assert!(summary.crashes >= summary.requests, "{summary:?}");
}
