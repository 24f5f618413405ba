//! Finds the minimum of a function of a few positive numbers by trying factors.

/// Factors by which values are changed: coarse to compare starting points, fine to finish from the
/// best ones.
pub(super) const COARSE: [f64; 2] = [1.3, 1.1];
pub(super) const FINE: [f64; 4] = [1.2, 1.08, 1.03, 1.01];

/// Maximum number of rounds for one factor.
const ROUNDS: usize = 30;

/// Changes `values` until no change along any of `directions` (powers of a factor for each value)
/// lowers `cost`; returns the final cost.
pub(super) fn descend(
    values: &mut [f64],
    directions: &[&[i32]],
    factors: &[f64],
    cost: impl Fn(&[f64]) -> f64,
) -> f64 {
    let mut least = cost(values);
    for factor in factors {
        for _ in 0..ROUNDS {
            let before = least;
            for direction in directions {
                for factor in [*factor, 1.0 / factor] {
                    let tried = along(values, direction, factor);
                    let found = cost(&tried);
                    if found < least {
                        least = found;
                        values.copy_from_slice(&tried);
                    }
                }
            }
            if least >= before * 0.999 {
                break;
            }
        }
    }
    least
}

/// How far each value may go along any of `directions` while the cost stays within `most`.
pub(super) fn ranges(
    best: &[f64],
    directions: &[&[i32]],
    most: f64,
    cost: impl Fn(&[f64]) -> f64,
) -> Vec<(f64, f64)> {
    let mut ranges: Vec<(f64, f64)> = best.iter().map(|value| (*value, *value)).collect();
    for direction in directions {
        for step in [STEP, 1.0 / STEP] {
            let mut values = best.to_vec();
            for _ in 0..STEPS {
                values = along(&values, direction, step);
                for ((least, most), value) in ranges.iter_mut().zip(&values) {
                    (*least, *most) = (least.min(*value), most.max(*value));
                }
                if cost(&values) > most {
                    break;
                }
            }
        }
    }
    ranges
}

/// Step factor of a range; a range that reaches the last step, a factor of 11, is undetermined.
const STEP: f64 = 1.05;
const STEPS: usize = 50;

fn along(values: &[f64], direction: &[i32], factor: f64) -> Vec<f64> {
    values.iter().zip(direction).map(|(value, power)| value * factor.powi(*power)).collect()
}

#[cfg(test)]
mod tests {
    use super::{COARSE, FINE, descend};

    fn valley(at: &[f64]) -> f64 {
        let (product, ratio) = ((at[0] * at[1] / 600.0).ln(), (at[0] / at[1] / 6.0).ln());
        product * product + 0.01 * ratio * ratio
    }

    #[test]
    fn the_least_of_a_narrow_valley_is_found() {
        let mut values = [1.0, 1.0];
        let directions: [&[i32]; 4] = [&[1, 0], &[0, 1], &[1, 1], &[1, -1]];
        descend(&mut values, &directions, &[COARSE.as_slice(), &FINE].concat(), valley);
        assert!((values[0] / 60.0 - 1.0).abs() < 0.05, "{values:?}");
        assert!((values[1] / 10.0 - 1.0).abs() < 0.05, "{values:?}");
    }
}
