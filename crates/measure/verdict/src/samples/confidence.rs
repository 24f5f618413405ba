//! How many standard errors wide an interval must be to contain the true value 19 times in 20.

use std::f64::consts::PI;

/// Confidence level for intervals that must all hold together: each is widened so that it has only
/// its share of the error probability (Bonferroni).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Confidence {
    /// Probability that the true value is beyond one end of an interval.
    tail: f64,
    /// The normal quantile of the same probability, in standard deviations.
    normal: f64,
}

impl Confidence {
    /// For each of `count` intervals, at least one.
    pub(crate) fn of_each(count: usize) -> Self {
        let tail = 0.025 / count.max(1) as f64;
        Self { tail, normal: normal(tail) }
    }

    /// Width of a normal distribution's interval relative to that of a single one.
    pub(crate) fn widening(self) -> f64 {
        self.normal / normal(0.025)
    }

    /// Student's quantile with `degrees` degrees of freedom.
    ///
    /// From three degrees on, the expansion of Abramowitz and Stegun, 26.7.5: within 1 % for a
    /// single interval, 5 % for one of nine. Below that, exact values with linear interpolation.
    pub(crate) fn student(self, degrees: f64) -> f64 {
        let (one, tail) = (1.0 / (PI * self.tail).tan(), self.tail);
        let two = (1.0 - 2.0 * tail) / (2.0 * tail * (1.0 - tail)).sqrt();
        if degrees < 2.0 {
            return one + (two - one) * (degrees - 1.0).max(0.0);
        }
        if degrees < 3.0 {
            return two + (self.expansion(3.0) - two) * (degrees - 2.0);
        }
        self.expansion(degrees)
    }

    fn expansion(self, degrees: f64) -> f64 {
        let [z, z3, z5, z7] = [1, 3, 5, 7].map(|power| self.normal.powi(power));
        let terms = [
            (z3 + z) / 4.0,
            (5.0 * z5 + 16.0 * z3 + 3.0 * z) / 96.0,
            (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / 384.0,
        ];
        let powers = [degrees, degrees.powi(2), degrees.powi(3)];
        z + terms.iter().zip(powers).map(|(term, power)| term / power).sum::<f64>()
    }
}

/// The normal quantile for this tail probability, to 0.0005 (Abramowitz and Stegun, 26.2.23).
fn normal(tail: f64) -> f64 {
    let t = (-2.0 * tail.ln()).sqrt();
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let below = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    t - above / below
}

#[cfg(test)]
mod tests {
    use super::Confidence;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        // Degrees of freedom, then the 97.5 % and 99.375 % quantiles.
        let tables = [
            (1.0, 12.706, 50.923),
            (2.0, 4.303, 8.860),
            (3.0, 3.182, 5.392),
            (4.0, 2.776, 4.315),
            (5.0, 2.571, 3.810),
            (8.0, 2.306, 3.206),
            (15.0, 2.131, 2.837),
            (1e9, 1.960, 2.498),
        ];
        for (degrees, single, of_four) in tables {
            for (count, quantile, close) in [(1, single, 0.01), (4, of_four, 0.03)] {
                let found = Confidence::of_each(count).student(degrees);
                assert!((found / quantile - 1.0).abs() < close, "{count}, {degrees}: {found}");
            }
        }
        let falling = [1.0, 1.5, 2.0, 2.5, 3.0, 4.0].map(|of| Confidence::of_each(1).student(of));
        assert!(falling.is_sorted_by(|one, next| one > next), "{falling:?}");
    }

    #[test]
    fn intervals_that_are_read_together_are_wider() {
        let widening = [0, 1, 2, 4, 20].map(|count| Confidence::of_each(count).widening());
        assert!(widening[0] <= 1.0 && widening[1] <= 1.0, "{widening:?}");
        assert!(widening[1..].is_sorted_by(|one, next| one < next), "{widening:?}");
        assert!((widening[3] - 1.274).abs() < 0.01, "{widening:?}");
    }
}
