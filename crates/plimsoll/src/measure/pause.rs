//! Notices when the program or the machine was stopped: a thread that does nothing but look at the
//! time, so that neither its own work nor the storage can keep it from it.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use device_os::boot_clock;
use units::Nanos;

use crate::error::CommandError;

/// Between two looks.
const PERIOD: Nanos = Nanos::from_millis(20);

/// The longest pause, as far as it is known.
#[derive(Clone)]
pub(super) struct PauseWatch(Arc<Mutex<Beat>>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Beat {
    last: Nanos,
    longest: Nanos,
}

impl Beat {
    /// Looks at the time; a look that comes later than planned was missed for a pause.
    fn look(&mut self, now: Nanos) {
        let late = now.since(self.last + PERIOD);
        self.longest = self.longest.max(late);
        self.last = self.last.max(now);
    }
}

impl PauseWatch {
    /// Watches until every copy is gone.
    pub(super) fn start() -> Result<Self, CommandError> {
        let watch = Self(Arc::new(Mutex::new(Beat {
            last: boot_clock(),
            longest: Nanos::ZERO,
        })));
        let beat = Arc::downgrade(&watch.0);
        let body = move || {
            while let Some(beat) = beat.upgrade() {
                look(&beat);
                drop(beat);
                thread::sleep(Duration::from_nanos(PERIOD.0));
            }
        };
        let named = thread::Builder::new().name("pauses".to_owned());
        named.spawn(body).map_err(|error| {
            CommandError::new(format!(
                "cannot start a thread: {error}; end other programs"
            ))
        })?;
        Ok(watch)
    }

    /// The longest pause since the last call, one that lasts until now included.
    pub(super) fn take_longest(&self) -> Nanos {
        look(&self.0);
        let mut beat = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut beat.longest)
    }
}

fn look(beat: &Mutex<Beat>) {
    let mut beat = beat.lock().unwrap_or_else(PoisonError::into_inner);
    beat.look(boot_clock());
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::Beat;

    #[test]
    fn a_pause_is_told_once_by_either_thread() {
        let mut beat = Beat::default();
        let at = Nanos::from_millis;
        beat.look(at(20));
        beat.look(at(45));
        assert_eq!(beat.longest, at(5));
        beat.look(at(10_065));
        assert_eq!(std::mem::take(&mut beat.longest), at(10_000));
        // The watching thread looked at the clock before the other one did.
        beat.look(at(10_060));
        beat.look(at(10_066));
        assert_eq!(beat.longest, Nanos::ZERO);
    }
}
