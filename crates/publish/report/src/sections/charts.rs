//! The charts: load over time, latencies over time with their limits, and latency percentiles.

use std::fmt::Write as _;

use record::{IntervalRow, Phase, RunRecord, Series, SeriesRow};

use super::spans_of;
use crate::chart::{
    ChartLine, HeatColumn, HeatMap, Hint, Ink, PercentileChart, Threshold, TimeChart,
};
use crate::document::{Block, Picture, Section};
use crate::{format, meaning};

/// Beyond this many points a page cannot resolve them; neighbours are merged.
const POINTS: usize = 480;

/// Time columns of a heat map, each at least three points wide.
const HEAT_COLUMNS: usize = 120;

/// Maximum number of databases with separate lines; more would hide each other in the band.
const MOST_LINES: usize = 8;

/// The charts, if anything was measured.
pub(super) fn section(run: &RunRecord) -> Option<Section> {
    let rows: Vec<&IntervalRow> = run
        .intervals
        .iter()
        .filter(|row| matches!(row.phase, Phase::Warm | Phase::Tune | Phase::Measure))
        .collect();
    if run.span_ns(Phase::Measure) == 0 {
        return None;
    }
    let times = Times { run, rows: merged(&rows, POINTS) };
    let heated = Times { run, rows: merged(&rows, HEAT_COLUMNS) };
    let thresholds = &run.start.settings.thresholds;
    let reads = (thresholds.read_average_ns, thresholds.read_maximum_ns);
    let log_writes = (thresholds.log_write_average_ns, thresholds.log_write_maximum_ns);
    let charts: Vec<Picture> = [
        times.load(),
        times.latency(Series::DatabaseRead, Ink::Read, "database-reads-latency", Some(reads)),
        times.latency(Series::LogWrite, Ink::Log, "log-writes-latency", Some(log_writes)),
        times.latency(Series::DatabaseWrite, Ink::Write, "database-writes-latency", None),
        percentiles(run),
        heated.heat(Series::DatabaseRead, Ink::Read, "database-reads-latency", reads.0),
        heated.heat(Series::LogWrite, Ink::Log, "log-writes-latency", log_writes.0),
    ]
    .into_iter()
    .flatten()
    .collect();
    if charts.is_empty() {
        return None;
    }
    let blocks = vec![Block::Pictures(charts)];
    Some(Section { id: "charts", title: "Over Time", blocks })
}

/// A time on the charts: one interval, or several that are too close together.
struct Moment<'a> {
    rows: &'a [&'a IntervalRow],
}

struct Times<'a> {
    run: &'a RunRecord,
    rows: Vec<Moment<'a>>,
}

/// Groups intervals into at most `most` moments, in order.
fn merged<'a>(rows: &'a [&'a IntervalRow], most: usize) -> Vec<Moment<'a>> {
    let each = rows.len().div_ceil(most).max(1);
    rows.chunks(each).map(|rows| Moment { rows }).collect()
}

impl Moment<'_> {
    fn from(&self) -> f64 {
        self.rows[0].from_ns as f64 / 1e9
    }

    fn to(&self) -> f64 {
        self.rows[self.rows.len() - 1].to_ns as f64 / 1e9
    }

    fn middle(&self) -> f64 {
        f64::midpoint(self.from(), self.to())
    }

    fn per_second(&self, series: Series) -> f64 {
        let span: u64 = self.rows.iter().map(|row| row.span_ns()).sum();
        let count: u64 = self.parts(series).map(|part| part.latency.count).sum();
        if span == 0 {
            return 0.0;
        }
        count as f64 * 1e9 / span as f64
    }

    /// Whether the load was stopped on purpose: tuning begins without sessions, so a rate of zero
    /// then is no failure of the storage.
    fn is_between_loads(&self) -> bool {
        let is_tuning = self.rows.iter().all(|row| row.phase == Phase::Tune);
        is_tuning && self.transactional_iops() == 0.0
    }

    fn transactional_iops(&self) -> f64 {
        self.per_second(Series::DatabaseRead) + self.per_second(Series::DatabaseWrite)
    }

    fn parts(&self, series: Series) -> impl Iterator<Item = &SeriesRow> {
        self.rows.iter().filter_map(move |row| row.series.get(&series))
    }

    /// Mean in milliseconds over all requests; `None` if there were none.
    fn mean_ms(&self, series: Series) -> Option<f64> {
        weighted_mean_ms(self.parts(series))
    }

    /// The worst 99th percentile of the intervals in milliseconds.
    fn p99_ms(&self, series: Series) -> Option<f64> {
        let p99 = self.parts(series).map(|part| part.latency.p99_ns).max()?;
        Some(format::as_milliseconds(p99))
    }

    /// Requests by latency.
    fn spread(&self, series: Series) -> Vec<u64> {
        let mut sum: Vec<u64> = Vec::new();
        for spread in self.rows.iter().filter_map(|row| row.spread(series)) {
            sum.resize(spread.counts().count(), 0);
            sum.iter_mut().zip(spread.counts()).for_each(|(sum, count)| *sum += count);
        }
        sum
    }

    /// The mean of one database in milliseconds.
    fn mean_of_ms(&self, series: Series, database: u32) -> Option<f64> {
        let rows = self.rows.iter().flat_map(|row| &row.databases);
        let of_database = rows.filter(|of| of.index == database);
        weighted_mean_ms(of_database.filter_map(|of| of.series.get(&series)))
    }

    /// The longest latency of all, in milliseconds.
    fn longest_ms(&self, series: Series) -> Option<f64> {
        let longest = self.parts(series).map(|part| part.latency.maximum_ns).max()?;
        Some(longest as f64 / 1e6)
    }

    /// The lowest and the highest mean of any database, in milliseconds.
    fn range_ms(&self, series: Series, databases: &[u32]) -> Option<(f64, f64)> {
        let means = databases.iter().filter_map(|&index| self.mean_of_ms(series, index));
        means.fold(None, |range, mean| match range {
            None => Some((mean, mean)),
            Some((low, high)) => Some((mean.min(low), mean.max(high))),
        })
    }
}

