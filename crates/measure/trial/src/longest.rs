//! Remembers the longest request of each phase, whatever its purpose: the time limit must also
//! cover requests that no series counts, or that wait while no interval is sampled.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use device::Asked;
use record::{LongRequest, Phase, STALL_MINIMUM_NS};
use units::Nanos;

use crate::host_sampler::HostSampler;
use crate::in_flight::Open;

/// The longest request of one database in the current phase.
pub(crate) struct Longest {
    phase: Cell<Phase>,
    /// Knows when the program was stopped, if that can be known.
    host: Option<Rc<dyn HostSampler>>,
    found: RefCell<Option<RequestFound>>,
}

/// A request that took long.
struct RequestFound {
    asked: Asked,
    at: Nanos,
    time: Nanos,
    is_answered: bool,
}

impl Longest {
    /// No requests yet, in the first phase.
    pub(crate) const fn new(host: Option<Rc<dyn HostSampler>>) -> Self {
        Self { phase: Cell::new(Phase::Open), host, found: RefCell::new(None) }
    }

    /// Assigns requests answered from now on to `phase`.
    pub(crate) fn enter(&self, phase: Phase) {
        self.phase.set(phase);
    }

    /// Records that `open` was answered `now`, or still waits.
    pub(crate) fn note(&self, open: &Open, now: Nanos, is_answered: bool) {
        let span = now.since(open.since);
        let longest = self.found.borrow().as_ref().map(|found| found.time);
        let least = longest.unwrap_or(Nanos(STALL_MINIMUM_NS));
        if span < least {
            return;
        }
        let absent = self.host.as_ref().map(|host| host.absent(open.since, now));
        let time = Nanos(span.0.saturating_sub(absent.unwrap_or_default().0));
        if time >= least {
            *self.found.borrow_mut() =
                Some(RequestFound { asked: open.asked.clone(), at: now, time, is_answered });
        }
    }

    /// The longest request since the last call, for database number `database`; `origin` is the
    /// run's zero.
    pub(crate) fn take(&self, database: u32, origin: Nanos) -> Option<LongRequest> {
        let RequestFound { asked, at, time, is_answered } = self.found.take()?;
        Some(LongRequest {
            at_ns: at.since(origin).0,
            phase: self.phase.get(),
            database,
            file: asked.file.to_string(),
            operation: asked.operation.to_owned(),
            offset_bytes: asked.offset,
            length_bytes: asked.length as u64,
            time_ns: time.0,
            is_answered,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use device::Asked;
    use record::{HostSample, Phase};
    use units::Nanos;

    use super::Longest;
    use crate::host_sampler::HostSampler;
    use crate::in_flight::Open;

    /// The program was stopped from 20 s to 30 s.
    struct Stopped;

    impl HostSampler for Stopped {
        fn sample(&self) -> HostSample {
            HostSample::default()
        }

        fn absent(&self, from: Nanos, to: Nanos) -> Nanos {
            let (begin, end) = (Nanos::from_secs(20), Nanos::from_secs(30));
            to.min(end).since(from.max(begin))
        }
    }

    fn asked(operation: &'static str, second: u64) -> Open {
        Open {
            asked: Asked { file: "a".into(), operation, request: None, offset: 0, length: 0 },
            since: Nanos::from_secs(second),
        }
    }

    #[test]
    fn the_longest_is_kept_and_a_stop_of_the_program_is_not_in_its_time() {
        let longest = Longest::new(Some(Rc::new(Stopped)));
        let at = Nanos::from_secs;
        longest.note(&asked("read", 9), Nanos(9_999_999_999), true);
        assert_eq!(longest.take(3, at(1)), None, "less than a second");
        longest.note(&asked("open", 9), at(16), true);
        longest.note(&asked("read", 18), at(31), true);
        longest.enter(Phase::Warm);
        longest.note(&asked("flush", 17), at(36), false);
        let found = longest.take(3, at(1)).expect("a long one");
        assert_eq!((found.operation.as_str(), found.database), ("flush", 3));
        assert_eq!((Nanos(found.time_ns), Nanos(found.at_ns)), (at(9), at(35)));
        assert_eq!((found.phase, found.is_answered), (Phase::Warm, false));
        assert_eq!(longest.take(3, at(1)), None);
    }
}
