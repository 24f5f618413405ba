//! Latencies in two forms that monitoring systems accept: counts up to a few bounds, and counts in
//! buckets of constant growth factor, from which any percentile can be derived.

use std::sync::LazyLock;

use record::Histogram;

use crate::live::BARS_NS;

/// Eight buckets per doubling: a percentile read from them is accurate to 9 %. The Prometheus
/// schema and the OpenTelemetry scale use the same number.
pub(super) const SCALE: i32 = 3;

/// The first bucket ends with `2^(FIRST / 8)` seconds, a microsecond; shorter latencies count as
/// zero.
const FIRST: i32 = -159;
/// The last bucket ends beyond an hour, the longest latency distinguished from longer ones.
const LAST: i32 = 95;

/// Latencies up to this count as zero, in seconds: the end before the first bucket.
pub(super) const ZERO_S: f64 = 1.0 / 1_048_576.0;

/// Ends of the buckets in nanoseconds, preceded by that of the zero bucket.
static ENDS_NS: LazyLock<Vec<u64>> = LazyLock::new(|| (FIRST - 1..=LAST).map(end_ns).collect());

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "from a microsecond to an hour"
)]
fn end_ns(index: i32) -> u64 {
    (f64::from(index).mul_add(1.0 / 8.0, 0.0).exp2() * 1e9) as u64
}

/// Latencies of one kind of request since a run began.
pub(crate) struct Latencies {
    /// Start of the run, in nanoseconds since 1970.
    pub(super) since_ns: u64,
    pub(super) count: u64,
    pub(super) sum_s: f64,
    /// Counts up to each of [`BARS_NS`].
    pub(super) within: Vec<u64>,
    /// Number of latencies that count as zero.
    pub(super) zero: u64,
    /// The buckets from the first non-empty one to the last: the index of the first, which ends
    /// with `2^(index / 8)` seconds, and the counts.
    pub(super) first: i32,
    pub(super) buckets: Vec<u64>,
}

impl Latencies {
    /// Combines the histograms `parts`.
    pub(super) fn of<'a>(parts: impl Iterator<Item = &'a Histogram>, since_ns: u64) -> Self {
        let mut all = Histogram::new();
        for part in parts {
            all.merge(part);
        }
        let up_to = all.counts_within(&ENDS_NS);
        let mut buckets: Vec<u64> = up_to.windows(2).map(|pair| pair[1] - pair[0]).collect();
        // The last bucket also counts all latencies beyond its end.
        if let (Some(last), Some(known)) = (buckets.last_mut(), up_to.last()) {
            *last += all.count() - known;
        }
        let empty = buckets.iter().take_while(|count| **count == 0).count();
        let used = buckets.iter().rposition(|count| *count > 0).map_or(empty, |last| last + 1);
        Self {
            since_ns,
            count: all.count(),
            sum_s: all.sum_ns() as f64 / 1e9,
            within: all.counts_within(&BARS_NS),
            zero: up_to.first().copied().unwrap_or(0),
            first: FIRST + i32::try_from(empty).unwrap_or(0),
            buckets: buckets[empty..used].to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use record::Histogram;

    use super::{ENDS_NS, FIRST, LAST, Latencies, ZERO_S};

    fn of(latencies_ns: &[u64]) -> Latencies {
        let mut histogram = Histogram::new();
        for &latency_ns in latencies_ns {
            histogram.record(latency_ns);
        }
        Latencies::of([&histogram].into_iter(), 0)
    }

    #[test]
    fn every_latency_lies_in_the_bucket_of_its_length() {
        for latency_ns in [1_100, 250_000, 5_000_000, 1_000_000_000, 3_599_000_000_000] {
            let told = of(&[latency_ns]);
            assert_eq!((told.count, told.buckets.as_slice()), (1, [1].as_slice()));
            let end = f64::from(told.first) / 8.0;
            let seconds = latency_ns as f64 / 1e9;
            // The record's own buckets have a relative width of one thousandth.
            assert!(seconds * 0.999 <= end.exp2() && seconds * 1.001 > (end - 0.125).exp2());
        }
    }

    #[test]
    fn nothing_is_lost_at_either_end() {
        let told = of(&[100, 900, 4_000_000, 4_000_000, 9_000_000_000_000]);
        // The record does not distinguish latencies below its own minimum.
        assert_eq!((told.zero + told.buckets.iter().sum::<u64>(), told.count), (5, 5));
        assert_eq!(told.first + i32::try_from(told.buckets.len()).unwrap() - 1, LAST);
        assert!(of(&[]).buckets.is_empty());
        assert!((ENDS_NS[0] as f64 / 1e9 - ZERO_S).abs() < 1e-9 && FIRST < -8);
    }
}
