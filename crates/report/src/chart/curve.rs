//! Something that grows over months.

use super::frame::ChartFrame;
use super::scale::{Scale, round_ticks};
use super::timeline::plain_label;
use super::{ChartLine, Threshold};

/// Curves over months, from now on.
#[derive(Clone, Debug)]
pub struct MonthsChart {
    /// What it shows.
    pub title: String,
    /// The same for those who cannot see it.
    pub description: String,
    /// Unit of the values.
    pub unit: &'static str,
    /// Points of months and values.
    pub lines: Vec<ChartLine>,
    /// The value that counts.
    pub limit: Threshold,
}

impl MonthsChart {
    /// The picture.
    pub fn svg(&self) -> String {
        let mut frame = ChartFrame::new(720.0, 240.0);
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let last = points().map(|point| point.0).fold(1.0, f64::max);
        let most = points().map(|point| point.1).fold(self.limit.value, f64::max);
        let label = |value: f64| (value, plain_label(value));
        let ticks = round_ticks(most * 1.08, 4);
        let y = Scale::linear((0.0, ticks[ticks.len() - 1]), frame.upward());
        let ticks: Vec<_> = ticks.into_iter().map(label).collect();
        frame.vertical_axis(self.unit, &y, &ticks);
        let x = Scale::linear((0.0, last), frame.across());
        let months = round_ticks(last, 8).into_iter().filter(|month| *month <= last);
        let months: Vec<_> = months.map(label).collect();
        frame.horizontal_axis(&x, &months);
        frame.threshold(&self.limit, &y);
        for line in &self.lines {
            frame.line(line, &x, &y);
        }
        frame.finish(&self.title, &self.description)
    }
}
