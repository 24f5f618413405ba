//! Remaining time of a part of a run, as observed by the program: time in which the program itself
//! was stopped does not count.

use std::cell::Cell;

use units::Nanos;

use crate::bounds::RunStage;

/// Maximum time counted between two checks.
const LONGEST_LOOK: Nanos = Nanos::from_secs(1);

/// Counts down the time of the current part.
#[derive(Debug, Default)]
pub(crate) struct Countdown {
    running: Cell<Option<PartTime>>,
}

#[derive(Clone, Copy, Debug)]
struct PartTime {
    part: RunStage,
    whole: Nanos,
    left: Nanos,
    looked: Nanos,
}

impl Countdown {
    /// Starts the countdown: `part` begins `now` and may last `whole`.
    pub(crate) fn begin(&self, part: RunStage, whole: Nanos, now: Nanos) {
        self.running.set(Some(PartTime { part, whole, left: whole, looked: now }));
    }

    /// Lifts the time limit of the current part.
    pub(crate) fn stop(&self) {
        self.running.set(None);
    }

    /// The part that ran out of time, and its limit. Called at least once a second.
    pub(crate) fn look(&self, now: Nanos) -> Option<(RunStage, Nanos)> {
        let mut running = self.running.get()?;
        let since = now.since(running.looked).min(LONGEST_LOOK);
        running.looked = now;
        running.left = running.left.since(since);
        self.running.set(Some(running));
        (running.left == Nanos::ZERO).then_some((running.part, running.whole))
    }
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::Countdown;
    use crate::bounds::RunStage;

    #[test]
    fn only_time_that_the_program_saw_counts() {
        let countdown = Countdown::default();
        assert_eq!(countdown.look(Nanos::from_secs(5)), None);
        countdown.begin(RunStage::Finishing, Nanos::from_secs(3), Nanos::from_secs(10));
        let look = |second| countdown.look(Nanos::from_secs(second));
        assert_eq!((look(11), look(12), look(12)), (None, None, None));
        // The program was stopped for a minute and a half.
        let over = Some((RunStage::Finishing, Nanos::from_secs(3)));
        assert_eq!((look(100), look(101)), (over, over));
        countdown.stop();
        assert_eq!(countdown.look(Nanos::from_secs(102)), None);
    }
}