/// Mean in milliseconds over all requests; `None` if there were none.
pub(crate) fn weighted_mean_ms<'a>(parts: impl Iterator<Item = &'a SeriesRow>) -> Option<f64> {
    let (count, sum) = parts.fold((0, 0.0), |(count, sum), part| {
        let of_part = part.latency.count;
        (count + of_part, sum + part.latency.mean_ns * of_part as f64)
    });
    (count > 0).then(|| sum / count as f64 / 1e6)
}

impl Times<'_> {
    /// The measured parts: one, and one more after each break.
    fn judged(&self) -> Vec<(f64, f64)> {
        let last_ns = self.run.intervals.last().map(|row| row.to_ns);
        spans_of(self.run, Phase::Measure)
            .filter_map(|span| {
                let end_ns = span.to_ns.or(last_ns)?;
                Some((span.from_ns as f64 / 1e9, end_ns as f64 / 1e9))
            })
            .collect()
    }

    fn load(&self) -> Option<Picture> {
        let reads = self.rates(|row| row.per_second(Series::DatabaseRead));
        let writes = self.rates(|row| row.per_second(Series::DatabaseWrite));
        let total = self.rates(|row| {
            row.per_second(Series::DatabaseRead) + row.per_second(Series::DatabaseWrite)
        });
        let hints = self.rows.iter().filter(|row| !row.is_between_loads()).map(|row| Hint {
            from: row.from(),
            to: row.to(),
            text: format!(
                "{}: {} IOPS ({} reads, {} writes)",
                hint_time(row),
                format::three_digits(row.transactional_iops()),
                format::three_digits(row.per_second(Series::DatabaseRead)),
                format::three_digits(row.per_second(Series::DatabaseWrite))
            ),
        });
        let target = self.run.target_iops().map(|target| Threshold {
            label: format!("target {}", format::three_digits(target)),
            value: target,
            is_goal: true,
        });
        TimeChart {
            title: "Transactional IOPS".to_owned(),
            description: format!(
                "Database reads and writes per second over the time of the run; {} on average.",
                format::three_digits(self.run.achieved_transactional_iops())
            ),
            metric: "achieved-transactional-iops",
            unit: "/s",
            wide: true,
            lines: vec![
                ChartLine::of_pieces("Database writes", Ink::Write, writes),
                ChartLine::of_pieces("Database reads", Ink::Read, reads),
                ChartLine::of_pieces("Both: transactional IOPS", Ink::Total, total),
            ],
            thresholds: target.into_iter().collect(),
            judged: self.judged(),
            hints: hints.collect(),
            ..TimeChart::default()
        }
        .drawn()
    }

    /// A rate at every moment, with gaps while the load was stopped on purpose.
    fn rates(&self, rate: impl Fn(&Moment<'_>) -> f64) -> Vec<Vec<(f64, f64)>> {
        self.rows
            .split(Moment::is_between_loads)
            .filter(|rows| !rows.is_empty())
            .map(|rows| match rows {
                // A line needs two points.
                [alone] => vec![(alone.from(), rate(alone)), (alone.to(), rate(alone))],
                rows => rows.iter().map(|row| (row.middle(), rate(row))).collect(),
            })
            .collect()
    }

    /// A value at every moment that has one.
    fn points(&self, value: impl Fn(&Moment) -> Option<f64>) -> Vec<(f64, f64)> {
        self.rows.iter().filter_map(|row| Some((row.middle(), value(row)?))).collect()
    }

    /// Mean and 99th percentile over time; `limits` apply to the mean and to the worst interval, in
    /// nanoseconds.
    fn latency(
        &self,
        series: Series,
        ink: Ink,
        metric: &'static str,
        limits: Option<(u64, u64)>,
    ) -> Option<Picture> {
        let hints = self.rows.iter().filter_map(|row| {
            let (mean, p99) = (row.mean_ms(series)?, row.p99_ms(series)?);
            let text = format!(
                "{}: {} ms on average, p99 {} ms, longest {} ms{}",
                hint_time(row),
                format::three_digits(mean),
                format::three_digits(p99),
                format::three_digits(row.longest_ms(series)?),
                self.said_of_each(row, series)
            );
            Some(Hint { from: row.from(), to: row.to(), text })
        });
        let thresholds = limits.into_iter().flat_map(|(average, maximum)| {
            [threshold("average", average), threshold("any interval", maximum)]
        });
        let tail = self.points(|row| row.p99_ms(series));
        let average = self.points(|row| row.mean_ms(series));
        TimeChart {
            title: format!("{}: latency", series.name()),
            description: self.describe(series),
            metric,
            unit: "ms",
            logarithmic: true,
            lines: vec![
                ChartLine::new("99th percentile", Ink::Tail, tail),
                ChartLine::new("Average", ink, average),
            ],
            band: self.band(series),
            each: self.each(series),
            thresholds: thresholds.collect(),
            judged: self.judged(),
            hints: hints.collect(),
            ..TimeChart::default()
        }
        .drawn()
    }

    /// Latency distribution over time; `average_ns` is the limit of the mean.
    fn heat(
        &self,
        series: Series,
        ink: Ink,
        metric: &'static str,
        average_ns: u64,
    ) -> Option<Picture> {
        let hints = self.rows.iter().filter_map(|row| {
            let text = format!(
                "{}: {} requests, p99 {} ms, longest {} ms",
                hint_time(row),
                format::whole(row.parts(series).map(|part| part.latency.count).sum()),
                format::three_digits(row.p99_ms(series)?),
                format::three_digits(row.longest_ms(series)?),
            );
            Some(Hint { from: row.from(), to: row.to(), text })
        });
        let columns = self.rows.iter().map(|row| HeatColumn {
            from: row.from(),
            to: row.to(),
            counts: row.spread(series),
        });
        TimeChart {
            title: format!("{}: latency distribution", series.name()),
            description: self.describe(series),
            metric,
            unit: "ms",
            logarithmic: true,
            heat: HeatMap { columns: columns.collect(), ink: Some(ink) },
            thresholds: vec![threshold("average", average_ns)],
            judged: self.judged(),
            hints: hints.collect(),
            ..TimeChart::default()
        }
        .drawn()
    }

    /// Indices of the databases that have separate lines.
    fn lined(&self) -> Vec<u32> {
        let databases = &self.run.start.databases;
        let is_lined = (2..=MOST_LINES).contains(&databases.len());
        databases.iter().filter(|_| is_lined).map(|of| of.index).collect()
    }

    fn each(&self, series: Series) -> Vec<Vec<(f64, f64)>> {
        self.lined().into_iter().map(|database| self.line_of(series, database)).collect()
    }

    /// The means of one database over time.
    fn line_of(&self, series: Series, database: u32) -> Vec<(f64, f64)> {
        self.rows
            .iter()
            .filter_map(|row| Some((row.middle(), row.mean_of_ms(series, database)?)))
            .collect()
    }

    /// The mean of each database at a moment, after the database's name; empty without separate
    /// lines.
    fn said_of_each(&self, row: &Moment<'_>, series: Series) -> String {
        let mut said = String::new();
        for index in self.lined() {
            let mean = row.mean_of_ms(series, index).map_or("-".to_owned(), format::three_digits);
            let _ = write!(said, "; {} {mean}", meaning::database_name(self.run, index));
        }
        said
    }

    fn band(&self, series: Series) -> Vec<(f64, f64, f64)> {
        let databases: Vec<u32> = self.run.start.databases.iter().map(|of| of.index).collect();
        if databases.len() < 2 {
            return Vec::new();
        }
        self.rows
            .iter()
            .filter_map(|row| {
                let (low, high) = row.range_ms(series, &databases)?;
                Some((row.middle(), low, high))
            })
            .collect()
    }

    fn describe(&self, series: Series) -> String {
        let sum = self.run.sum_of(Phase::Measure);
        sum.series.get(&series).map_or_else(
            || "None were measured.".to_owned(),
            |total| {
                let summary = total.latency.summary();
                format!(
                    "Over the time of the run; {} on average, 99 percent within {}.",
                    format::latency(summary.mean_ns),
                    format::latency(summary.p99_ns as f64)
                )
            },
        )
    }
}

