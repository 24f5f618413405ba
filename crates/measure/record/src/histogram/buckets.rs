//! Counts per bucket of latency. A journal of 200 MB has half a million histograms, each with some
//! hundred buckets out of 24,576: those read from a journal are kept as a list, and only recorded
//! or summed ones have a place for every bucket.

use super::stretch::{Filled, Stretch};

/// Shorter latencies share the first bucket.
pub(super) const LOWEST_NS: u64 = 1_000;
/// Latencies beyond the last bucket count as this one (1 hour).
pub(super) const HIGHEST_NS: u64 = 3_600_000_000_000;
/// Quantiles are accurate to one part in a thousand.
pub(super) const SIGNIFICANT_DIGITS: u8 = 3;

/// Width of the finest buckets in nanoseconds, as a power of two: the greatest below the lowest
/// latency.
const UNIT: u32 = LOWEST_NS.ilog2();
/// Buckets of one width, as a power of two: enough for three digits in the upper half of each
/// doubling.
const HALF: u32 = 10;
/// Buckets of the finest width: twice as many as of each later width.
const FINEST: u64 = 2 << HALF;
/// All buckets: as many doublings as the highest latency needs.
const LENGTH: usize = 24 << HALF;
/// Beyond this length, adding to the list costs more than allocating every bucket.
const LONGEST_LIST: usize = 4_096;

/// Counts of latencies by bucket, in the layout of `HdrHistogram`.
#[derive(Clone, Debug, Default)]
pub(super) struct Buckets {
    /// Non-empty buckets, ascending; empty if `stretch` holds them.
    list: Vec<Filled>,
    stretch: Stretch,
    total: u64,
}

/// A non-empty bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bucket {
    /// The shortest latency that falls into it, in nanoseconds.
    pub lowest_ns: u64,
    /// The longest.
    pub highest_ns: u64,
    /// Number of latencies in it.
    pub count: u64,
}

impl Buckets {
    /// Number of latencies.
    pub(super) const fn total(&self) -> u64 {
        self.total
    }

    /// Notes one latency.
    pub(super) fn record(&mut self, latency_ns: u64) {
        let index = index_of(latency_ns).unwrap_or_else(|| {
            index_of(HIGHEST_NS).expect("invariant: the highest latency has a bucket")
        });
        self.spread_out();
        self.stretch.add(Filled { index, count: 1 });
        self.total = self.total.saturating_add(1);
    }

    /// Adds `count` latencies in the bucket at `index`, which must follow all non-empty ones; false
    /// if there is no such bucket.
    pub(super) fn push(&mut self, index: usize, count: u64) -> bool {
        if index < LENGTH && count > 0 {
            self.list.push(Filled { index, count });
            self.total = self.total.saturating_add(count);
        }
        index < LENGTH
    }

    /// Adds all latencies of `other`.
    pub(super) fn merge(&mut self, other: &Self) {
        if self.total == 0 {
            self.clone_from(other);
            return;
        }
        let is_short = self.list.len() + other.list.len() <= LONGEST_LIST;
        if is_short && !self.list.is_empty() && !other.list.is_empty() {
            self.list = joined(&self.list, &other.list);
        } else {
            self.spread_out();
            self.stretch.add_all(&other.list);
            self.stretch.merge(&other.stretch);
        }
        self.total = self.total.saturating_add(other.total);
    }

    /// The non-empty buckets, shortest latencies first.
    pub(super) fn iter(&self) -> impl Iterator<Item = Bucket> {
        self.filled().map(Bucket::of)
    }

    /// The same, as bucket numbers and counts.
    pub(super) fn filled(&self) -> impl Iterator<Item = Filled> {
        self.list.iter().copied().chain(self.stretch.iter())
    }

    /// Switches from the list to one slot for every bucket.
    fn spread_out(&mut self) {
        self.stretch.add_all(&self.list);
        self.list.clear();
    }
}

impl Bucket {
    pub(super) const fn of(Filled { index, count }: Filled) -> Self {
        let index = index as u64;
        let doubling = (index >> HALF).saturating_sub(1);
        let width = doubling + UNIT as u64;
        let lowest_ns = (index - (doubling << HALF)) << width;
        Self { lowest_ns, highest_ns: lowest_ns + (1 << width) - 1, count }
    }
}

