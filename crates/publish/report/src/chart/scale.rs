//! Maps values to positions, and picks the values that an axis labels.

/// A mapping of a range of values to a range of positions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    from: f64,
    to: f64,
    low_place: f64,
    high_place: f64,
    logarithmic: bool,
}

impl Scale {
    /// A linear scale: equal steps of the value are equal steps of the position.
    pub(super) fn linear((from, to): (f64, f64), (low_place, high_place): (f64, f64)) -> Self {
        assert!(to > from, "a scale has a width");
        Self { from, to, low_place, high_place, logarithmic: false }
    }

    /// A logarithmic scale: equal factors of the value are equal steps of the position. Both ends
    /// must be above 0.
    pub(super) fn logarithmic((from, to): (f64, f64), places: (f64, f64)) -> Self {
        assert!(from > 0.0, "a logarithmic scale begins above 0");
        let logarithmic = Self::linear((from.log10(), to.log10()), places);
        Self { logarithmic: true, ..logarithmic }
    }

    /// The position of a value, clamped to the ends of the range.
    pub(super) fn place(&self, value: f64) -> f64 {
        let value = if self.logarithmic { value.max(f64::MIN_POSITIVE).log10() } else { value };
        let share = ((value - self.from) / (self.to - self.from)).clamp(0.0, 1.0);
        self.low_place + share * (self.high_place - self.low_place)
    }
}

/// Round values from 0 to at least `highest`, about `wanted` of them: an axis from zero.
pub(super) fn round_ticks(highest: f64, wanted: u32) -> Vec<f64> {
    let step = round_up(highest.max(1e-9) / f64::from(wanted));
    let mut ticks = vec![0.0];
    let mut count = 0_u32;
    while f64::from(count) * step < highest {
        count += 1;
        ticks.push(f64::from(count) * step);
    }
    if count == 0 {
        ticks.push(step);
    }
    ticks
}

/// Rounds up to 1, 2 or 5 times a power of ten.
fn round_up(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    let rounds = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    *rounds.iter().find(|round: &&f64| **round >= value * 0.999_999).unwrap_or(&rounds[3])
}

/// 1, 2 and 5 times the powers of ten, enclosing both ends; only the powers for a wide range.
pub(super) fn logarithmic_ticks(lowest: f64, highest: f64) -> Vec<f64> {
    let lowest = lowest.max(1e-3);
    let highest = highest.max(lowest * 10.0);
    let decades = (highest / lowest).log10();
    let factors: &[f64] = if decades > 3.2 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let mut exponent = lowest.log10().floor();
    let mut ticks = Vec::new();
    loop {
        for factor in factors {
            let tick = factor * 10_f64.powf(exponent);
            if tick * 1.000_001 >= highest {
                ticks.push(tick);
                ticks.retain(|&tick| tick * factors.get(1).map_or(10.0, |_| 2.5) > lowest);
                return ticks;
            }
            ticks.push(tick);
        }
        exponent += 1.0;
    }
}

/// About `wanted` equal steps of time, in seconds, that are round on a clock.
pub(super) fn time_ticks(from: f64, to: f64, wanted: f64) -> Vec<f64> {
    const STEPS: [f64; 16] = [
        1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1_800.0, 3_600.0,
        7_200.0, 14_400.0, 43_200.0,
    ];
    let span = to - from;
    let step = STEPS.into_iter().find(|step| span / step <= wanted).unwrap_or(86_400.0);
    let first = (from / step).ceil();
    (0_u32..1_000)
        .map(|index| (first + f64::from(index)) * step)
        .take_while(|&tick| tick <= to)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Scale, logarithmic_ticks, round_ticks, time_ticks};

    fn same(left: &[f64], right: &[f64]) {
        assert_eq!(left.len(), right.len(), "{left:?} {right:?}");
        for (left, right) in left.iter().zip(right) {
            assert!((left - right).abs() < 1e-9 * right.abs().max(1.0), "{left} {right}");
        }
    }

    #[test]
    fn ticks_are_round() {
        same(&round_ticks(330.0, 4), &[0.0, 100.0, 200.0, 300.0, 400.0]);
        same(&round_ticks(0.0, 4), &[0.0, 5e-10]);
        same(&logarithmic_ticks(1.7, 90.0), &[1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        same(&logarithmic_ticks(0.05, 900.0), &[0.01, 0.1, 1.0, 10.0, 100.0, 1_000.0]);
        same(&time_ticks(0.0, 60.0, 6.0), &[0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0]);
        same(&time_ticks(7.0, 21.0, 5.0), &[10.0, 15.0, 20.0]);
    }

    #[test]
    fn places_follow_values_and_stay_inside() {
        let linear = Scale::linear((0.0, 10.0), (100.0, 0.0));
        same(&[linear.place(2.5), linear.place(11.0)], &[75.0, 0.0]);
        let logarithmic = Scale::logarithmic((1.0, 100.0), (0.0, 10.0));
        same(&[logarithmic.place(10.0), logarithmic.place(0.0)], &[5.0, 0.0]);
    }
}
