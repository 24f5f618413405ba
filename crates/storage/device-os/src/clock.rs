//! The monotonic clock. Its zero is one instant for the whole process, so that the events of
//! several threads can be put in order.

use std::sync::OnceLock;
use std::time::{Instant, SystemTime};

use device::Clock;
use units::Nanos;

static ZERO: OnceLock<(Instant, Nanos)> = OnceLock::new();

/// Real time since the clock was first used in this process.
#[derive(Clone, Copy, Debug)]
pub struct OsClock {
    zero: Instant,
    epoch: Nanos,
}

impl OsClock {
    /// The clock of this process.
    pub fn new() -> Self {
        let &(zero, epoch) = ZERO.get_or_init(|| (Instant::now(), unix_now()));
        Self { zero, epoch }
    }
}

fn unix_now() -> Nanos {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(Nanos::ZERO, |span| nanos(span.as_nanos()))
}

fn nanos(nanos: u128) -> Nanos {
    Nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// Time since the machine was started. Unlike the clock of a run it includes sleep, if the system
/// has such a clock.
pub fn boot_clock() -> Nanos {
    match crate::system::boot_clock() {
        Some(span) => nanos(span.as_nanos()),
        None => OsClock::new().now(),
    }
}

impl Default for OsClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for OsClock {
    fn now(&self) -> Nanos {
        nanos(self.zero.elapsed().as_nanos())
    }

    fn epoch(&self) -> Nanos {
        self.epoch
    }
}

#[cfg(test)]
mod tests {
    use device::Clock;

    use super::OsClock;

    #[test]
    fn every_clock_of_the_process_has_one_zero() {
        let first = OsClock::new();
        let second = OsClock::new();
        assert_eq!(first.zero, second.zero);
        assert!(first.now() <= second.now());
        let year_2020 = units::Nanos::from_secs(1_577_836_800);
        assert!(first.epoch() > year_2020, "the epoch dates instants");
    }
}
