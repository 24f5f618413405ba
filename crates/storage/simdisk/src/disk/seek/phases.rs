//! The curve through the three seeks of a data sheet: short seeks take a power of the distance,
//! long ones a line.
//!
//! Two phases after Ruemmler and Wilkes, "An Introduction to Disk Drive Modeling", IEEE Computer
//! 27(3), 1994: the arm accelerates and settles over a short distance and coasts over a long one.
//! They take the square root and leave the join open. Here both phases meet with the same slope, so
//! the join follows from the average; the exponent was fitted to real drives (decision 066).

use super::data_sheet::DataSheetSeeks;

/// Exponent of the distance in short seeks. Sixteenths need only square roots, which every
/// processor rounds alike: a seed gives the same run everywhere.
const EXPONENT: f64 = 7.0 / 16.0;

/// Bisection steps: 2^-60 is below the resolution of any changeover that matters.
const HALVINGS: u32 = 60;

/// Seek time over the fraction of the full stroke: `single + power d^(7/16)` milliseconds below the
/// changeover, `single + offset + slope d` from there on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PhasedSeek {
    single_track_ms: f64,
    power_ms: f64,
    offset_ms: f64,
    slope_ms: f64,
    /// Fraction of the full stroke.
    changeover: f64,
}

impl PhasedSeek {
    /// Least and greatest average that a curve can have, as shares of the rise from the
    /// single-track to the full-stroke seek: those of a line, whose changeover is 0, and of the
    /// power alone.
    pub(super) const SHARES: (f64, f64) = (1.0 / 3.0, 2.0 / ((EXPONENT + 1.0) * (EXPONENT + 2.0)));

    /// The curve with exactly these three figures, if there is one.
    pub(super) fn of(sheet: DataSheetSeeks) -> Option<Self> {
        let changeover = Self::changeover_of(sheet)?;
        let scale_ms = sheet.rise_ms() / end_of(changeover);
        Some(Self {
            single_track_ms: sheet.single_track_ms,
            power_ms: scale_ms * changeover.sqrt() * sixteenth_root(changeover),
            offset_ms: scale_ms * (1.0 - EXPONENT) * changeover,
            slope_ms: scale_ms * EXPONENT,
            changeover,
        })
    }

    fn changeover_of(sheet: DataSheetSeeks) -> Option<f64> {
        let (rise, above) = (sheet.rise_ms(), sheet.average_ms - sheet.single_track_ms);
        let (least, most) = Self::SHARES;
        let is_possible = (0.0..=sheet.full_stroke_ms).contains(&sheet.single_track_ms)
            && sheet.full_stroke_ms.is_finite()
            && (least * rise..=most * rise).contains(&above);
        is_possible.then(|| solved_changeover(above / rise))
    }

    /// Milliseconds of a seek over a fraction of the full stroke above 0.
    pub(super) fn milliseconds(&self, distance: f64) -> f64 {
        let moved = if distance < self.changeover {
            self.power_ms * short_power(distance)
        } else {
            self.line_ms(distance)
        };
        self.single_track_ms + moved
    }

    /// A lower bound of `milliseconds` without a root: the chords of the power that meet at a
    /// sixteenth of the changeover, rounded down.
    pub(super) fn least_milliseconds(&self, distance: f64) -> f64 {
        let moved = if distance < self.changeover {
            let share = distance / self.changeover;
            (4.7568 * share).min(0.2504 + 0.7495 * share) * self.line_ms(self.changeover)
        } else {
            self.line_ms(distance)
        };
        self.single_track_ms + moved
    }

    fn line_ms(&self, distance: f64) -> f64 {
        self.offset_ms + self.slope_ms * distance
    }
}

/// The changeover of the curve whose average is this share of its rise. The mean grows with the
/// changeover, so bisection finds it.
fn solved_changeover(share: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if mean_of(middle) < share {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// The end of the curve `c^(1-e) d^e` below `c` and `(1 - e) c + e d` above, at the full stroke.
fn end_of(changeover: f64) -> f64 {
    (1.0 - EXPONENT) * changeover + EXPONENT
}

/// The mean of the same curve over random pairs of cylinders, as a share of its end: their distance
/// has the density `2 (1 - d)`. The line alone averages `(1 - e) c + e / 3`; the rest is the area
/// between it and the power.
fn mean_of(changeover: f64) -> f64 {
    let line = (1.0 - EXPONENT) * changeover + EXPONENT / 3.0;
    let less = 1.0 / (EXPONENT + 1.0) - changeover / (3.0 * (EXPONENT + 2.0));
    let below = EXPONENT * (1.0 - EXPONENT) * changeover * changeover * less;
    (line - below) / end_of(changeover)
}

/// `distance` to the power of `EXPONENT`.
fn short_power(distance: f64) -> f64 {
    let quarter = distance.sqrt().sqrt();
    let eighth = quarter.sqrt();
    quarter * eighth * eighth.sqrt()
}

fn sixteenth_root(of: f64) -> f64 {
    of.sqrt().sqrt().sqrt().sqrt()
}
