//! Position of a byte on a disk: its radius and its angle.

/// A zoned disk: outer tracks hold more, so the rate falls linearly towards the middle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Geometry {
    /// Bytes of the whole disk.
    pub capacity: f64,
    /// Bytes per millisecond at the outermost track.
    pub outer_rate: f64,
    /// Bytes per millisecond at the innermost track.
    pub inner_rate: f64,
    /// Milliseconds per revolution.
    pub revolution: f64,
}

impl Geometry {
    /// The fraction of the full stroke at which byte `offset` lies, 0 at the outermost track: the
    /// share of the bytes outside it is the integral of the rate.
    pub(crate) fn stroke_of(&self, offset: f64) -> f64 {
        let share = (offset / self.capacity).clamp(0.0, 1.0);
        let slope = self.inner_rate - self.outer_rate;
        let area = share * (self.outer_rate + self.inner_rate) / 2.0;
        if slope.abs() < 1e-9 {
            return share;
        }
        let root = (self.outer_rate * self.outer_rate + 2.0 * slope * area).max(0.0).sqrt();
        ((root - self.outer_rate) / slope).clamp(0.0, 1.0)
    }

    /// Bytes per millisecond at a fraction of the stroke.
    pub(crate) fn rate(&self, stroke: f64) -> f64 {
        self.outer_rate + (self.inner_rate - self.outer_rate) * stroke
    }

    /// The angle at a fraction of the stroke, 0 to 1: the fraction of a revolution that remains
    /// after all tracks outside it have passed.
    pub(crate) fn angle(&self, stroke: f64) -> f64 {
        let rate = f64::midpoint(self.outer_rate, self.inner_rate);
        let tracks = self.capacity / (rate * self.revolution);
        super::fraction(stroke * tracks)
    }
}

#[cfg(test)]
mod tests {
    use super::Geometry;

    const DISK: Geometry =
        Geometry { capacity: 6e11, outer_rate: 200e3, inner_rate: 100e3, revolution: 4.0 };

    #[test]
    fn more_of_the_bytes_lie_outside() {
        assert_eq!((DISK.stroke_of(0.0), DISK.stroke_of(6e11)), (0.0, 1.0));
        // The outer half of the stroke holds 7/12 of the bytes.
        assert!((DISK.stroke_of(6e11 * 7.0 / 12.0) - 0.5).abs() < 1e-9);
        assert!((DISK.rate(0.5) - 150e3).abs() < 1e-6);
        let even = Geometry { inner_rate: 200e3, ..DISK };
        assert!((even.stroke_of(1.5e11) - 0.25).abs() < 1e-12);
    }

    /// Consecutive bytes of a track have consecutive angles, in proportion to the time to read
    /// them.
    #[test]
    fn the_angle_turns_with_the_bytes() {
        let bytes = DISK.outer_rate * DISK.revolution / 4.0;
        let turned = DISK.angle(DISK.stroke_of(bytes)) - DISK.angle(0.0);
        assert!((turned - 0.25).abs() < 1e-3, "{turned}");
    }
}
