//! The three seeks that a data sheet publishes.

/// Seeks of a data sheet, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::struct_field_names, reason = "units stand last in names")]
pub(crate) struct DataSheetSeeks {
    /// From one track to the next.
    pub single_track_ms: f64,
    /// Mean over all pairs of cylinders.
    pub average_ms: f64,
    /// From edge to edge.
    pub full_stroke_ms: f64,
}

impl DataSheetSeeks {
    /// From the single-track to the full-stroke seek.
    pub(super) fn rise_ms(self) -> f64 {
        self.full_stroke_ms - self.single_track_ms
    }

    /// The seek at a share of the rise.
    pub(super) fn at_share_ms(self, share: f64) -> f64 {
        self.single_track_ms + share * self.rise_ms()
    }
}
