//! Statistics of a device as seen from above: requests, bytes, errors and latencies.

use std::cell::RefCell;
use std::rc::Rc;

use device::{Completed, Completion, Device, OpKind, Request};
use units::Nanos;

/// Buckets of latency: bucket `n` counts requests below 2^n microseconds, the last one all others.
const BUCKETS: usize = 26;

/// Requests of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestSeries {
    /// Completed requests, including failed ones.
    pub requests: u64,
    /// Bytes of those that succeeded.
    pub bytes: u64,
    /// Requests that failed.
    pub errors: u64,
    /// Sum of their latencies.
    pub spent: Nanos,
    buckets: [u64; BUCKETS],
}

impl RequestSeries {
    fn add(&mut self, bytes: u64, outcome: &Completed) {
        let latency = outcome.latency();
        self.requests += 1;
        match outcome.result {
            Ok(()) => self.bytes += bytes,
            Err(_) => self.errors += 1,
        }
        self.spent += latency;
        let micros = latency.0 / 1_000;
        let bucket = usize::try_from(u64::BITS - micros.leading_zeros()).unwrap_or(BUCKETS);
        self.buckets[bucket.min(BUCKETS - 1)] += 1;
    }

    /// Upper bounds in microseconds and how many requests took less, ascending, as in a cumulative
    /// histogram.
    pub fn histogram(&self) -> impl Iterator<Item = (u64, u64)> {
        let mut below = 0;
        self.buckets[..BUCKETS - 1].iter().enumerate().map(move |(bucket, &count)| {
            below += count;
            (1 << bucket, below)
        })
    }

    /// An upper bound in microseconds for the latency of the given share of requests, at most twice
    /// the exact value, and never above 2^25; 0 without requests.
    pub fn quantile_us(&self, share: f64) -> u64 {
        let wanted = self.requests as f64 * share;
        let mut bounds = self.histogram();
        let found = bounds.find(|&(_, below)| below as f64 >= wanted && below > 0);
        found.map_or(if self.requests == 0 { 0 } else { 1 << (BUCKETS - 1) }, |(bound, _)| bound)
    }
}

/// Requests of a device by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceTally {
    /// Reads.
    pub reads: RequestSeries,
    /// Writes.
    pub writes: RequestSeries,
    /// Flushes.
    pub flushes: RequestSeries,
    /// The last error.
    pub last_error: Option<String>,
}

/// A device whose requests are tallied.
pub struct Tallied {
    inner: Rc<dyn Device>,
    tally: Rc<RefCell<DeviceTally>>,
}

impl Tallied {
    /// Tallies the requests to `inner`.
    pub fn new(inner: Rc<dyn Device>) -> Self {
        Self { inner, tally: Rc::default() }
    }

    /// The tally, which changes with every request.
    pub fn tally(&self) -> Rc<RefCell<DeviceTally>> {
        Rc::clone(&self.tally)
    }
}

impl Device for Tallied {
    fn submit(&self, request: Request) -> Completion {
        let (kind, bytes) = (request.op.kind(), request.op.length() as u64);
        let tally = Rc::clone(&self.tally);
        self.inner.submit(request).on_complete(move |outcome| {
            let mut tally = tally.borrow_mut();
            let series = match kind {
                OpKind::Read => &mut tally.reads,
                OpKind::Write => &mut tally.writes,
                OpKind::Flush | OpKind::SetLength => &mut tally.flushes,
            };
            series.add(bytes, outcome);
            if let Err(error) = &outcome.result {
                tally.last_error = Some(error.to_string());
            }
        })
    }

    device::same_as_inner!();
}

#[cfg(test)]
mod tests {
    use device::Completed;
    use units::Nanos;

    use super::RequestSeries;

    fn series(micros: &[u64]) -> RequestSeries {
        let mut series = RequestSeries::default();
        for &micros in micros {
            let completed = Nanos::from_micros(micros);
            let result = Ok(());
            series.add(512, &Completed { buffer: None, result, submitted: Nanos(0), completed });
        }
        series
    }

    #[test]
    fn quantiles_are_bounds_within_a_factor_of_two() {
        let series = series(&[3, 3, 3, 3, 3, 3, 3, 3, 3, 900]);
        assert_eq!((series.quantile_us(0.5), series.quantile_us(0.99)), (4, 1_024));
        assert_eq!(series.histogram().last(), Some((1 << 24, 10)));
        assert_eq!(RequestSeries::default().quantile_us(0.5), 0);
        assert_eq!((series.requests, series.bytes, series.errors), (10, 5_120, 0));
    }

    #[test]
    fn a_latency_beyond_every_bound_is_counted_all_the_same() {
        let series = series(&[1 << 40]);
        assert_eq!(series.histogram().last(), Some((1 << 24, 0)));
        assert_eq!(series.quantile_us(0.5), 1 << 25);
    }
}
