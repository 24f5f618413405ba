//! Charts as inline SVG: no scripts, fonts or files besides the page, and colours that follow the
//! reader's light or dark theme.

mod curve;
mod dates;
mod frame;
mod heat;
mod load;
mod percentiles;
mod scale;
mod timeline;

pub use curve::MonthsChart;
pub(crate) use dates::DatesChart;
pub(crate) use heat::{HeatColumn, HeatMap};
pub(crate) use load::LoadChart;
pub(crate) use percentiles::PercentileChart;
pub(crate) use timeline::{Hint, TimeChart};

/// A line of a chart.
#[derive(Clone, Debug)]
pub struct ChartLine {
    /// Its label.
    pub label: String,
    /// Its colour and dash.
    pub ink: Ink,
    /// Its points from left to right, with a gap between pieces.
    pub pieces: Vec<Vec<(f64, f64)>>,
}

/// Colour and dash of a line, both set by a class of the page's style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Database reads.
    Read,
    /// Database writes.
    Write,
    /// Log writes.
    Log,
    /// Reads and writes together.
    Total,
    /// The tail of a distribution; its mean is drawn in a stronger ink.
    Tail,
}

impl Ink {
    /// Its class in the page's style.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Read => "ink-read",
            Self::Write => "ink-write",
            Self::Log => "ink-log",
            Self::Total => "ink-total",
            Self::Tail => "ink-tail",
        }
    }

    /// The legend class of a band behind a line of this ink.
    const fn band_class(self) -> &'static str {
        match self {
            Self::Read => "area band ink-read",
            Self::Write => "area band ink-write",
            Self::Log => "area band ink-log",
            Self::Total => "area band ink-total",
            Self::Tail => "area band ink-tail",
        }
    }

    /// The legend classes of the shades of a heat map of this ink, faintest first.
    const fn heat_classes(self) -> [&'static str; 5] {
        match self {
            Self::Log => [
                "area ink-log heat-1",
                "area ink-log heat-2",
                "area ink-log heat-3",
                "area ink-log heat-4",
                "area ink-log heat-5",
            ],
            _ => [
                "area ink-read heat-1",
                "area ink-read heat-2",
                "area ink-read heat-3",
                "area ink-read heat-4",
                "area ink-read heat-5",
            ],
        }
    }
}

/// A reference value: a limit that must not be exceeded, or a goal to reach.
#[derive(Clone, Debug)]
pub struct Threshold {
    /// Its label.
    pub label: String,
    /// Its value.
    pub value: f64,
    /// Whether it is a target to reach.
    pub is_goal: bool,
}

impl ChartLine {
    /// A line through `points`.
    pub fn new(label: impl Into<String>, ink: Ink, points: Vec<(f64, f64)>) -> Self {
        Self::of_pieces(label, ink, vec![points])
    }

    /// A line through the points of each piece, but not from one piece to another.
    pub(crate) fn of_pieces(
        label: impl Into<String>,
        ink: Ink,
        pieces: Vec<Vec<(f64, f64)>>,
    ) -> Self {
        Self { label: label.into(), ink, pieces }
    }

    /// The points of all pieces.
    pub(crate) fn points(&self) -> impl Iterator<Item = &(f64, f64)> + Clone {
        self.pieces.iter().flatten()
    }

    /// Its place in a legend.
    pub fn entry(&self) -> (&'static str, String) {
        (self.ink.class(), self.label.clone())
    }
}
