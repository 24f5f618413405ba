//! Latencies as counts per bucket, because averages of averages hide the details that a storage
//! engineer needs, and only counts merge exactly over databases, intervals and machines.

mod buckets;
mod stretch;
mod text;

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use buckets::{Bucket, Buckets, HIGHEST_NS, LOWEST_NS, SIGNIFICANT_DIGITS};

/// Latencies from 1 us to 1 h, with exact count, sum and maximum, and quantiles to 3 digits.
#[derive(Clone, Default, PartialEq)]
pub struct Histogram {
    buckets: Buckets,
    sum_ns: u64,
    maximum_ns: u64,
}

/// Report figures of a histogram; all zero if it is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Number of latencies.
    pub count: u64,
    /// Exact arithmetic mean.
    pub mean_ns: f64,
    /// Median.
    pub p50_ns: u64,
    /// 90th percentile.
    pub p90_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// 99.9th percentile.
    pub p999_ns: u64,
    /// The longest, exact.
    pub maximum_ns: u64,
}

/// Why the text of a histogram could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HistogramError {
    /// The buckets are not base64 text.
    NotBase64(String),
    /// The buckets are not in `HdrHistogram` V2 deflate form.
    NotBuckets(String),
    /// The buckets cover a different range from this program's.
    OtherRange {
        /// Lowest and highest latency in nanoseconds and significant digits, as found.
        found: (u64, u64, u8),
    },
}

impl fmt::Display for HistogramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotBase64(why) => write!(f, "histogram is not base64 text: {why}"),
            Self::NotBuckets(why) => write!(f, "histogram does not decode: {why}"),
            Self::OtherRange { found } => write!(
                f,
                "histogram covers {} to {} ns with {} digits, expected {LOWEST_NS} to \
                 {HIGHEST_NS} ns with {SIGNIFICANT_DIGITS}",
                found.0, found.1, found.2
            ),
        }
    }
}

impl std::error::Error for HistogramError {}

impl Histogram {
    /// No latencies yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes one latency.
    pub fn record(&mut self, latency_ns: u64) {
        self.buckets.record(latency_ns);
        self.sum_ns = self.sum_ns.saturating_add(latency_ns);
        self.maximum_ns = self.maximum_ns.max(latency_ns);
    }

    /// Adds all latencies of `other` without loss or rounding.
    pub fn merge(&mut self, other: &Self) {
        self.buckets.merge(&other.buckets);
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.maximum_ns = self.maximum_ns.max(other.maximum_ns);
    }

