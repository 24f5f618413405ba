//! Activity of the machine during a run, from one reading to the next.

use std::cell::RefCell;
use std::time::Instant;

use record::HostSample;
use trial::HostSampler;
use units::Nanos;

use super::pause::PauseWatch;
use crate::system::{self, HostReading, ProcessorCount};

/// Samples the system's counters.
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

/// Activity between two readings, this many seconds apart. Values missing from either are unknown
/// for the time between.
fn sample(before: &HostReading, after: &HostReading, seconds: f64) -> HostSample {
    let processors = before.processors.zip(after.processors);
    let process = before.process_seconds.zip(after.process_seconds);
    HostSample {
        processor_percent: processors.map(|both| share(both, both.0.busy, both.1.busy)),
        steal_percent: processors.and_then(|both| {
            let steal = both.0.steal.zip(both.1.steal)?;
            Some(share(both, steal.0, steal.1))
        }),
        process_percent: process
            .map(|(before, after)| (after - before).max(0.0) / seconds.max(1e-9) * 100.0),
        available_memory_bytes: after.available_memory_bytes,
        process_resident_bytes: after.resident_bytes,
        pool_nonpaged_bytes: after.pools.map(|(nonpaged, _)| nonpaged),
        pool_paged_bytes: after.pools.map(|(_, paged)| paged),
        free_system_page_table_entries: after.free_page_table_entries,
        transition_pages_repurposed_per_second: repurposed_per_second(before, after),
        ..HostSample::default()
    }
}

/// `None` if the counter was not read again in between, or was reset.
fn repurposed_per_second(before: &HostReading, after: &HostReading) -> Option<f64> {
    let ((then, from), (now, to)) = before.repurposed_pages.zip(after.repurposed_pages)?;
    let seconds = now.checked_duration_since(then)?.as_secs_f64();
    let count = to.checked_sub(from).filter(|_| seconds > 0.0)?;
    Some(count as f64 / seconds)
}

/// Growth of a count, in percent of all processor time between two readings.
fn share((from, to): (ProcessorCount, ProcessorCount), before: u64, after: u64) -> f64 {
    let total = to.total.saturating_sub(from.total).max(1) as f64;
    after.saturating_sub(before) as f64 / total * 100.0
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::sample;
    use crate::system::{HostReading, ProcessorCount};

    fn reading(busy: u64, steal: Option<u64>, total: u64, seconds: f64) -> HostReading {
        HostReading {
            processors: Some(ProcessorCount { busy, steal, total }),
            process_seconds: Some(seconds),
            ..HostReading::default()
        }
    }

    #[test]
    fn shares_are_of_the_time_between() {
        let (before, after) = (reading(50, Some(3), 100, 1.0), reading(80, Some(13), 200, 1.5));
        let found = sample(&before, &after, 2.0);
        assert_eq!((found.processor_percent, found.process_percent), (Some(30.0), Some(25.0)));
        assert_eq!(found.steal_percent, Some(10.0));
    }

    #[test]
    fn repurposed_pages_are_counted_by_the_time_between_their_own_readings() {
        let begin = Instant::now();
        let at = |seconds, count| HostReading {
            repurposed_pages: Some((begin + Duration::from_secs(seconds), count)),
            ..HostReading::default()
        };
        let rate =
            |before, after| sample(&before, &after, 15.0).transition_pages_repurposed_per_second;
        assert_eq!(rate(at(3, 100), at(17, 170)), Some(5.0));
        assert_eq!(rate(at(3, 100), at(3, 100)), None);
        assert_eq!(rate(at(3, 100), at(9, 99)), None);
        assert_eq!(rate(HostReading::default(), at(9, 99)), None);
    }

    #[test]
    fn what_nothing_tells_is_left_out() {
        let (before, after) = (reading(50, None, 100, 1.0), reading(80, Some(13), 200, 1.5));
        let found = sample(&before, &after, 2.0);
        assert_eq!((found.processor_percent, found.steal_percent), (Some(30.0), None));
        // A counter missing from one reading would otherwise seem to have stopped or jumped.
        for (before, after) in [(HostReading::default(), after), (before, HostReading::default())] {
            let found = sample(&before, &after, 2.0);
            assert_eq!((found.processor_percent, found.process_percent), (None, None));
        }
        let found = sample(&before, &HostReading::default(), 2.0);
        assert_eq!((found.available_memory_bytes, found.process_resident_bytes), (None, None));
    }
}