fn threshold(label: &str, nanoseconds: u64) -> Threshold {
    let value = format::as_milliseconds(nanoseconds);
    Threshold { label: format!("{label} at most {value:.0} ms"), value, is_goal: false }
}

fn hint_time(row: &Moment) -> String {
    format::offset(row.rows[0].from_ns)
}

fn percentiles(run: &RunRecord) -> Option<Picture> {
    let sum = run.sum_of(Phase::Measure);
    let kinds = [
        (Series::DatabaseWrite, Ink::Write),
        (Series::LogWrite, Ink::Log),
        (Series::DatabaseRead, Ink::Read),
    ];
    let mut said = Vec::new();
    let mut lines = Vec::new();
    for (series, ink) in kinds {
        let Some(total) = sum.series.get(&series).filter(|of| !of.latency.is_empty()) else {
            continue;
        };
        let latency = &total.latency;
        let shares = PercentileChart::shares(latency.count());
        let points = shares
            .into_iter()
            .map(|share| (share, format::as_milliseconds(latency.quantile(share))));
        lines.push(ChartLine::new(series.name(), ink, points.collect()));
        let p999 = format::latency(latency.quantile(0.999) as f64);
        said.push(format!("{}: 99.9 percent within {p999}.", series.name()));
    }
    if lines.is_empty() {
        return None;
    }
    let chart = PercentileChart {
        title: "Latency by percentile".to_owned(),
        description: said.join(" "),
        metric: "latency-percentile",
        lines,
        thresholds: Vec::new(),
    };
    Some(chart.picture())
}

