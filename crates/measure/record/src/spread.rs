//! Latency distribution of one interval, coarse enough to keep for every interval of a day: the
//! data of a heat map.

use serde::{Deserialize, Serialize};

use crate::Histogram;

/// Bounds that divide a power of ten into five equal factors, starting at ten microseconds.
const STEPS_NS: [u64; 5] = [10_000, 15_849, 25_119, 39_811, 63_096];

/// Counts of latencies up to each of [`LatencySpread::ENDS_NS`], and of those beyond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencySpread([u32; LatencySpread::ENDS_NS.len() + 1]);

impl LatencySpread {
    /// Upper bounds of the counts in nanoseconds: five per power of ten, from 10 us to 10 s.
    pub const ENDS_NS: [u64; 31] = {
        let mut ends = [0; 31];
        let (mut end, mut power) = (0, 1);
        while end < ends.len() {
            ends[end] = STEPS_NS[end % 5] * power;
            end += 1;
            if end.is_multiple_of(5) {
                power *= 10;
            }
        }
        ends
    };

    /// Counts all latencies of `histogram`.
    pub(crate) fn of(histogram: &Histogram) -> Self {
        let up_to = histogram.counts_within(&Self::ENDS_NS);
        let mut spread = Self::default();
        let mut before = 0;
        for (count, end) in spread.0.iter_mut().zip(up_to.into_iter().chain([histogram.count()])) {
            *count = u32::try_from(end - before).unwrap_or(u32::MAX);
            before = end;
        }
        spread
    }

    /// The counts, the shortest latencies first.
    pub fn counts(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.iter().map(|&count| count.into())
    }
}

#[cfg(test)]
mod tests {
    use super::LatencySpread;
    use crate::Histogram;

    #[test]
    fn every_latency_is_counted_once_where_it_belongs() {
        let mut histogram = Histogram::new();
        for latency_ns in [900, 12_000, 12_000, 5_000_000, 20_000_000_000] {
            histogram.record(latency_ns);
        }
        let counts: Vec<u64> = LatencySpread::of(&histogram).counts().collect();
        assert_eq!((counts[0], counts[1], counts[31]), (1, 2, 1));
        let at = LatencySpread::ENDS_NS.partition_point(|&end_ns| end_ns < 5_000_000);
        assert_eq!((counts[at], counts.iter().sum::<u64>()), (1, 5));
        assert_eq!(LatencySpread::ENDS_NS[30], 10_000_000_000);
    }
}
