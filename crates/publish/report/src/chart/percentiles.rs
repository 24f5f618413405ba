//! Latencies by percentile: each step to the right is ten times rarer, so the tail, which makes
//! mail users wait, takes as much space as the middle.

use super::frame::ChartFrame;
use super::scale::{Scale, logarithmic_ticks};
use super::timeline::labelled;
use super::{ChartLine, Threshold};
use crate::document::Picture;

/// A chart of latencies in milliseconds; points are shares (0 to below 1) and latencies.
#[derive(Clone, Debug, Default)]
pub(crate) struct PercentileChart {
    /// Its title.
    pub title: String,
    /// A sentence with numbers, as the text alternative for readers who cannot see it.
    pub description: String,
    /// Its glossary entry.
    pub metric: &'static str,
    /// The lines.
    pub lines: Vec<ChartLine>,
    /// Values to compare with.
    pub thresholds: Vec<Threshold>,
}

/// The labelled shares of the horizontal axis.
const NAMED: [(f64, &str); 6] = [
    (0.0, "0"),
    (0.9, "90 %"),
    (0.99, "99 %"),
    (0.999, "99.9 %"),
    (0.9999, "99.99 %"),
    (0.999_99, "99.999 %"),
];

impl PercentileChart {
    /// The shares at which a line has points, for `count` latencies: the rarest is one in `count`.
    pub(crate) fn shares(count: u64) -> Vec<f64> {
        let rarest = 1.0 / (count.max(2) as f64);
        (0_u32..=200)
            .map(|step| 10_f64.powf(-f64::from(step) / 40.0))
            .take_while(|&rarity| rarity >= rarest * 0.999)
            .map(|rarity| 1.0 - rarity)
            .collect()
    }

    /// The picture; its legend begins with the line drawn last.
    pub(crate) fn picture(self) -> Picture {
        let svg = self.svg();
        let legend = self.lines.iter().rev().map(ChartLine::entry).collect();
        let (title, metric) = (self.title, Some(self.metric));
        Picture { title, metric, is_wide: false, svg, legend }
    }

    fn svg(&self) -> String {
        let mut frame = ChartFrame::new(490.0, 240.0);
        let rarest = self.rarest();
        let x = Scale::linear((0.0, -rarest.log10()), frame.across());
        let values = self.lines.iter().flat_map(ChartLine::points).map(|point| point.1);
        let limits = self.thresholds.iter().map(|threshold| threshold.value);
        let positive = values.chain(limits).filter(|&value| value > 0.0);
        let (low, high) = positive
            .fold((f64::MAX, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        let ticks = logarithmic_ticks(low.min(1e6), high);
        let y = Scale::logarithmic((ticks[0], ticks[ticks.len() - 1]), frame.upward());
        frame.vertical_axis("ms", &y, &labelled(&ticks));
        let named: Vec<(f64, String)> = NAMED
            .iter()
            .filter(|(share, _)| 1.0 - share >= rarest * 0.999)
            .map(|&(share, label)| (-(1.0 - share).log10(), label.to_owned()))
            .collect();
        frame.horizontal_axis(&x, &named);
        for line in &self.lines {
            let rarities = line.points().map(|&(share, value)| (-(1.0 - share).log10(), value));
            let line = ChartLine::new(&*line.label, line.ink, rarities.collect());
            frame.line(&line, &x, &y);
        }
        frame.thresholds(&self.thresholds, &y);
        frame.finish(&self.title, &self.description)
    }

    /// One minus the highest share; at most one in ten, so that the axis has a width.
    fn rarest(&self) -> f64 {
        let shares = self.lines.iter().flat_map(ChartLine::points).map(|point| point.0);
        let highest = shares.fold(0.9, f64::max);
        (1.0 - highest).max(1e-9)
    }
}
