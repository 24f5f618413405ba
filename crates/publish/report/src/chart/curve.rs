//! A chart of quantities that grow over months.

use super::frame::ChartFrame;
use super::scale::{Scale, round_ticks};
use super::timeline::labelled;
use super::{ChartLine, Threshold};

/// A chart of curves over the coming months.
#[derive(Clone, Debug)]
pub struct MonthsChart {
    /// Its title.
    pub title: String,
    /// A text alternative for readers who cannot see it.
    pub description: String,
    /// Unit of the values.
    pub unit: &'static str,
    /// The curves; points are months from now and values.
    pub lines: Vec<ChartLine>,
    /// Value to compare the curves with.
    pub limit: Threshold,
}

impl MonthsChart {
    /// The picture.
    pub fn svg(&self) -> String {
        let mut frame = ChartFrame::new(720.0, 240.0);
        let points: Vec<_> = self.lines.iter().flat_map(ChartLine::points).collect();
        let last = points.iter().map(|point| point.0).fold(1.0, f64::max);
        let most = points.iter().map(|point| point.1).fold(self.limit.value, f64::max);
        let ticks = round_ticks(most * 1.08, 4);
        let y = Scale::linear((0.0, ticks[ticks.len() - 1]), frame.upward());
        frame.vertical_axis(self.unit, &y, &labelled(&ticks));
        let x = Scale::linear((0.0, last), frame.across());
        let mut months = round_ticks(last, 8);
        months.retain(|month| *month <= last);
        frame.horizontal_axis(&x, &labelled(&months));
        for line in &self.lines {
            frame.line(line, &x, &y);
        }
        frame.thresholds(std::slice::from_ref(&self.limit), &y);
        frame.finish(&self.title, &self.description)
    }
}
