//! Latency over load: the bend of the curve shows the storage's capacity.

use super::frame::ChartFrame;
use super::scale::{Scale, logarithmic_ticks, round_ticks};
use super::timeline::labelled;
use super::{ChartLine, Threshold};

/// A chart of milliseconds over database reads and writes per second.
#[derive(Clone, Debug)]
pub(crate) struct LoadChart {
    /// Its title.
    pub title: String,
    /// A text alternative for readers who cannot see it.
    pub description: String,
    /// Points of load and latency.
    pub lines: Vec<ChartLine>,
    /// Reference latencies.
    pub thresholds: Vec<Threshold>,
    /// Position of the load line.
    pub knee: Option<f64>,
}

impl LoadChart {
    /// The picture.
    pub(crate) fn svg(&self) -> String {
        let mut frame = ChartFrame::new(720.0, 280.0);
        let points = self.lines.iter().flat_map(ChartLine::points);
        let limits = self.thresholds.iter().map(|threshold| threshold.value);
        let values = points.clone().map(|point| point.1).chain(limits).filter(|value| *value > 0.0);
        let (low, high) =
            values.fold((1e6, 0.0_f64), |(low, high), value| (value.min(low), value.max(high)));
        let ticks = logarithmic_ticks(low, high);
        let y = Scale::logarithmic((ticks[0], ticks[ticks.len() - 1]), frame.upward());
        frame.vertical_axis("ms", &y, &labelled(&ticks));
        let most = points.map(|point| point.0).fold(1.0, f64::max);
        let loads = round_ticks(most, 6);
        let x = Scale::linear((0.0, loads[loads.len() - 1]), frame.across());
        frame.horizontal_axis(&x, &labelled(&loads));
        if let Some(knee) = self.knee {
            let (bottom, top) = frame.upward();
            frame.rule("goal", (x.place(knee), bottom), (x.place(knee), top));
            frame.text(x.place(knee) - 4.0, top + 10.0, "end", "goal-label", "load line");
        }
        for line in &self.lines {
            frame.line(line, &x, &y);
        }
        frame.thresholds(&self.thresholds, &y);
        frame.finish(&self.title, &self.description)
    }
}