impl PartialEq for Buckets {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

/// Merges two ascending lists.
fn joined(one: &[Filled], other: &[Filled]) -> Vec<Filled> {
    let mut all = Vec::with_capacity(one.len() + other.len());
    let mut others = other.iter().copied().peekable();
    for &filled in one {
        while let Some(before) = others.next_if(|other| other.index < filled.index) {
            all.push(before);
        }
        let same = others.next_if(|other| other.index == filled.index);
        let count = filled.count.saturating_add(same.map_or(0, |same| same.count));
        all.push(Filled { count, ..filled });
    }
    all.extend(others);
    all
}

/// The bucket of a latency; `None` beyond the last.
fn index_of(latency_ns: u64) -> Option<usize> {
    let units = latency_ns >> UNIT;
    let doubling = units.max(FINEST - 1).ilog2() - HALF;
    let index = (u64::from(doubling) << HALF) + (units >> doubling);
    usize::try_from(index).ok().filter(|index| *index < LENGTH)
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;
    use proptest::prelude::*;

    use super::{Bucket, Buckets, HIGHEST_NS, LENGTH, LOWEST_NS, SIGNIFICANT_DIGITS};

    fn theirs(latencies: &[u64]) -> (Histogram<u64>, Vec<Bucket>) {
        let mut histogram =
            Histogram::new_with_bounds(LOWEST_NS, HIGHEST_NS, SIGNIFICANT_DIGITS).unwrap();
        for &latency in latencies {
            histogram.saturating_record(latency);
        }
        let bucket = |step: hdrhistogram::iterators::IterationValue<u64>| Bucket {
            lowest_ns: histogram.lowest_equivalent(step.value_iterated_to()),
            highest_ns: step.value_iterated_to(),
            count: step.count_at_value(),
        };
        let buckets = histogram.iter_recorded().map(bucket).collect();
        (histogram, buckets)
    }

    proptest! {
        #[test]
        fn buckets_are_those_of_the_library(
            latencies in prop::collection::vec(0_u32..48, 0..40),
            noise in prop::collection::vec(any::<u64>(), 40),
        ) {
            let mixed = latencies.iter().zip(&noise);
            let latencies: Vec<u64> = mixed.map(|(bits, noise)| noise >> (63 - bits)).collect();
            let mut ours = Buckets::default();
            for &latency in &latencies {
                ours.record(latency);
            }
            let (histogram, buckets) = theirs(&latencies);
            prop_assert_eq!(ours.iter().collect::<Vec<_>>(), buckets);
            prop_assert_eq!(ours.total(), histogram.len());
        }
    }

    /// The buckets of `latencies` as they are read from a journal.
    fn listed(latencies: &[u64]) -> Buckets {
        let mut recorded = Buckets::default();
        for &latency in latencies {
            recorded.record(latency);
        }
        let mut listed = Buckets::default();
        for filled in recorded.stretch.iter() {
            assert!(listed.push(filled.index, filled.count));
        }
        listed
    }

    proptest! {
        #[test]
        fn sums_are_the_same_in_whatever_form_their_parts_are(
            parts in prop::collection::vec(
                (any::<bool>(), prop::collection::vec(500_u64..1 << 42, 0..400)), 1..8,
            ),
            later in 500_u64..1 << 42,
        ) {
            let (mut sum, mut all) = (Buckets::default(), Vec::new());
            for (is_listed, latencies) in &parts {
                let mut part = listed(latencies);
                if !is_listed {
                    part.spread_out();
                }
                sum.merge(&part);
                all.extend_from_slice(latencies);
                prop_assert_eq!(sum.iter().collect::<Vec<_>>(), theirs(&all).1);
                prop_assert_eq!(sum.total(), all.len() as u64);
            }
            sum.record(later);
            all.push(later);
            prop_assert_eq!(sum.iter().collect::<Vec<_>>(), theirs(&all).1);
        }
    }

    #[test]
    fn there_are_as_many_as_in_the_library() {
        assert_eq!(theirs(&[]).0.distinct_values(), LENGTH);
    }
}
