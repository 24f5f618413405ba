//! Statistics of a series of samples: the uncertainty of its mean, and its drift. A steady state is
//! tested, not assumed.

mod confidence;
mod spread;

pub(crate) use confidence::Confidence;
pub use spread::SampledMean;

/// Samples are averaged into at most this many windows, so that similar neighbours do not count
/// twice.
const MOST_WINDOWS: usize = 20;

/// Minimum number of windows for detecting a drift.
const FEWEST_WINDOWS: usize = 6;

/// Student's t for a two-sided 99 percent interval, by degrees of freedom from 1.
const STUDENT_99: [f64; 19] = [
    63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169, 3.106, 3.055, 3.012,
    2.977, 2.947, 2.921, 2.898, 2.878, 2.861,
];

/// A mean with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Half of the interval's width; `None` if there are too few samples.
    pub half_width: Option<f64>,
}

/// The mean of `samples` and its uncertainty, by batch means.
pub(crate) fn estimate(samples: &[f64]) -> Estimate {
    let half_width = SampledMean::of(samples).map(|sampled| sampled.margin());
    Estimate { mean: mean(samples), half_width }
}

/// The mean of independent values, such as those of runs with different seeds, with its margin.
pub fn estimate_of_runs(values: &[f64]) -> Estimate {
    let half_width = SampledMean::of_independent(values).map(|sampled| sampled.margin());
    Estimate { mean: mean(values), half_width }
}

/// Trend of samples over time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Trend {
    /// No change is certain, or it is too small to matter.
    Steady,
    /// They changed by this share of their mean; negative if they fell.
    Drifting(f64),
}

impl Trend {
    /// The change of the samples as a share of their mean; 0 if they were steady.
    pub const fn share(self) -> f64 {
        match self {
            Self::Steady => 0.0,
            Self::Drifting(share) => share,
        }
    }
}

/// Trend of `samples`, by a slope test at 99 %; a change below `worth_telling`, a share of the
/// mean, is ignored. `None` if there are too few samples.
pub(crate) fn trend(samples: &[f64], worth_telling: f64) -> Option<Trend> {
    let windows = windows(samples);
    if windows.len() < FEWEST_WINDOWS {
        return None;
    }
    let count = windows.len() as f64;
    let (middle, mean) = ((count - 1.0) / 2.0, mean(&windows));
    let places: Vec<f64> = (0..windows.len()).map(|at| at as f64 - middle).collect();
    let pairs = places.iter().zip(&windows);
    let spread: f64 = places.iter().map(|place| place * place).sum();
    let slope = pairs.clone().map(|(place, value)| place * value).sum::<f64>() / spread;
    let squares: f64 = pairs.map(|(place, value)| (value - mean - slope * place).powi(2)).sum();
    let error = (squares / (count - 2.0) / spread).sqrt();
    let student = student(&STUDENT_99, windows.len() - 2)?;
    let share = slope * (count - 1.0) / mean;
    let is_drift = mean != 0.0 && slope.abs() > student * error && share.abs() > worth_telling;
    Some(if is_drift { Trend::Drifting(share) } else { Trend::Steady })
}

fn student(table: &[f64; 19], freedom: usize) -> Option<f64> {
    table.get(freedom.checked_sub(1)?).copied()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Means of equal numbers of neighbours; the first samples are dropped if the number does not
/// divide evenly.
fn windows(samples: &[f64]) -> Vec<f64> {
    let each = samples.len().div_ceil(MOST_WINDOWS).max(1);
    samples[samples.len() % each..].chunks(each).map(mean).collect()
}

#[cfg(test)]
mod tests;
