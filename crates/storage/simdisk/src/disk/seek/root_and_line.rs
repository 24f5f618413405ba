//! The curve `single + line d + root sqrt(d)` through three seeks. Its short seeks are faster than
//! those of real drives (decision 066); it serves arrays whose other parameters were fitted with
//! it.

use super::data_sheet::DataSheetSeeks;

/// Milliseconds over the fraction of the full stroke.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::struct_field_names, reason = "units stand last in names")]
pub(crate) struct RootAndLine {
    single_track_ms: f64,
    line_ms: f64,
    root_ms: f64,
}

impl RootAndLine {
    /// Least and greatest average that a curve can have, as shares of the rise from the
    /// single-track to the full-stroke seek: those of the line and of the root alone.
    pub(super) const SHARES: (f64, f64) = (1.0 / 3.0, 8.0 / 15.0);

    /// The curve with exactly these three figures, if there is one: over random pairs of cylinders
    /// the distance is 1/3 of the stroke on average and its root 8/15.
    pub(super) fn of(sheet: DataSheetSeeks) -> Option<Self> {
        let to_average = sheet.average_ms - sheet.single_track_ms;
        let to_full = sheet.full_stroke_ms - sheet.single_track_ms;
        let root_ms = 5.0 * to_average - 5.0 / 3.0 * to_full;
        let line_ms = to_full - root_ms;
        let is_curve = sheet.single_track_ms >= 0.0 && root_ms >= 0.0 && line_ms >= 0.0;
        is_curve.then_some(Self { single_track_ms: sheet.single_track_ms, line_ms, root_ms })
    }

    /// Milliseconds of a seek over a fraction of the full stroke above 0.
    pub(super) fn milliseconds(&self, distance: f64) -> f64 {
        self.single_track_ms + self.line_ms * distance + self.root_ms * distance.sqrt()
    }

    /// A lower bound of `milliseconds` without a root: the chords that meet at a quarter.
    pub(super) fn least_milliseconds(&self, distance: f64) -> f64 {
        let chord = (2.0 * distance).min((1.0 + 2.0 * distance) / 3.0);
        self.single_track_ms + self.line_ms * distance + self.root_ms * chord
    }
}
