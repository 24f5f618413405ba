//! Plots latency over load, with the limits and the load line.

use verdict::{Estimate, LoadStep};

use super::LineReport;
use crate::chart::{ChartLine, Ink, LoadChart, Threshold};
use crate::document::Picture;
use crate::format;

pub(super) fn picture(line: &LineReport<'_>) -> Picture {
    let mut steps: Vec<&LoadStep> = line.steps.iter().filter(|step| step.holds.is_some()).collect();
    steps.sort_by(|one, two| one.iops.mean.total_cmp(&two.iops.mean));
    let limits = &line.run.start.settings.thresholds;
    let chart = LoadChart {
        title: "Latency over load".to_owned(),
        description: super::meaning(line, line.knee()).join(" "),
        lines: vec![
            curve(&steps, "reads", Ink::Read, |step| step.read_ms),
            curve(&steps, "log writes", Ink::Log, |step| step.log_write_ms),
        ],
        thresholds: vec![
            limit("reads, average", limits.read_average_ns),
            limit("log writes, average", limits.log_write_average_ns),
        ],
        knee: line.knee().map(|knee| knee.iops),
    };
    let legend = vec![
        (Ink::Read.class(), "database reads, mean ms".to_owned()),
        (Ink::Log.class(), "log writes, mean ms".to_owned()),
    ];
    let svg = chart.svg();
    Picture::wide(chart.title, svg, legend)
}

fn curve(steps: &[&LoadStep], label: &str, ink: Ink, of: fn(&LoadStep) -> Estimate) -> ChartLine {
    let points = steps.iter().map(|step| (step.iops.mean, of(step).mean)).collect();
    ChartLine::new(label, ink, points)
}

fn limit(label: &str, nanoseconds: u64) -> Threshold {
    Threshold {
        label: label.to_owned(),
        value: format::as_milliseconds(nanoseconds),
        is_goal: false,
    }
}
