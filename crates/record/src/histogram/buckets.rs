//! Counts per bucket of latency, of which only the stretch that holds any is kept: a journal of
//! 200 MB has half a million histograms, each with some hundred buckets out of 24,576.

use std::ops::Range;

/// Shorter latencies share the first bucket.
pub(super) const LOWEST_NS: u64 = 1_000;
/// Latencies beyond the last bucket count as this one (1 hour).
pub(super) const HIGHEST_NS: u64 = 3_600_000_000_000;
/// Quantiles are right to one part in a thousand.
pub(super) const SIGNIFICANT_DIGITS: u8 = 3;

/// Nanoseconds of the finest buckets, as a power of two: the greatest below the lowest latency.
const UNIT: u32 = LOWEST_NS.ilog2();
/// Buckets of one width, as a power of two: enough for three digits in the upper half of each
/// doubling.
const HALF: u32 = 10;
/// The finest buckets come twice as many as those of every later width.
const FINEST: u64 = 2 << HALF;
/// All buckets: as many doublings as the highest latency needs.
const LENGTH: usize = 24 << HALF;
/// Buckets are made room for in blocks of this many.
const BLOCK: usize = 4 * WORD;

/// Buckets whose being filled one word tells. Most are empty and never looked at: there are some
/// thousand between the first and the last that is filled.
const WORD: usize = u64::BITS as usize;

/// Counts of latencies by bucket, laid out as `HdrHistogram` does.
#[derive(Clone, Debug, Default)]
pub(super) struct Buckets {
    /// The bucket of the first of `counts`.
    first: usize,
    counts: Vec<u64>,
    /// A bit for each of `counts`, set where it is not zero.
    filled: Vec<u64>,
    total: u64,
}

/// A bucket that holds anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bucket {
    /// The shortest latency that falls into it, in nanoseconds.
    pub lowest_ns: u64,
    /// The longest.
    pub highest_ns: u64,
    /// How many latencies it holds.
    pub count: u64,
}

impl Buckets {
    /// How many latencies.
    pub(super) const fn total(&self) -> u64 {
        self.total
    }

    /// Notes one latency.
    pub(super) fn record(&mut self, latency_ns: u64) {
        let index = index_of(latency_ns).unwrap_or_else(|| {
            index_of(HIGHEST_NS).expect("invariant: the highest latency has a bucket")
        });
        self.add(index, 1);
    }

    /// Adds `count` latencies to the bucket at `index`; false where there is no such bucket.
    pub(super) fn add_at(&mut self, index: usize, count: u64) -> bool {
        if index < LENGTH && count > 0 {
            self.add(index, count);
        }
        index < LENGTH
    }

    fn add(&mut self, index: usize, count: u64) {
        if !(self.first..self.first + self.counts.len()).contains(&index) {
            self.make_room(index..index + 1);
        }
        let place = index - self.first;
        self.counts[place] = self.counts[place].saturating_add(count);
        self.filled[place / WORD] |= 1 << (place % WORD);
        self.total = self.total.saturating_add(count);
    }

    /// Adds all latencies of `other`.
    pub(super) fn merge(&mut self, other: &Self) {
        if other.counts.is_empty() {
            return;
        }
        self.make_room(other.first..other.first + other.counts.len());
        let before = other.first - self.first;
        for place in other.places() {
            let mine = &mut self.counts[before + place];
            *mine = mine.saturating_add(other.counts[place]);
        }
        for (mine, theirs) in self.filled[before / WORD..].iter_mut().zip(&other.filled) {
            *mine |= theirs;
        }
        self.total = self.total.saturating_add(other.total);
    }

    /// The buckets that hold anything, shortest latencies first.
    pub(super) fn iter(&self) -> impl Iterator<Item = Bucket> {
        self.places().map(|place| bucket(self.first + place, self.counts[place]))
    }

    /// Where in `counts` there is anything, ascending.
    fn places(&self) -> impl Iterator<Item = usize> {
        let words = self.filled.iter().zip((0..).step_by(WORD));
        words.flat_map(|(&word, first)| {
            let rests = std::iter::successors(Some(word), |rest| Some(rest & (rest - 1)));
            let rests = rests.take(word.count_ones() as usize);
            rests.map(move |rest| first + rest.trailing_zeros() as usize)
        })
    }

    fn make_room(&mut self, wanted: Range<usize>) {
        let end = self.first + self.counts.len();
        let wanted = wanted.start / BLOCK * BLOCK..wanted.end.next_multiple_of(BLOCK);
        if self.counts.is_empty() {
            self.first = wanted.start;
        } else if wanted.start < self.first {
            let before = self.first - wanted.start;
            self.counts.splice(..0, std::iter::repeat_n(0, before));
            self.filled.splice(..0, std::iter::repeat_n(0, before / WORD));
            self.first = wanted.start;
        }
        if wanted.end > end || self.counts.is_empty() {
            self.counts.resize(wanted.end - self.first, 0);
            self.filled.resize((wanted.end - self.first) / WORD, 0);
        }
    }
}

impl PartialEq for Buckets {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

/// The bucket of a latency; none beyond the last.
fn index_of(latency_ns: u64) -> Option<usize> {
    let units = latency_ns >> UNIT;
    let doubling = units.max(FINEST - 1).ilog2() - HALF;
    let index = (u64::from(doubling) << HALF) + (units >> doubling);
    usize::try_from(index).ok().filter(|index| *index < LENGTH)
}

fn bucket(index: usize, count: u64) -> Bucket {
    let index = index as u64;
    let doubling = (index >> HALF).saturating_sub(1);
    let lowest_ns = (index - (doubling << HALF)) << (doubling + u64::from(UNIT));
    Bucket { lowest_ns, highest_ns: lowest_ns + (1 << (doubling + u64::from(UNIT))) - 1, count }
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

    #[test]
    fn there_are_as_many_as_in_the_library() {
        assert_eq!(theirs(&[]).0.distinct_values(), LENGTH);
    }
}
