//! Figures of the runs for monitoring: how many came to what, and those that go on. They are data
//! here; `text`, `protobuf` and `otlp` are three ways to write them.

mod latencies;
pub(crate) mod otlp;
mod protobuf;
mod text;

use std::collections::BTreeMap;

use record::{Phase, RunRecord, Series};

use crate::live;
use crate::runs::{Known, Listed, ServedRuns};
use crate::summary::is_load;

pub(crate) use latencies::Latencies;

/// A metric: its name, what it means, and its samples.
pub(crate) struct Metric {
    name: &'static str,
    help: &'static str,
    samples: Vec<Sample>,
}

/// Names and values that tell one sample from another.
type Labels = Vec<(&'static str, String)>;

/// A value with its labels.
pub(crate) struct Sample {
    labels: Labels,
    value: SampleValue,
}

/// What a sample says.
pub(crate) enum SampleValue {
    /// A level.
    Level(f64),
    /// Latencies since the run began, which only grow.
    Latencies(Latencies),
}

/// A way to write metrics for a scrape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScrapeFormat {
    /// Lines of text, with classic histograms.
    Text,
    /// Messages with native histograms, which no text has.
    Protobuf,
}

impl ScrapeFormat {
    /// What a scraper that accepts this is given; one that weighs protobuf highest names it first.
    pub(crate) fn of_accept(accept: &str) -> Self {
        let first = accept.split(',').next().unwrap_or_default();
        let mut parts = first.split(';').map(str::trim);
        let is_protobuf = parts.next() == Some("application/vnd.google.protobuf")
            && parts.clone().any(|part| part == "proto=io.prometheus.client.MetricFamily")
            && parts.any(|part| part == "encoding=delimited");
        if is_protobuf { Self::Protobuf } else { Self::Text }
    }

    /// The type of the answer.
    pub(crate) const fn content_type(self) -> &'static str {
        match self {
            Self::Text => "text/plain; version=0.0.4; charset=utf-8",
            Self::Protobuf => {
                "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; \
                 encoding=delimited"
            }
        }
    }

    /// The answer.
    pub(crate) fn write(self, metrics: &[Metric]) -> Vec<u8> {
        match self {
            Self::Text => text::text(metrics).into_bytes(),
            Self::Protobuf => protobuf::families(metrics),
        }
    }
}

impl Metric {
    /// Levels, each with its labels.
    fn levels(
        name: &'static str,
        help: &'static str,
        samples: impl IntoIterator<Item = (Labels, f64)>,
    ) -> Self {
        let samples = samples
            .into_iter()
            .map(|(labels, value)| Sample { labels, value: SampleValue::Level(value) });
        Self { name, help, samples: samples.collect() }
    }

    /// One level of a run with these labels.
    fn one(labels: &Labels, name: &'static str, help: &'static str, value: f64) -> Self {
        Self::levels(name, help, [(labels.clone(), value)])
    }

    fn is_histogram(&self) -> bool {
        self.samples.iter().any(|sample| matches!(sample.value, SampleValue::Latencies(_)))
    }
}

/// The metrics at `now_ns` since 1970: runs as the last look has found them, and those that go on
/// as their journals tell them now.
pub(crate) fn of_all(runs: &ServedRuns, now_ns: u64) -> Vec<Metric> {
    let all = runs.known();
    let live = all.iter().filter(|run| run.is_live);
    let live = live.filter_map(|run| runs.followed(run, |of| of_run(&run.id, of, now_ns)));
    joined(&all, live.flatten())
}

/// All metrics of `runs`, and of those that go on: each name once.
fn joined(runs: &[Listed], live: impl Iterator<Item = Metric>) -> Vec<Metric> {
    let mut metrics = vec![counted(runs)];
    for metric in live {
        match metrics.iter_mut().find(|known| known.name == metric.name) {
            Some(known) => known.samples.extend(metric.samples),
            None => metrics.push(metric),
        }
    }
    metrics.retain(|metric| !metric.samples.is_empty());
    metrics
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
    let samples =
        counts.into_iter().map(|(verdict, count)| (vec![("verdict", verdict.to_owned())], count));
    Metric::levels("plimsoll_runs", "Runs in the served folder, by verdict.", samples)
}

/// Kinds of requests whose latencies are told, with their names.
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

/// The metrics of a run that goes on.
fn of_run(id: &str, run: &RunRecord, now_ns: u64) -> Vec<Metric> {
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

#[cfg(test)]
mod tests {
    use super::ScrapeFormat;

    #[test]
    fn protobuf_is_for_those_who_want_it_first() {
        let wanted = "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; \
                      encoding=delimited;q=0.7";
        let format = ScrapeFormat::of_accept(&wanted.replace(";q=0.7", ";q=0.7,text/plain;q=0.3"));
        assert_eq!(format, ScrapeFormat::Protobuf);
        let unlike = ["text/plain", "", "*/*", "application/vnd.google.protobuf"];
        for accept in unlike.map(str::to_owned).into_iter().chain([format!("text/plain,{wanted}")])
        {
            assert_eq!(ScrapeFormat::of_accept(&accept), ScrapeFormat::Text, "{accept}");
        }
    }
}