#[cfg(test)]
mod tests {
    use record::Phase;

    use super::section;
    use crate::document::Block;
    use crate::tests::passing;

    /// The chart of the load.
    fn load(run: &record::RunRecord) -> String {
        let section = section(run).expect("charts");
        let Some(Block::Pictures(pictures)) = section.blocks.first() else { return String::new() };
        pictures[0].svg.clone()
    }

    /// A run that was resumed was measured in several parts.
    #[test]
    fn what_is_between_two_parts_is_not_judged() {
        let mut run = passing();
        let idle = |run: &record::RunRecord| load(run).matches("class=\"idle\"").count();
        let before = idle(&run);
        let at = run.phases.iter().position(|span| span.phase == Phase::Measure).expect("one");
        let whole = run.phases.remove(at);
        let fifth_ns = whole.to_ns.expect("an end").saturating_sub(whole.from_ns) / 5;
        for part in [0, 2, 4] {
            let from_ns = whole.from_ns + part * fifth_ns;
            let to_ns = Some(from_ns + fifth_ns);
            run.phases.push(record::PhaseSpan { from_ns, to_ns, ..whole });
        }
        assert_eq!(idle(&run), before + 2);
    }

    #[test]
    fn a_load_that_tuning_stopped_is_a_gap_and_a_stalled_one_a_fall() {
        let mut run = passing();
        let before = load(&run);
        assert_eq!(before.matches("<polyline").count(), 3);
        let at = run.intervals.iter().position(|row| row.phase == Phase::Measure).expect("one");
        let mut stopped = run.intervals[at].clone();
        stopped.series.clear();
        (stopped.to_ns, stopped.from_ns) = (stopped.from_ns, stopped.from_ns - 100_000_000);
        run.intervals.insert(at, stopped.clone());
        run.intervals[at].phase = Phase::Tune;
        let tuned = load(&run);
        assert_eq!(tuned.matches("<polyline").count(), 6, "{tuned}");
        assert!(!tuned.contains(": 0 IOPS"), "{tuned}");
        run.intervals[at].phase = Phase::Warm;
        let stalled = load(&run);
        assert_eq!(stalled.matches("<polyline").count(), 3);
        assert!(stalled.contains(": 0 IOPS"), "{stalled}");
    }
}
