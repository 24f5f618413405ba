//! What the machine does while a run goes on, from one look at it to the next.

use std::cell::RefCell;
use std::time::Instant;

use record::HostSample;
use trial::HostSampler;
use units::Nanos;

use super::pause::PauseWatch;
use crate::system::{self, HostReading};

/// Samples what the system counts.
pub(super) struct CountedHost {
    before: RefCell<(Instant, HostReading)>,
    pauses: PauseWatch,
}

impl CountedHost {
    /// Samples count from now.
    pub(super) fn new(pauses: PauseWatch) -> Self {
        Self { before: RefCell::new((Instant::now(), system::host_reading())), pauses }
    }
}

impl HostSampler for CountedHost {
    fn sample(&self) -> HostSample {
        let (now, after) = (Instant::now(), system::host_reading());
        let (then, before) = self.before.replace((now, after));
        HostSample {
            pause_maximum_ns: Some(self.pauses.take_longest().0),
            ..sample(&before, &after, now.duration_since(then).as_secs_f64())
        }
    }

    fn absent(&self, from: Nanos, to: Nanos) -> Nanos {
        self.pauses.absent(from, to)
    }
}

/// What happened between two readings, so many seconds apart.
fn sample(before: &HostReading, after: &HostReading, seconds: f64) -> HostSample {
    let total = after.total.saturating_sub(before.total).max(1) as f64;
    let percent = |before: u64, after: u64| after.saturating_sub(before) as f64 / total * 100.0;
    let process = (after.process_seconds - before.process_seconds).max(0.0);
    HostSample {
        processor_percent: percent(before.busy, after.busy),
        steal_percent: before.steal.zip(after.steal).map(|(before, after)| percent(before, after)),
        process_percent: process / seconds.max(1e-9) * 100.0,
        available_memory_bytes: after.available_memory_bytes,
        process_resident_bytes: after.resident_bytes,
        pool_nonpaged_bytes: after.pools.map(|(nonpaged, _)| nonpaged),
        pool_paged_bytes: after.pools.map(|(_, paged)| paged),
        ..HostSample::default()
    }
}

#[cfg(test)]
mod tests {
    use super::sample;
    use crate::system::HostReading;

    #[test]
    fn shares_are_of_the_time_between_and_what_nothing_tells_is_left_out() {
        let before =
            HostReading { busy: 50, total: 100, process_seconds: 1.0, ..Default::default() };
        let after =
            HostReading { busy: 80, total: 200, process_seconds: 1.5, ..Default::default() };
        let found = sample(&before, &after, 2.0);
        assert_eq!((found.processor_percent, found.process_percent), (30.0, 25.0));
        assert_eq!((found.steal_percent, found.pool_paged_bytes), (None, None));
        let [before, after] =
            [(before, 3), (after, 13)].map(|(of, steal)| HostReading { steal: Some(steal), ..of });
        assert_eq!(sample(&before, &after, 2.0).steal_percent, Some(10.0));
    }
}
