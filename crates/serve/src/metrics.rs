//! Figures for Prometheus, in its text format: how many runs came to what, and the runs that go on.
//!
//! Latencies are classic histograms. Native ones are scraped as protobuf alone: no text format has
//! them yet. A Prometheus that wants them makes them of these
//! (`convert_classic_histograms_to_nhcb`).

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};

use record::{Phase, RunRecord, Series};

use crate::live;
use crate::runs::{Known, Listed};
use crate::summary::is_load;

/// The type that the text format has.
pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A metric: its name, what it means, and its samples: each with what stands behind the name, and
/// its labels.
pub(crate) struct Metric {
    name: &'static str,
    kind: &'static str,
    help: &'static str,
    samples: Vec<(&'static str, String, f64)>,
}

impl Metric {
    /// Levels, each with its labels.
    fn gauge(
        name: &'static str,
        help: &'static str,
        samples: impl IntoIterator<Item = (String, f64)>,
    ) -> Self {
        let samples = samples.into_iter().map(|(labels, value)| ("", labels, value)).collect();
        Self { name, kind: "gauge", help, samples }
    }

    /// One level of a run with these labels.
    fn one(labels: &str, name: &'static str, help: &'static str, value: f64) -> Self {
        Self::gauge(name, help, [(labels.to_owned(), value)])
    }
}

/// All metrics of `runs`, and of those that go on.
pub(crate) fn text(runs: &[Listed], live: impl Iterator<Item = Metric>) -> String {
    let mut metrics = vec![counted(runs)];
    for metric in live {
        match metrics.iter_mut().find(|known| known.name == metric.name) {
            Some(known) => known.samples.extend(metric.samples),
            None => metrics.push(metric),
        }
    }
    let mut text = String::new();
    for Metric { name, kind, help, samples } in metrics {
        let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
        for (suffix, labels, value) in samples {
            let _ = writeln!(text, "{name}{suffix}{{{labels}}} {value}");
        }
    }
    text
}

fn counted(runs: &[Listed]) -> Metric {
    let mut counts: BTreeMap<&str, f64> = BTreeMap::new();
    for run in runs {
        let verdict = match &run.known {
            Known::Unread => "unread",
            Known::Unreadable(_) => "unreadable",
            Known::Summary(summary) => &summary.verdict,
        };
        *counts.entry(verdict).or_default() += 1.0;
    }
    let samples = counts.into_iter().map(|(verdict, count)| (label("verdict", verdict), count));
    Metric::gauge("plimsoll_runs", "Runs in the served folder, by verdict.", samples)
}

/// Kinds of requests whose latencies are told, with their names.
const LATENCIES: [(Series, &str); 3] = [
    (Series::DatabaseRead, "database_read"),
    (Series::DatabaseWrite, "database_write"),
    (Series::LogWrite, "log_write"),
];

/// Latencies of the whole run so far, which only grow, as histograms.
fn latencies(run: &RunRecord, labels: &str) -> Metric {
    let mut samples = Vec::new();
    for (series, kind) in LATENCIES {
        let mut within = vec![0; live::BARS_NS.len()];
        let (mut count, mut sum_ns) = (0, 0);
        for latency in run.totals.values().filter_map(|of| of.series.get(&series)) {
            let latency = &latency.latency;
            let counts = latency.counts_within(&live::BARS_NS);
            within.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            count += latency.count();
            sum_ns += latency.sum_ns();
        }
        let labels = format!("{labels},{}", label("kind", kind));
        let ends = live::BARS_NS.iter().map(|&end_ns| (end_ns as f64 / 1e9).to_string());
        for (end, count) in ends.zip(within).chain([("+Inf".to_owned(), count)]) {
            samples.push(("_bucket", format!("{labels},{}", label("le", end)), count as f64));
        }
        samples.push(("_sum", labels.clone(), sum_ns as f64 / 1e9));
        samples.push(("_count", labels, count as f64));
    }
    let help = "Latencies of requests since the run began.";
    Metric { name: "plimsoll_run_latency_seconds", kind: "histogram", help, samples }
}

/// The metrics of a run that goes on.
pub(crate) fn of_run(id: &str, run: &RunRecord, now_ns: u64) -> Vec<Metric> {
    let labels = format!("{},{}", label("run", id), label("name", &run.start.name));
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
        let phase = format!("{labels},{}", label("phase", span.phase.name()));
        let help = "1 for the phase the run is in.";
        metrics.push(Metric::gauge("plimsoll_run_phase", help, [(phase, 1.0)]));
    }
    let Some(latest) = run.intervals.last().filter(|row| is_load(row.phase)) else {
        return metrics;
    };
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
        let labels = format!("{labels},{}", label("kind", kind));
        means.push((labels.clone(), row.latency.mean_ns / 1e9));
        highest.push((labels, row.latency.p99_ns as f64 / 1e9));
    }
    let help = "Mean latency, last interval.";
    metrics.push(Metric::gauge("plimsoll_run_latency_mean_seconds", help, means));
    let help = "99 in 100 within, last interval.";
    metrics.push(Metric::gauge("plimsoll_run_latency_p99_seconds", help, highest));
    if run.span_ns(Phase::Measure) > 0 {
        let help = "Transactional IOPS of the measurement so far.";
        let iops = run.achieved_transactional_iops();
        metrics.push(Metric::one(&labels, "plimsoll_run_achieved_iops", help, iops));
    }
    metrics
}

/// A label with its value quoted as the format asks.
fn label(name: &str, value: impl Display) -> String {
    let value = value.to_string();
    let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("{name}=\"{value}\"")
}

#[cfg(test)]
mod tests {
    use record::synthetic::Synthetic;

    use super::{label, of_run, text};

    #[test]
    fn each_metric_is_described_once_and_its_values_are_quoted() {
        let run = Synthetic::default().run();
        let live = ["a", "b\"\n"].into_iter().flat_map(|id| of_run(id, &run, 0));
        let text = text(&[], live);
        let described = text.lines().filter(|line| line.starts_with("# TYPE plimsoll_run_issues"));
        assert_eq!(described.count(), 1);
        let samples = text.lines().filter(|line| line.starts_with("plimsoll_run_issues{"));
        assert_eq!(samples.count(), 2);
        let of_a = |line: &&str| line.contains("run=\"a\"") && line.contains("kind=\"log_write\"");
        let buckets = text.lines().filter(|line| line.contains("_latency_seconds_bucket"));
        let counts = buckets.filter(of_a).map(|line| line.rsplit_once(' ').unwrap().1);
        let counts: Vec<u64> = counts.map(|count| count.parse().unwrap()).collect();
        assert!(counts.is_sorted() && counts.len() == 20, "{counts:?}");
        let whole = text.lines().filter(|line| line.contains("_latency_seconds_count"));
        let whole = whole.filter(of_a).map(|line| line.rsplit_once(' ').unwrap().1);
        assert_eq!(whole.collect::<String>(), counts.last().unwrap().to_string());
        assert!(text.contains("le=\"0.005\""), "seconds");
        assert_eq!(label("run", "b\"\\\n"), r#"run="b\"\\\n""#);
    }
}