    /// Returns the recorded latencies and resets the histogram.
    #[must_use]
    #[cfg(test)]
    pub(crate) fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    /// Number of latencies.
    pub fn count(&self) -> u64 {
        self.buckets.total()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// The sum of all latencies in nanoseconds, exact.
    pub const fn sum_ns(&self) -> u64 {
        self.sum_ns
    }

    /// The longest latency in nanoseconds, exact; 0 if there is none.
    pub const fn maximum_ns(&self) -> u64 {
        self.maximum_ns
    }

    /// The arithmetic mean in nanoseconds, exact; 0 if there is none.
    pub fn mean_ns(&self) -> f64 {
        if self.is_empty() {
            return 0.0;
        }
        self.sum_ns as f64 / self.count() as f64
    }

    /// The number of latencies not longer than `longest_ns`, and their mean in nanoseconds,
    /// accurate to one part in a thousand; 0 if there are none.
    pub fn within_ns(&self, longest_ns: u64) -> (u64, f64) {
        let (mut count, mut sum) = (0, 0.0);
        for bucket in self.buckets.iter().take_while(|bucket| bucket.lowest_ns <= longest_ns) {
            let middle_ns = u64::midpoint(bucket.lowest_ns, bucket.highest_ns.min(self.maximum_ns));
            count += bucket.count;
            sum += bucket.count as f64 * middle_ns as f64;
        }
        (count, sum / count.max(1) as f64)
    }

    /// Quantiles in nanoseconds: for each of `quantiles` (ascending, 0 to 1), the latency that this
    /// share of all does not exceed.
    ///
    /// One walk over the buckets serves all quantiles.
    pub(crate) fn quantiles<const N: usize>(&self, quantiles: [f64; N]) -> [u64; N] {
        let mut found = [self.maximum_ns; N];
        let wanted = quantiles.map(|quantile| fewest(quantile, self.count() as f64));
        let (mut at, mut passed) = (0, 0_u64);
        for filled in self.buckets.filled() {
            passed = passed.saturating_add(filled.count);
            while at < N && passed as f64 >= wanted[at] {
                found[at] = Bucket::of(filled).highest_ns.min(self.maximum_ns);
                at += 1;
            }
            if at == N {
                break;
            }
        }
        found
    }

    /// The latency in nanoseconds at `quantile` (0 to 1).
    pub fn quantile(&self, quantile: f64) -> u64 {
        self.quantiles([quantile])[0]
    }

    /// The number of latencies within each of `bounds_ns` (ascending), for charts and metrics with
    /// different buckets. A latency in the same internal bucket as a bound (a thousandth wide) may
    /// be counted on either side of it.
    pub fn counts_within(&self, bounds_ns: &[u64]) -> Vec<u64> {
        let mut counts = vec![0; bounds_ns.len()];
        let mut first = 0;
        for bucket in self.buckets.iter() {
            let longest_ns = bucket.highest_ns.min(self.maximum_ns);
            let shorter = bounds_ns[first..].iter().take_while(|&&bound_ns| bound_ns < longest_ns);
            first += shorter.count();
            if let Some(count) = counts.get_mut(first) {
                *count += bucket.count;
            }
        }
        let mut before = 0;
        for count in &mut counts {
            before += *count;
            *count = before;
        }
        counts
    }

    /// The figures for reports.
    pub fn summary(&self) -> Summary {
        let [p50_ns, p90_ns, p99_ns, p999_ns] = self.quantiles([0.5, 0.9, 0.99, 0.999]);
        Summary {
            count: self.count(),
            mean_ns: self.mean_ns(),
            p50_ns,
            p90_ns,
            p99_ns,
            p999_ns,
            maximum_ns: self.maximum_ns,
        }
    }
}

/// Smallest number of latencies that makes up a share of at least `quantile` of `count`.
fn fewest(quantile: f64, count: f64) -> f64 {
    // Rounding puts the product off by at most one.
    let near = (quantile * count).floor();
    let candidates = [near - 1.0, near];
    candidates.into_iter().find(|some| some / count >= quantile).unwrap_or(near + 1.0)
}

impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.summary().fmt(f)
    }
}

/// A histogram in a journal; `count` is for readers that do not decode buckets.
#[derive(Serialize, Deserialize, JsonSchema)]
struct HistogramText<'a> {
    #[serde(default)]
    count: u64,
    sum_ns: u64,
    maximum_ns: u64,
    #[serde(borrow)]
    buckets: Cow<'a, str>,
}

impl JsonSchema for Histogram {
    fn schema_name() -> Cow<'static, str> {
        "Histogram".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        HistogramText::json_schema(generator)
    }
}

