//! The metrics of a live run: its state, its limits, and each database.

use record::{IntervalRow, Phase, RunRecord, Series};

use super::{Labels, Latencies, Metric, Sample, SampleValue};
use crate::live;
use crate::summary::is_load;

/// Kinds of requests whose latencies are exported, with their names.
const LATENCIES: [(Series, &str); 3] = [
    (Series::DatabaseRead, "database_read"),
    (Series::DatabaseWrite, "database_write"),
    (Series::LogWrite, "log_write"),
];

/// Latencies of the whole run so far as histograms.
fn latencies(run: &RunRecord, labels: &Labels) -> Metric {
    let samples = LATENCIES.map(|(series, kind)| {
        let totals = run.totals.values().filter_map(|of| of.series.get(&series));
        let latencies = Latencies::of(totals.map(|of| &of.latency), run.start.started_epoch_ns);
        Sample { labels: of_kind(labels, kind), value: SampleValue::Latencies(latencies) }
    });
    let help = "Latencies of requests since the run began.";
    Metric { name: "plimsoll_run_latency_seconds", help, samples: samples.into() }
}

fn of_kind(labels: &Labels, kind: &str) -> Labels {
    let mut labels = labels.clone();
    labels.push(("kind", kind.to_owned()));
    labels
}

/// The metrics of a live run.
pub(super) fn of_run(id: &str, run: &RunRecord, now_ns: u64) -> Vec<Metric> {
    let labels = vec![("run", id.to_owned()), ("name", run.start.name.clone())];
    let since_ns = now_ns.saturating_sub(run.start.started_epoch_ns);
    let mut metrics = vec![
        Metric::one(
            &labels,
            "plimsoll_run_seconds",
            "Time since the run began.",
            since_ns as f64 / 1e9,
        ),
        Metric::one(
            &labels,
            "plimsoll_run_issues",
            "Errors and warnings so far.",
            (run.issues.len() as u64 + run.further_error_count()) as f64,
        ),
        latencies(run, &labels),
    ];
    if let Some(span) = run.phases.iter().rev().find(|span| span.to_ns.is_none()) {
        let mut phase = labels.clone();
        phase.push(("phase", span.phase.name().to_owned()));
        let help = "1 for the phase the run is in.";
        metrics.push(Metric::levels("plimsoll_run_phase", help, [(phase, 1.0)]));
    }
    metrics.extend(goals(run, &labels, since_ns));
    let Some(latest) = run.intervals.last().filter(|row| is_load(row.phase)) else {
        return metrics;
    };
    metrics.extend(of_databases(run, latest, &labels));
    metrics.push(Metric::one(
        &labels,
        "plimsoll_run_transactional_iops",
        "Database reads and writes of transactions per second in the last interval.",
        live::iops(latest),
    ));
    let (mut means, mut highest) = (Vec::new(), Vec::new());
    for (series, kind) in [LATENCIES[0], LATENCIES[2]] {
        let Some(row) = latest.series.get(&series).filter(|row| row.latency.count > 0) else {
            continue;
        };
        let labels = of_kind(&labels, kind);
        means.push((labels.clone(), row.latency.mean_ns / 1e9));
        highest.push((labels, row.latency.p99_ns as f64 / 1e9));
    }
    let help = "Mean latency, last interval.";
    metrics.push(Metric::levels("plimsoll_run_latency_mean_seconds", help, means));
    let help = "99 in 100 within, last interval.";
    metrics.push(Metric::levels("plimsoll_run_latency_p99_seconds", help, highest));
    if run.span_ns(Phase::Measure) > 0 {
        let help = "Transactional IOPS of the measurement so far.";
        let iops = run.achieved_transactional_iops();
        metrics.push(Metric::one(&labels, "plimsoll_run_achieved_iops", help, iops));
    }
    metrics
}

/// Limits of the run: its target, the limits of its latencies, and the remaining time.
fn goals(run: &RunRecord, labels: &Labels, since_start_ns: u64) -> Vec<Metric> {
    let limits = &run.start.settings.thresholds;
    let limits =
        [(LATENCIES[0].1, limits.read_average_ns), (LATENCIES[2].1, limits.log_write_average_ns)];
    let limits = limits.map(|(kind, limit_ns)| (of_kind(labels, kind), limit_ns as f64 / 1e9));
    let help = "Limit of the mean latency over the whole measurement.";
    let mut metrics = vec![Metric::levels("plimsoll_run_latency_limit_seconds", help, limits)];
    if let Some(target) = run.target_iops() {
        let help = "Transactional IOPS that the load is held at.";
        metrics.push(Metric::one(labels, "plimsoll_run_target_iops", help, target));
    }
    if let Some(left_ns) = live::left_to_measure_ns(run, since_start_ns) {
        let help = "Time that is still to be measured.";
        let left = left_ns as f64 / 1e9;
        metrics.push(Metric::one(labels, "plimsoll_run_left_seconds", help, left));
    }
    metrics
}

/// Rates and mean latencies of each database in the last interval.
fn of_databases(run: &RunRecord, latest: &IntervalRow, labels: &Labels) -> Vec<Metric> {
    let (mut iops, mut means) = (Vec::new(), Vec::new());
    let seconds = (latest.span_ns() as f64 / 1e9).max(1e-9);
    for facts in &run.start.databases {
        let Some(row) = latest.databases.iter().find(|row| row.index == facts.index) else {
            continue;
        };
        let mut labels = labels.clone();
        labels.push(("database", facts.file.clone()));
        let counts = [Series::DatabaseRead, Series::DatabaseWrite]
            .map(|series| row.series.get(&series).map_or(0, |of| of.latency.count));
        let requests = counts[0] + counts[1];
        iops.push((labels.clone(), requests as f64 / seconds));
        for (series, kind) in [LATENCIES[0], LATENCIES[2]] {
            let found = row.series.get(&series).filter(|of| of.latency.count > 0);
            means.extend(found.map(|of| (of_kind(&labels, kind), of.latency.mean_ns / 1e9)));
        }
    }
    let rate = "Reads and writes of each database per second in the last interval.";
    let mean = "Mean latency of each database, last interval.";
    vec![
        Metric::levels("plimsoll_database_iops", rate, iops),
        Metric::levels("plimsoll_database_latency_mean_seconds", mean, means),
    ]
}
