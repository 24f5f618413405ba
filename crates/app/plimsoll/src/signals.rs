//! Ctrl-C, Ctrl-Break, a request to terminate, or the terminal's end: the first asks to stop
//! cleanly and is answered at once, the second ends the program.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use crate::error::CommandError;
use crate::{crew, system, term};

/// Effect of a signal on a run. Writing out the cache takes as long as the storage needs, within
/// the limit on the run's end (`trial::bounds`); a request without an answer is given up after 10 s
/// (`trial::patience`).
pub(crate) const STOPS_A_RUN: &str = "stopping cleanly, in seconds unless the storage is slow; \
                                      again ends at once and leaves databases to recover";

/// Interval between checks for the first signal: people perceive a tenth of a second as immediate.
const LOOK: Duration = Duration::from_millis(50);

/// Set by the first signal of this program.
static INSTALLED: OnceLock<StopFlag> = OnceLock::new();

/// Whether the work that a signal would stop is over.
static IS_OVER: AtomicBool = AtomicBool::new(false);

/// Set by the first signal.
#[derive(Clone, Debug)]
pub(crate) struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// Listens from now on; `answer` explains the effect of the first signal, and of a second one.
    pub(crate) fn install(answer: &'static str) -> Result<Self, CommandError> {
        let asked = Arc::new(AtomicBool::new(false));
        system::stop_on_request(&asked)?;
        let flag = Self(asked);
        flag.clone().answer_with(answer)?;
        let _ = INSTALLED.set(flag.clone());
        Ok(flag)
    }

    /// Makes the next signal count as the first one again, now that the work is over; no answer to
    /// it mentions the work. Without an installed flag a signal ends the program as usual.
    pub(crate) fn listen_again() -> Self {
        IS_OVER.store(true, Ordering::Relaxed);
        let flag = INSTALLED.get().cloned().unwrap_or_else(|| Self(Arc::default()));
        flag.0.store(false, Ordering::Relaxed);
        flag
    }

    /// Whether a stop was requested.
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Asks for a stop.
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// The main thread may be waiting for storage, so another one answers.
    fn answer_with(self, answer: &'static str) -> Result<(), CommandError> {
        crew::start_thread("signals", move || {
            while !self.is_set() {
                thread::sleep(LOOK);
            }
            if !IS_OVER.load(Ordering::Relaxed) {
                term::answer_stop(answer);
            }
        })
    }
}
