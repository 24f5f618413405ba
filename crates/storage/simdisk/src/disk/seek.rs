//! How long the arm takes from one cylinder to another.

mod data_sheet;
mod phases;
mod root_and_line;

use serde::{Deserialize, Serialize};

pub(crate) use data_sheet::DataSheetSeeks;
use phases::PhasedSeek;
use root_and_line::RootAndLine;

/// The family of the curve through the three seeks of a data sheet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SeekFamily {
    /// A power of the distance, then a line that continues its slope: the closest to real drives.
    #[default]
    Phases,
    /// Sum of a root and a line, too fast for short seeks: for arrays fitted with it.
    RootAndLine,
}

impl SeekFamily {
    /// Least and greatest average of a curve with the shortest and longest seek of `sheet`, in
    /// milliseconds.
    pub(crate) fn possible_averages_ms(self, sheet: DataSheetSeeks) -> (f64, f64) {
        let (least, most) = match self {
            Self::Phases => PhasedSeek::SHARES,
            Self::RootAndLine => RootAndLine::SHARES,
        };
        (sheet.at_share_ms(least), sheet.at_share_ms(most))
    }
}

/// Time of a seek as a function of its distance.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SeekCurve {
    /// Through the three figures of a data sheet, in two phases.
    Phased(PhasedSeek),
    /// Through the same figures, for arrays fitted with it.
    RootAndLine(RootAndLine),
    /// Measured points (fraction of the full stroke and milliseconds) by rising distance,
    /// interpolated in between.
    Table(Vec<(f64, f64)>),
}

impl SeekCurve {
    /// The curve of a data sheet: its mean over random pairs of cylinders is the sheet's average.
    /// `None` if no curve of the family has these figures, so that one of them must be wrong.
    pub(crate) fn of_data_sheet(family: SeekFamily, sheet: DataSheetSeeks) -> Option<Self> {
        match family {
            SeekFamily::Phases => PhasedSeek::of(sheet).map(Self::Phased),
            SeekFamily::RootAndLine => RootAndLine::of(sheet).map(Self::RootAndLine),
        }
    }

    /// Milliseconds of a seek over this fraction of the full stroke.
    pub(crate) fn milliseconds(&self, distance: f64) -> f64 {
        if distance <= 0.0 {
            return 0.0;
        }
        match self {
            Self::Phased(curve) => curve.milliseconds(distance),
            Self::RootAndLine(curve) => curve.milliseconds(distance),
            Self::Table(points) => interpolated(points, distance),
        }
    }

    /// A lower bound of `milliseconds`, found without a root or a search.
    pub(crate) fn least_milliseconds(&self, distance: f64) -> f64 {
        if distance <= 0.0 {
            return 0.0;
        }
        match self {
            Self::Phased(curve) => curve.least_milliseconds(distance),
            Self::RootAndLine(curve) => curve.least_milliseconds(distance),
            Self::Table(_) => 0.0,
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
mod tests;
