//! Ctrl-C, Ctrl-Break, a termination request, or a closed terminal: the first asks to stop cleanly
//! and is answered at once, the second ends the program.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use host::{StopFlag, crew};

use crate::error::CommandError;
use crate::{system, term};

/// Effect of a signal on a run. Writing out the cache takes as long as the storage needs, within
/// the limit on the run's end (`trial::bounds`); an unanswered request is abandoned after 10 s
/// (`trial::patience`).
pub const STOPS_A_RUN: &str = "stopping cleanly, in seconds unless the storage is slow; \
                                      again ends at once and leaves databases to recover";

/// Interval between checks for the first signal: people perceive a tenth of a second as immediate.
const LOOK: Duration = Duration::from_millis(50);

/// Set by the first signal of this program.
static INSTALLED: OnceLock<StopFlag> = OnceLock::new();

/// Whether the work that a signal would stop is over.
static IS_OVER: AtomicBool = AtomicBool::new(false);

/// Installs the handlers; `answer` explains the effect of the first signal and of a second one.
pub fn install(answer: &'static str) -> Result<StopFlag, CommandError> {
    let asked = Arc::new(AtomicBool::new(false));
    system::stop_on_request(&asked)?;
    let stop = StopFlag::of(asked);
    answer_with(stop.clone(), answer)?;
    let _ = INSTALLED.set(stop.clone());
    Ok(stop)
}

/// Makes the next signal count as the first again, now that the work is over; the answer to it does
/// not mention the work. Without an installed flag a signal ends the program as usual.
pub(crate) fn listen_again() -> StopFlag {
    IS_OVER.store(true, Ordering::Relaxed);
    let stop = INSTALLED.get().cloned().unwrap_or_default();
    stop.clear();
    stop
}

/// The main thread may be waiting for storage, so another one answers.
fn answer_with(stop: StopFlag, answer: &'static str) -> Result<(), CommandError> {
    Ok(crew::start_thread("signals", move || {
        while !stop.is_set() {
            thread::sleep(LOOK);
        }
        if !IS_OVER.load(Ordering::Relaxed) {
            term::answer_stop(answer);
        }
    })?)
}
