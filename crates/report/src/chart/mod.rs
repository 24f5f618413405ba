//! Charts as inline SVG: no script, no font, no file beside the page, and colours that follow the
//! reader's light or dark theme.

mod curve;
mod frame;
mod load;
mod percentiles;
mod scale;
mod timeline;

pub(crate) use curve::MonthsChart;
pub(crate) use load::LoadChart;
pub(crate) use percentiles::PercentileChart;
pub(crate) use timeline::{Hint, TimeChart};

/// A picture with a title and a description for those who cannot see it.
#[derive(Clone, Debug)]
pub enum Chart {
    /// Something over time.
    Time(TimeChart),
    /// Latencies by percentile.
    Percentiles(PercentileChart),
}

/// A line of a chart.
#[derive(Clone, Debug)]
pub struct ChartLine {
    /// What it shows.
    pub label: String,
    /// Its colour and dash.
    pub ink: Ink,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// Colour and dash of a line: the class that the page's style gives both to.
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
    /// The tail of a distribution whose mean is shown in a stronger ink.
    Tail,
}

impl Ink {
    /// The class of the page's style.
    pub const fn class(self) -> &'static str {
        match self {
            Self::Read => "ink-read",
            Self::Write => "ink-write",
            Self::Log => "ink-log",
            Self::Total => "ink-total",
            Self::Tail => "ink-tail",
        }
    }
}

/// A value to compare with: a limit that must not be passed, or a goal to reach.
#[derive(Clone, Debug)]
pub struct Threshold {
    /// What it is.
    pub label: String,
    /// Where it lies.
    pub value: f64,
    /// Whether it is to be reached.
    pub is_goal: bool,
}

impl ChartLine {
    pub(crate) fn new(label: impl Into<String>, ink: Ink, points: Vec<(f64, f64)>) -> Self {
        Self { label: label.into(), ink, points }
    }
}

impl Chart {
    /// Its title.
    pub fn title(&self) -> &str {
        match self {
            Self::Time(chart) => &chart.title,
            Self::Percentiles(chart) => &chart.title,
        }
    }

    /// Its glossary entry.
    pub(crate) const fn metric(&self) -> &'static str {
        match self {
            Self::Time(chart) => chart.metric,
            Self::Percentiles(chart) => chart.metric,
        }
    }

    /// Whether it takes the whole width of the page.
    pub const fn is_wide(&self) -> bool {
        match self {
            Self::Time(chart) => chart.wide,
            Self::Percentiles(_) => false,
        }
    }

    /// Its lines, for the legend.
    pub fn lines(&self) -> &[ChartLine] {
        match self {
            Self::Time(chart) => &chart.lines,
            Self::Percentiles(chart) => &chart.lines,
        }
    }

    /// The picture.
    pub(crate) fn svg(&self) -> String {
        match self {
            Self::Time(chart) => chart.svg(),
            Self::Percentiles(chart) => chart.svg(),
        }
    }
}
