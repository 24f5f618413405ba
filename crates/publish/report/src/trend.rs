//! Results of runs on one volume over months, as charts.

use std::collections::BTreeMap;

use crate::chart::{ChartLine, DatesChart, Ink};
use crate::document::Block;
use crate::{format, html};

/// A run that measured a load.
#[derive(Clone, Debug)]
pub struct TrendPoint {
    /// Start, in seconds since 1970.
    pub at_s: f64,
    /// Its spoken name: date, name, verdict.
    pub name: String,
    /// Identifies its work: a line connects only runs with the same work.
    pub work: String,
    /// Target in transactional IOPS; `None` for as many as possible.
    pub asked_iops: Option<f64>,
    /// Transactional IOPS.
    pub iops: Option<f64>,
    /// Mean latency of database reads in milliseconds.
    pub read_ms: Option<f64>,
    /// Mean latency of log writes in milliseconds.
    pub log_write_ms: Option<f64>,
}

impl TrendPoint {
    /// All of its values, for the crosshair.
    fn said(&self) -> String {
        let asked = self.asked_iops.map_or_else(
            || "not held".to_owned(),
            |asked| format!("held at {}", format::three_digits(asked)),
        );
        format!(
            "{}: {} IOPS ({asked}), database reads {} ms, log writes {} ms",
            self.name,
            number(self.iops),
            number(self.read_ms),
            number(self.log_write_ms)
        )
    }
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "none".to_owned(), format::three_digits)
}

/// Rates and latencies of runs in the order of time, as HTML for pages that have
/// [`crate::STYLE`] and [`crate::CROSSHAIR`].
pub fn trend_html(points: &[TrendPoint]) -> String {
    let iops = line("Transactional IOPS", Ink::Total, points, |point| point.iops);
    let reads = line("Database reads", Ink::Read, points, |point| point.read_ms);
    let log_writes = line("Log writes", Ink::Log, points, |point| point.log_write_ms);
    let rates = chart(points, "Transactional IOPS", "/s", vec![iops]);
    let latencies = chart(points, "Mean latency", "ms", vec![log_writes, reads]);
    let latencies = DatesChart { logarithmic: true, ..latencies };
    html::block_html(&Block::Pictures(vec![rates.picture(), latencies.picture()]))
}

fn line(
    label: &str,
    ink: Ink,
    points: &[TrendPoint],
    value: fn(&TrendPoint) -> Option<f64>,
) -> ChartLine {
    let mut works: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for point in points {
        let place = value(point).map(|value| (point.at_s, value));
        works.entry(&point.work).or_default().extend(place);
    }
    ChartLine::of_pieces(label, ink, works.into_values().collect())
}

fn chart(
    points: &[TrendPoint],
    title: &'static str,
    unit: &'static str,
    lines: Vec<ChartLine>,
) -> DatesChart {
    DatesChart {
        title,
        description: format!(
            "Of {} runs, in the order of time; a line joins runs of the same work.",
            points.len()
        ),
        unit,
        logarithmic: false,
        lines,
        hints: points.iter().map(|point| (point.at_s, point.said())).collect(),
    }
}
