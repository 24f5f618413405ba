//! The runs overlaid, each from the start of its measurement.

use record::{IntervalRow, Phase, RunRecord, Series};
use verdict::NamedRun;

use super::LETTERS;
use crate::chart::{ChartLine, Ink, TimeChart};
use crate::document::{Block, Picture, Section};
use crate::sections::weighted_mean_ms;

/// Inks of the runs' lines; with more lines a chart would be illegible.
const INKS: [Ink; 5] = [Ink::Total, Ink::Read, Ink::Log, Ink::Write, Ink::Tail];
/// Maximum points per line: more would be indistinguishable.
const POINTS: usize = 480;

/// The charts of loads; `None` for backups and checksum passes, whose rates say everything.
pub(super) fn section(runs: &[NamedRun], phase: Phase) -> Option<Section> {
    let has_intervals = runs.iter().any(|run| run.record.imported().is_none());
    if phase != Phase::Measure || !has_intervals {
        return None;
    }
    let charts = vec![
        chart(runs, "Transactional IOPS", ("achieved-transactional-iops", "/s"), &|rows| {
            Some(mean_iops(rows))
        }),
        latency_chart(runs, Series::DatabaseRead, "database-reads-latency"),
        latency_chart(runs, Series::LogWrite, "log-writes-latency"),
    ];
    let mut blocks = vec![Block::Pictures(charts)];
    if runs.len() > INKS.len() {
        blocks.push(Block::Note(format!("Drawn are the first {} runs.", INKS.len())));
    }
    Some(Section { id: "charts", title: "Over Time", blocks })
}

fn mean_iops(rows: &[&IntervalRow]) -> f64 {
    let transfers = rows
        .iter()
        .map(|row| row.per_second(Series::DatabaseRead) + row.per_second(Series::DatabaseWrite));
    transfers.sum::<f64>() / rows.len() as f64
}

fn latency_chart(runs: &[NamedRun], series: Series, metric: &'static str) -> Picture {
    let title = format!("{}: mean of all requests", series.name());
    chart(runs, &title, (metric, "ms"), &|rows| {
        weighted_mean_ms(rows.iter().filter_map(|row| row.series.get(&series)))
    })
}

fn chart(
    runs: &[NamedRun],
    title: &str,
    (metric, unit): (&'static str, &'static str),
    value: &dyn Fn(&[&IntervalRow]) -> Option<f64>,
) -> Picture {
    // An imported run has no intervals to draw. The first run is drawn last, on top.
    let mut lines: Vec<ChartLine> = runs
        .iter()
        .zip(LETTERS)
        .zip(INKS)
        .filter(|((run, _), _)| run.record.imported().is_none())
        .map(|((run, letter), ink)| {
            ChartLine::new(format!("{letter}: {}", run.name), ink, points(&run.record, value))
        })
        .collect();
    lines.reverse();
    TimeChart {
        title: title.to_owned(),
        description: format!("{title} of {} runs, from the begin of each measurement.", runs.len()),
        metric,
        unit,
        wide: metric == "achieved-transactional-iops",
        lines,
        ..TimeChart::default()
    }
    .picture()
}

fn points(run: &RunRecord, value: &dyn Fn(&[&IntervalRow]) -> Option<f64>) -> Vec<(f64, f64)> {
    let rows: Vec<&IntervalRow> = run.intervals_of(Phase::Measure).collect();
    let from_ns = rows.first().map_or(0, |row| row.from_ns);
    let moments = rows.chunks(rows.len().div_ceil(POINTS).max(1));
    moments
        .filter_map(|rows| {
            let ends = [rows[0].from_ns, rows[rows.len() - 1].to_ns];
            let [begin, end] = ends.map(|ns| (ns - from_ns) as f64 / 1e9);
            Some((f64::midpoint(begin, end), value(rows)?))
        })
        .collect()
}
