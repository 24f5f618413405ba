//! When the storage has had long enough to answer. Only time in which the program could see an
//! answer counts, so a program that was itself stopped gives up nothing.

use units::Nanos;

/// How long a request may wait once the run must end: longer than healthy storage takes for a queue
/// of writes, shorter than a person waits after Ctrl-C.
const AFTER_STOP: Nanos = Nanos::from_secs(10);

/// Maximum time between two checks that counts as time in which an answer would have been seen.
const LONGEST_LOOK: Nanos = Nanos::from_secs(1);

/// How long a request may wait for its answer.
pub fn limit(give_up: Nanos, is_to_end: bool) -> Nanos {
    if is_to_end { give_up.min(AFTER_STOP) } else { give_up }
}

/// Tracks the time, minus pauses of the program.
#[derive(Clone, Debug)]
pub struct Patience {
    looked: Nanos,
    /// Times that the program missed: end and length of each.
    missed: Vec<(Nanos, Nanos)>,
}

impl Patience {
    /// Watches from `now` on.
    pub const fn new(now: Nanos) -> Self {
        Self { looked: now, missed: Vec::new() }
    }

    /// The time before which a waiting request has waited for `limit` as observed by the program;
    /// `None` if no request can have waited that long. Called at least once a second.
    pub fn look(&mut self, now: Nanos, limit: Nanos) -> Option<Nanos> {
        let since = now.since(self.looked);
        self.looked = now;
        if since > LONGEST_LOOK {
            // A waiting request may have been answered long ago: the next check will see it.
            self.missed.push((now, since));
        }
        let mut moment = Nanos(now.0.checked_sub(limit.0)?);
        for (ended, missed) in self.missed.iter().rev() {
            if *ended > moment {
                moment = Nanos(moment.0.checked_sub(missed.0)?);
            }
        }
        Some(moment)
    }
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::{Patience, limit};

    const MINUTE: Nanos = Nanos::from_secs(60);

    fn seconds(count: u64) -> Nanos {
        Nanos::from_secs(count)
    }

    #[test]
    fn a_request_is_given_up_when_it_has_waited_for_the_whole_time() {
        let mut patience = Patience::new(seconds(0));
        let last = (1..=100).map(|second| patience.look(seconds(second), MINUTE)).last();
        assert_eq!(last, Some(Some(seconds(40))));
        assert_eq!(Patience::new(seconds(0)).look(seconds(1), MINUTE), None);
    }

    #[test]
    fn time_in_which_the_program_was_stopped_does_not_count() {
        let mut patience = Patience::new(seconds(99));
        assert_eq!(patience.look(seconds(100), MINUTE), Some(seconds(40)));
        // Stopped for 70 s: a request made at 100 s is not late, however old it is.
        assert_eq!(patience.look(seconds(170), MINUTE), Some(seconds(40)));
        let mut last = None;
        for second in 171..=240 {
            last = patience.look(seconds(second), MINUTE);
        }
        // A request made before the stop is late if it still waits 70 s after it.
        assert_eq!(last, Some(seconds(180)));
    }

    #[test]
    fn a_run_that_is_to_end_waits_for_less() {
        assert_eq!(limit(MINUTE, false), MINUTE);
        assert_eq!(limit(MINUTE, true), seconds(10));
        assert_eq!(limit(seconds(3), true), seconds(3));
    }
}
