//! How long the arm takes from one cylinder to another.

/// Time of a seek as a function of its distance.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SeekCurve {
    /// `track_to_track + linear d + root sqrt(d)` milliseconds over a fraction `d` of the full
    /// stroke: the curve through the three numbers of a data sheet.
    ThreePoint {
        /// Milliseconds of the shortest seek.
        track_to_track: f64,
        /// Milliseconds by distance.
        linear: f64,
        /// Milliseconds by the root of the distance.
        root: f64,
    },
    /// Measured points: fraction of the full stroke and milliseconds, by rising distance;
    /// interpolated in between.
    Table(Vec<(f64, f64)>),
}

impl SeekCurve {
    /// The curve of a data sheet, in milliseconds; none where no curve of this form has these
    /// numbers, so that one of them is wrong.
    ///
    /// Over uniform random pairs the distance is 1/3 of the stroke on average and its root 8/15, so
    /// that the average seek comes out exactly as the data sheet says.
    pub(crate) fn of_data_sheet(
        track_to_track: f64,
        average: f64,
        full_stroke: f64,
    ) -> Option<Self> {
        let (to_average, to_full) = (average - track_to_track, full_stroke - track_to_track);
        let root = 5.0 * to_average - 5.0 / 3.0 * to_full;
        let linear = to_full - root;
        let is_curve = track_to_track >= 0.0 && root >= 0.0 && linear >= 0.0;
        is_curve.then_some(Self::ThreePoint { track_to_track, linear, root })
    }

    /// Milliseconds of a seek over this fraction of the full stroke.
    pub(crate) fn milliseconds(&self, distance: f64) -> f64 {
        if distance <= 0.0 {
            return 0.0;
        }
        match self {
            Self::ThreePoint { track_to_track, linear, root } => {
                track_to_track + linear * distance + root * distance.sqrt()
            }
            Self::Table(points) => interpolated(points, distance),
        }
    }

    /// Milliseconds that such a seek takes at least, found without a root: the root of a fraction
    /// lies above its chords, here those that meet at a quarter.
    pub(crate) fn least_milliseconds(&self, distance: f64) -> f64 {
        match self {
            Self::ThreePoint { track_to_track, linear, root } if distance > 0.0 => {
                let chord = (2.0 * distance).min((1.0 + 2.0 * distance) / 3.0);
                track_to_track + linear * distance + root * chord
            }
            Self::ThreePoint { .. } | Self::Table(_) => 0.0,
        }
    }
}

fn interpolated(points: &[(f64, f64)], distance: f64) -> f64 {
    let above = points.partition_point(|(at, _)| *at < distance);
    match (above.checked_sub(1).map(|below| points[below]), points.get(above)) {
        (Some((from, less)), Some((to, more))) => {
            less + (more - less) * (distance - from) / (to - from)
        }
        (Some((_, last)), None) => last,
        (None, first) => first.map_or(0.0, |(_, milliseconds)| *milliseconds),
    }
}

#[cfg(test)]
mod tests {
    use units::{Prng, Seed};

    use super::SeekCurve;

    /// Judged: the mean of sampled seeks is that of the data sheet within 1 %.
    #[test]
    fn seeks_between_random_cylinders_take_what_the_data_sheet_says_on_average() {
        for (shortest, average, full) in [(0.2, 3.4, 6.6), (0.8, 8.5, 18.0), (0.4, 4.2, 8.0)] {
            let curve = SeekCurve::of_data_sheet(shortest, average, full).expect("a curve");
            let mut prng = Prng::new(Seed(1));
            let mut draw = || prng.below(1 << 32) as f64 / (1_u64 << 32) as f64;
            let count = 200_000;
            let sum: f64 = (0..count).map(|_| curve.milliseconds((draw() - draw()).abs())).sum();
            let mean = sum / f64::from(count);
            assert!((mean / average - 1.0).abs() < 0.01, "{mean} of {average}");
            assert!((curve.milliseconds(1.0) - full).abs() < 1e-9);
        }
    }

    #[test]
    fn a_data_sheet_that_contradicts_itself_has_no_curve() {
        assert_eq!(SeekCurve::of_data_sheet(0.2, 6.0, 6.6), None);
        assert_eq!(SeekCurve::of_data_sheet(1.0, 2.0, 9.0), None);
    }

    #[test]
    fn a_table_is_followed_and_ends_flat() {
        let curve = SeekCurve::Table(vec![(0.1, 1.0), (0.5, 3.0)]);
        let at = |distance| curve.milliseconds(distance);
        assert_eq!((at(0.0), at(0.05), at(0.3), at(0.9)), (0.0, 1.0, 2.0, 3.0));
    }
}
