//! The runs drawn over one another, each from the begin of its measurement.

use record::{IntervalRow, Phase, RunRecord, Series};
use verdict::NamedRun;

use super::LETTERS;
use crate::chart::{Chart, ChartLine, Ink, TimeChart};
use crate::document::{Block, Section};

/// More lines than this cannot be told apart.
const INKS: [Ink; 5] = [Ink::Total, Ink::Read, Ink::Log, Ink::Write, Ink::Tail];
/// More points of a line than this cannot be told apart.
const POINTS: usize = 480;

/// The charts of loads; none of passes, whose rates say all.
pub(super) fn section(runs: &[NamedRun], phase: Phase) -> Option<Section> {
    let has_intervals = runs.iter().any(|run| run.record.imported().is_none());
    if phase != Phase::Measure || !has_intervals {
        return None;
    }
    let iops = |rows: &[&IntervalRow]| {
        let of = |row: &&IntervalRow| {
            row.per_second(Series::DatabaseRead) + row.per_second(Series::DatabaseWrite)
        };
        Some(rows.iter().map(of).sum::<f64>() / rows.len() as f64)
    };
    let charts = vec![
        chart(runs, "Transactional IOPS", ("achieved-transactional-iops", "/s"), &iops),
        latency_chart(runs, Series::DatabaseRead, "database-reads-latency"),
        latency_chart(runs, Series::LogWrite, "log-writes-latency"),
    ];
    let mut blocks = vec![Block::Charts(charts)];
    if runs.len() > INKS.len() {
        blocks.push(Block::Note(format!("Drawn are the first {} runs.", INKS.len())));
    }
    Some(Section { id: "charts", title: "Over Time", blocks })
}

fn latency_chart(runs: &[NamedRun], series: Series, metric: &'static str) -> Chart {
    let mean = |rows: &[&IntervalRow]| {
        let parts = rows.iter().filter_map(|row| row.series.get(&series));
        let (count, sum) = parts.fold((0.0, 0.0), |(count, sum), part| {
            let of_part = part.latency.count as f64;
            (count + of_part, sum + of_part * part.latency.mean_ns)
        });
        (count > 0.0).then(|| sum / count / 1e6)
    };
    let title = format!("{}: mean latency", series.name());
    chart(runs, &title, (metric, "ms"), &mean)
}

fn chart(
    runs: &[NamedRun],
    title: &str,
    (metric, unit): (&'static str, &'static str),
    value: &dyn Fn(&[&IntervalRow]) -> Option<f64>,
) -> Chart {
    let named = runs.iter().zip(LETTERS).zip(INKS);
    // An imported run has no intervals to draw.
    let named = named.filter(|((run, _), _)| run.record.imported().is_none());
    // The first run last, so that it lies above the others.
    let mut lines: Vec<ChartLine> = named
        .map(|((run, letter), ink)| ChartLine {
            label: format!("{letter}: {}", run.name),
            ink,
            points: points(&run.record, value),
        })
        .collect();
    lines.reverse();
    Chart::Time(TimeChart {
        title: title.to_owned(),
        description: format!("{title} of {} runs, from the begin of each measurement.", runs.len()),
        metric,
        unit,
        wide: metric == "achieved-transactional-iops",
        lines,
        ..TimeChart::default()
    })
}

fn points(run: &RunRecord, value: &dyn Fn(&[&IntervalRow]) -> Option<f64>) -> Vec<(f64, f64)> {
    let rows: Vec<&IntervalRow> = run.intervals_of(Phase::Measure).collect();
    let from_ns = rows.first().map_or(0, |row| row.from_ns);
    let moments = rows.chunks(rows.len().div_ceil(POINTS).max(1));
    let seconds = |ns: u64| (ns - from_ns) as f64 / 1e9;
    moments
        .filter_map(|rows| {
            let middle =
                f64::midpoint(seconds(rows[0].from_ns), seconds(rows[rows.len() - 1].to_ns));
            Some((middle, value(rows)?))
        })
        .collect()
}
