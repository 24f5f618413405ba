//! Notices when the program or the machine was stopped: a thread that only watches the clock, so
//! that neither work nor storage can delay it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use device::Clock as _;
use device_os::{OsClock, boot_clock};
use units::Nanos;

use crate::crew;
use crate::error::HostError;

/// Interval between two checks.
const PERIOD: Nanos = Nanos::from_millis(20);

/// Shortest pause that counts. On a busy machine a shorter one may affect only this thread.
const PAUSE: Nanos = Nanos::from_millis(500);

/// Limit on remembered pauses; no request spans more.
const MOST_PAUSES: usize = 1_024;

/// The pauses known so far.
#[derive(Clone)]
pub(super) struct PauseWatch(Arc<Mutex<Beat>>);

#[derive(Debug, Default)]
struct Beat {
    last: Nanos,
    longest: Nanos,
    /// The last reading, on the clock of the run, which stops while the machine sleeps.
    last_of_run: Nanos,
    /// The latest pauses on that clock.
    pauses: VecDeque<(Nanos, Nanos)>,
}

impl Beat {
    /// Checks the time; a check later than planned means a pause.
    fn look(&mut self, now: Nanos, of_run: Nanos) {
        let late = now.since(self.last + PERIOD);
        self.longest = self.longest.max(late);
        self.last = self.last.max(now);
        let from = self.last_of_run + PERIOD;
        if of_run.since(from) >= PAUSE {
            self.pauses.push_back((from, of_run));
            let surplus = self.pauses.len().saturating_sub(MOST_PAUSES);
            self.pauses.drain(..surplus);
        }
        self.last_of_run = self.last_of_run.max(of_run);
    }

    /// Returns the paused part of the time between two moments of the run.
    fn absent(&self, from: Nanos, to: Nanos) -> Nanos {
        let pauses = self.pauses.iter();
        Nanos(pauses.map(|(begin, end)| to.min(*end).since(from.max(*begin)).0).sum())
    }
}

impl PauseWatch {
    /// Watches until every clone is dropped.
    pub(super) fn start() -> Result<Self, HostError> {
        let watch = Self(Arc::new(Mutex::new(Beat {
            last: boot_clock(),
            last_of_run: OsClock::new().now(),
            ..Beat::default()
        })));
        let beat = Arc::downgrade(&watch.0);
        crew::start_thread("pauses", move || {
            while let Some(beat) = beat.upgrade() {
                drop(looked(&beat));
                drop(beat);
                thread::sleep(Duration::from_nanos(PERIOD.0));
            }
        })?;
        Ok(watch)
    }

    /// The longest pause since the last call, one that lasts until now included.
    pub(super) fn take_longest(&self) -> Nanos {
        std::mem::take(&mut looked(&self.0).longest)
    }

    /// How much of the time between two moments of the run the program was paused.
    pub(super) fn absent(&self, from: Nanos, to: Nanos) -> Nanos {
        looked(&self.0).absent(from, to)
    }
}

/// The beat after a check of the time.
fn looked(beat: &Mutex<Beat>) -> MutexGuard<'_, Beat> {
    let mut beat = beat.lock().unwrap_or_else(PoisonError::into_inner);
    beat.look(boot_clock(), OsClock::new().now());
    beat
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::Beat;

    #[test]
    fn a_pause_is_told_once_by_either_thread() {
        let mut beat = Beat::default();
        let at = Nanos::from_millis;
        let look = |beat: &mut Beat, millis| beat.look(at(millis), at(millis));
        look(&mut beat, 20);
        look(&mut beat, 45);
        assert_eq!(beat.longest, at(5));
        look(&mut beat, 10_065);
        assert_eq!(std::mem::take(&mut beat.longest), at(10_000));
        // The watching thread read the clock before the other one did.
        look(&mut beat, 10_060);
        look(&mut beat, 10_066);
        assert_eq!(beat.longest, Nanos::ZERO);
        assert_eq!(beat.absent(at(0), at(20_000)), at(10_000));
        assert_eq!(beat.absent(at(60), at(1_065)), at(1_000));
        assert_eq!(beat.absent(at(10_065), at(20_000)), Nanos::ZERO);
    }
}
