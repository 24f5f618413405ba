//! Ctrl-C, a request to terminate, or the terminal's end: the first asks to stop cleanly and is
//! answered at once, the second ends the program.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::error::CommandError;
use crate::term;

/// What a signal does to a run. Writing what is in the cache takes as long as the storage needs for
/// it; a request without an answer is given up after 10 s (`trial::patience`).
pub(crate) const STOPS_A_RUN: &str = "stopping cleanly, up to 20 s; again ends at once and leaves \
                                      databases to recover";

/// Between two looks at whether the first signal has come: people take a tenth of a second for at
/// once.
const LOOK: Duration = Duration::from_millis(50);

/// Set by the first signal.
#[derive(Clone, Debug)]
pub(crate) struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// Listens from now on; `answer` tells a person what the first signal does, and a second one.
    pub(crate) fn install(answer: &'static str) -> Result<Self, CommandError> {
        let asked = Arc::new(AtomicBool::new(false));
        // Under `nohup` the run is to outlive its terminal.
        let hang_up = (!is_ignored(SIGHUP)).then_some(SIGHUP);
        for signal in [SIGINT, SIGTERM].into_iter().chain(hang_up) {
            // In this order: the first signal finds the flag unset, sets it, and only the second
            // finds it set.
            flag::register_conditional_shutdown(signal, 2, Arc::clone(&asked))?;
            flag::register(signal, Arc::clone(&asked))?;
        }
        let flag = Self(asked);
        flag.clone().answer_with(answer)?;
        Ok(flag)
    }

    /// Whether a stop has been asked for.
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The main thread may be waiting for storage, so another one answers.
    fn answer_with(self, answer: &'static str) -> Result<(), CommandError> {
        let watch = move || {
            while !self.is_set() {
                thread::sleep(LOOK);
            }
            term::answer_stop(answer);
        };
        let named = thread::Builder::new().name("signals".to_owned());
        named.spawn(watch).map(drop).map_err(|error| {
            CommandError::new(format!("cannot start a thread: {error}; end other programs"))
        })
    }
}

/// Whether the program was started with `signal` ignored. Unknown counts as no.
fn is_ignored(signal: i32) -> bool {
    fs::read_to_string("/proc/self/status").is_ok_and(|status| ignores(&status, signal))
}

/// Whether the mask `SigIgn` of a process status holds `signal`; bit 0 stands for signal 1.
fn ignores(status: &str, signal: i32) -> bool {
    status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use signal_hook::consts::{SIGHUP, SIGINT};

    use super::ignores;

    #[test]
    fn the_mask_of_ignored_signals_is_read() {
        let status = "Name:\tplimsoll\nSigBlk:\t0000000000000003\nSigIgn:\t0000000000001001\n";
        assert!(ignores(status, SIGHUP));
        assert!(!ignores(status, SIGINT));
        assert!(!ignores("Name:\tplimsoll\n", SIGHUP));
    }
}
