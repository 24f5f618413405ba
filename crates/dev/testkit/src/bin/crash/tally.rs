//! Results and progress of a run over many scripts.

use std::time::{Duration, Instant};

use testkit::crash::{CrashFailure, CrashSummary};

use crate::say;

/// Interval between progress reports.
const PROGRESS_EVERY: Duration = Duration::from_secs(10);

/// Results of a run over many scripts.
pub(crate) struct CrashTally {
    seeds: u64,
    done: u64,
    /// Counts of the scripts that passed.
    pub summary: CrashSummary,
    /// Failures of the scripts that did not pass.
    pub failures: Vec<CrashFailure>,
    began: Instant,
    told: Instant,
}

impl CrashTally {
    /// An empty tally for `seeds` scripts.
    pub(crate) fn new(seeds: u64) -> Self {
        let now = Instant::now();
        Self {
            seeds,
            done: 0,
            summary: CrashSummary::default(),
            failures: Vec::new(),
            began: now,
            told: now,
        }
    }

    /// Adds a script's result; returns whether to continue.
    pub(crate) fn take(&mut self, result: Result<CrashSummary, CrashFailure>) -> bool {
        match result {
            Ok(summary) => self.summary.add(&summary),
            Err(failure) => self.failures.push(failure),
        }
        self.done += 1;
        if self.told.elapsed() >= PROGRESS_EVERY {
            self.told = Instant::now();
            let left = (self.seeds - self.done) as f64 / self.done as f64;
            say(&format!(
                "{} of {} scripts, {} power failures; about {:.0} s left",
                self.done,
                self.seeds,
                self.summary.crashes,
                self.began.elapsed().as_secs_f64() * left
            ));
        }
        self.failures.is_empty()
    }
}
