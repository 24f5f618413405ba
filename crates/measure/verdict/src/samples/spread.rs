//! How far the mean of a series of intervals can be trusted.

use super::confidence::Confidence;
use super::{mean, windows};

/// Fewer batches than this give no meaningful spread.
const FEWEST_BATCHES: usize = 5;

/// The mean of a series of values, and its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampledMean {
    /// The mean.
    pub(crate) mean: f64,
    /// Variance of the mean.
    variance: f64,
    /// Degrees of freedom behind the variance.
    degrees: f64,
}

impl SampledMean {
    /// Mean, variance of the mean and degrees of freedom, for an index that keeps no samples.
    pub const fn numbers(&self) -> [f64; 3] {
        [self.mean, self.variance, self.degrees]
    }

    /// Restores a mean from its [`Self::numbers`].
    pub const fn of_numbers([mean, variance, degrees]: [f64; 3]) -> Self {
        Self { mean, variance, degrees }
    }

    /// The mean of a series of values, in order; `None` if there are too few.
    ///
    /// Method of batch means (A. M. Law, Simulation Modeling and Analysis): neighbours resemble one
    /// another, so means of batches serve as the samples. The remaining correlation between batches
    /// lowers their effective number, by their first autocorrelation.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        let batches = windows(values);
        if batches.len() < FEWEST_BATCHES {
            return None;
        }
        let centre = mean(&batches);
        let from_centre: Vec<f64> = batches.iter().map(|batch| batch - centre).collect();
        let squares: f64 = from_centre.iter().map(|off| off * off).sum();
        let products: f64 = from_centre.windows(2).map(|pair| pair[0] * pair[1]).sum();
        let alike = if squares > 0.0 { (products / squares).clamp(0.0, 0.9) } else { 0.0 };
        let count = batches.len() as f64;
        let independent = count * (1.0 - alike) / (1.0 + alike);
        Some(Self {
            mean: mean(values),
            variance: squares / (count - 1.0) / independent,
            degrees: (independent - 1.0).max(1.0),
        })
    }

    /// The mean of independent values; `None` if there is only one.
    pub(crate) fn of_independent(values: &[f64]) -> Option<Self> {
        if values.len() < 2 {
            return None;
        }
        let (mean, count) = (mean(values), values.len() as f64);
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Self { mean, variance: squares / (count - 1.0) / count, degrees: count - 1.0 })
    }

    /// The true mean lies within this distance of the mean, 19 times in 20.
    pub(crate) fn margin(&self) -> f64 {
        Confidence::of_each(1).student(self.degrees) * self.variance.sqrt()
    }

    /// Half-width of the confidence interval for the difference of the two means (Welch, 1947).
    pub(crate) fn margin_of_difference(&self, other: &Self, confidence: Confidence) -> f64 {
        let variance = self.variance + other.variance;
        if variance <= 0.0 {
            return 0.0;
        }
        let degrees = variance * variance / (self.share() + other.share());
        confidence.student(degrees) * variance.sqrt()
    }

    /// Its contribution to the denominator of the degrees of freedom (Welch, 1947).
    fn share(&self) -> f64 {
        self.variance * self.variance / self.degrees
    }
}

#[cfg(test)]
mod tests {
    use units::{Prng, Seed};

    use super::{Confidence, SampledMean};

    /// Noise around 100; each value inherits a share of `inherited` of its predecessor's deviation.
    fn noise(prng: &mut Prng, inherited: f64) -> Vec<f64> {
        let mut off = 0.0;
        let mut next = || {
            let uniform: f64 = (0..12).map(|_| prng.below(1_000_000) as f64 / 1e6).sum();
            off = inherited * off + (uniform - 6.0) * (1.0 - inherited * inherited).sqrt();
            100.0 + off
        };
        (0..240).map(|_| next()).collect()
    }

    /// Out of a thousand trials, how often the margin contains the true value.
    fn held(inherited: f64) -> usize {
        let mut prng = Prng::new(Seed(11));
        let holds = |_: &u32| {
            let mean = SampledMean::of(&noise(&mut prng, inherited)).unwrap();
            (mean.mean - 100.0).abs() <= mean.margin()
        };
        (0..1_000_u32).filter(holds).count()
    }

    #[test]
    fn margins_hold_the_truth_19_times_in_20_even_where_neighbours_are_alike() {
        for inherited in [0.0, 0.5, 0.8] {
            let held = held(inherited);
            assert!((915..=995).contains(&held), "{inherited}: {held}");
        }
    }

    #[test]
    fn margins_of_few_independent_values_hold_the_truth_19_times_in_20() {
        for count in [2, 3, 5] {
            let mut prng = Prng::new(Seed(13));
            let holds = |_: &u32| {
                let values: Vec<f64> = noise(&mut prng, 0.0).into_iter().take(count).collect();
                let sampled = SampledMean::of_independent(&values).unwrap();
                (sampled.mean - 100.0).abs() <= sampled.margin()
            };
            let held = (0..1_000_u32).filter(holds).count();
            assert!((930..=970).contains(&held), "{count}: {held}");
        }
        assert_eq!(SampledMean::of_independent(&[7.0]), None);
    }

    #[test]
    fn two_means_of_the_same_differ_within_their_margin_19_times_in_20() {
        let mut prng = Prng::new(Seed(12));
        let holds = |_: &u32| {
            let [one, other] = [0, 1].map(|_| SampledMean::of(&noise(&mut prng, 0.3)).unwrap());
            let margin = one.margin_of_difference(&other, Confidence::of_each(1));
            (one.mean - other.mean).abs() <= margin
        };
        let held = (0..1_000_u32).filter(holds).count();
        assert!((915..=990).contains(&held), "{held}");
    }

    #[test]
    fn all_of_four_means_of_the_same_differ_from_a_first_within_their_margins_19_times_in_20() {
        let mut prng = Prng::new(Seed(14));
        let confidence = Confidence::of_each(4);
        let holds = |_: &u32| {
            let [first, others @ ..] =
                [0; 5].map(|_| SampledMean::of(&noise(&mut prng, 0.3)).unwrap());
            others.iter().all(|other| {
                (first.mean - other.mean).abs() <= first.margin_of_difference(other, confidence)
            })
        };
        let held = (0..1_000_u32).filter(holds).count();
        assert!((930..=995).contains(&held), "{held}");
    }

    #[test]
    fn few_values_say_nothing_and_equal_ones_say_all() {
        assert_eq!(SampledMean::of(&[1.0; 4]), None);
        let steady = SampledMean::of(&[3.0; 30]).unwrap();
        assert!((steady.mean - 3.0).abs() < 1e-12 && steady.margin() < 1e-12);
    }
}