impl Serialize for Histogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = HistogramText {
            count: self.count(),
            sum_ns: self.sum_ns,
            maximum_ns: self.maximum_ns,
            buckets: text::encode(&self.buckets).into(),
        };
        text.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = HistogramText::deserialize(deserializer)?;
        Ok(Self {
            buckets: text::decode(&text.buckets).map_err(de::Error::custom)?,
            sum_ns: text.sum_ns,
            maximum_ns: text.maximum_ns,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Histogram;

    fn of(latencies: &[u64]) -> Histogram {
        let mut histogram = Histogram::new();
        for &latency in latencies {
            histogram.record(latency);
        }
        histogram
    }

    /// The latency at `quantile` of `latencies`, by sorting.
    fn by_sorting(latencies: &[u64], quantile: f64) -> u64 {
        let mut sorted = latencies.to_vec();
        sorted.sort_unstable();
        let within = |&index: &usize| (index + 1) as f64 / sorted.len() as f64 >= quantile;
        sorted[(0..sorted.len()).find(within).unwrap()]
    }

    proptest! {
        #[test]
        fn merging_equals_recording_everything_in_one(
            left in prop::collection::vec(0_u64..8_000_000_000_000, 0..40),
            right in prop::collection::vec(0_u64..8_000_000_000_000, 0..40),
        ) {
            let mut merged = of(&left);
            merged.merge(&of(&right));
            prop_assert_eq!(merged, of(&[left, right].concat()));
        }

        #[test]
        fn quantiles_are_within_a_thousandth_of_sorting(
            latencies in prop::collection::vec(1_000_000_u64..3_600_000_000_000, 1..200),
        ) {
            let histogram = of(&latencies);
            for quantile in [0.5, 0.9, 0.99, 0.999, 1.0] {
                let exact = by_sorting(&latencies, quantile) as f64;
                let found = histogram.quantile(quantile) as f64;
                prop_assert!((found - exact).abs() <= exact / 1_000.0, "{found} {exact}");
            }
        }

        #[test]
        fn text_gives_the_same_histogram_back(
            latencies in prop::collection::vec(0_u64..8_000_000_000_000, 0..40),
        ) {
            let histogram = of(&latencies);
            let text = serde_json::to_string(&histogram).unwrap();
            prop_assert_eq!(serde_json::from_str::<Histogram>(&text).unwrap(), histogram);
        }
    }

    #[test]
    fn mean_and_maximum_are_exact_even_beyond_the_range() {
        let histogram = of(&[1, 2, 6, 7_200_000_000_000]);
        assert_eq!(histogram.maximum_ns(), 7_200_000_000_000);
        assert_eq!(histogram.sum_ns(), 7_200_000_000_009);
        assert_eq!(histogram.count(), 4);
    }

    #[test]
    fn what_is_longer_is_left_out_of_count_and_mean() {
        let mut latencies = vec![1_000_000; 98];
        latencies.extend([3_000_000, 900_000_000]);
        for (longest_ms, count, mean_ms) in
            [(2, 98, 1.0), (20, 99, 101.0 / 99.0), (900, 100, 10.01)]
        {
            let (within, mean) = of(&latencies).within_ns(longest_ms * 1_000_000);
            assert_eq!(within, count);
            assert!((mean / 1e6 / mean_ms - 1.0).abs() < 0.001, "{mean}");
        }
        assert_eq!(Histogram::new().within_ns(5), (0, 0.0));
    }

    #[test]
    fn latencies_are_counted_within_bounds_of_others() {
        let histogram = of(&[500, 1_000_000, 1_000_001, 29_000_000, 7_200_000_000_000]);
        let bounds = [1_000, 2_000_000, 30_000_000, 60_000_000, 7_200_000_000_000];
        assert_eq!(histogram.counts_within(&bounds), [1, 3, 4, 4, 5]);
        assert_eq!(Histogram::new().counts_within(&bounds), [0; 5]);
    }

    #[test]
    fn an_empty_histogram_is_all_zero() {
        assert_eq!(Histogram::new().summary(), super::Summary::default());
    }

    #[test]
    fn taking_leaves_an_empty_histogram() {
        let mut histogram = of(&[5_000_000]);
        assert_eq!(histogram.take(), of(&[5_000_000]));
        assert_eq!(histogram, Histogram::new());
    }

    #[test]
    fn buckets_of_another_range_are_refused() {
        use hdrhistogram::serialization::Serializer as _;
        let other = hdrhistogram::Histogram::<u64>::new_with_bounds(1, 1_000, 2).unwrap();
        let mut bytes = Vec::new();
        let mut serializer = hdrhistogram::serialization::V2DeflateSerializer::new();
        serializer.serialize(&other, &mut bytes).unwrap();
        let buckets = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, bytes);
        let error = super::text::decode(&buckets).unwrap_err();
        assert!(error.to_string().contains("covers 1 to 1000 ns"), "{error}");
    }
}
