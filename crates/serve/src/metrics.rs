//! Figures for Prometheus, in its text format: how many runs came to what, and the runs that go on.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};

use record::{Phase, RunRecord, Series};

use crate::live;
use crate::runs::{Known, Listed};
use crate::summary::is_load;

/// The type that the text format has.
pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A metric: its name, what it means, and its samples with their labels.
pub(crate) type Gauge = (&'static str, &'static str, Vec<(String, f64)>);

/// All metrics of `runs`, and of those that go on.
pub(crate) fn text(runs: &[Listed], live: impl Iterator<Item = Gauge>) -> String {
    let mut metrics = vec![counted(runs)];
    for (name, help, samples) in live {
        match metrics.iter_mut().find(|(known, ..)| *known == name) {
            Some((.., known)) => known.extend(samples),
            None => metrics.push((name, help, samples)),
        }
    }
    let mut text = String::new();
    for (name, help, samples) in metrics {
        let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n");
        for (labels, value) in samples {
            let _ = writeln!(text, "{name}{{{labels}}} {value}");
        }
    }
    text
}

fn counted(runs: &[Listed]) -> Gauge {
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
    ("plimsoll_runs", "Runs in the served folder, by verdict.", samples.collect())
}

/// The metrics of a run that goes on.
pub(crate) fn of_run(id: &str, run: &RunRecord, now_ns: u64) -> Vec<Gauge> {
    let labels = format!("{},{}", label("run", id), label("name", &run.start.name));
    let since_ns = now_ns.saturating_sub(run.start.started_epoch_ns);
    let one = |value| vec![(labels.clone(), value)];
    let mut metrics = vec![
        ("plimsoll_run_seconds", "Time since the run began.", one(since_ns as f64 / 1e9)),
        ("plimsoll_run_issues", "Errors and warnings so far.", one(run.issues.len() as f64)),
    ];
    if let Some(span) = run.phases.iter().rev().find(|span| span.to_ns.is_none()) {
        let phase = format!("{labels},{}", label("phase", span.phase.name()));
        metrics.push(("plimsoll_run_phase", "1 for the phase the run is in.", vec![(phase, 1.0)]));
    }
    let Some(latest) = run.intervals.last().filter(|row| is_load(row.phase)) else {
        return metrics;
    };
    metrics.push((
        "plimsoll_run_transactional_iops",
        "Database reads and writes of transactions per second in the last interval.",
        one(live::iops(latest)),
    ));
    let (mut means, mut highest) = (Vec::new(), Vec::new());
    for (series, kind) in [(Series::DatabaseRead, "database_read"), (Series::LogWrite, "log_write")]
    {
        let Some(row) = latest.series.get(&series).filter(|row| row.latency.count > 0) else {
            continue;
        };
        let labels = format!("{labels},{}", label("kind", kind));
        means.push((labels.clone(), row.latency.mean_ns / 1e9));
        highest.push((labels, row.latency.p99_ns as f64 / 1e9));
    }
    metrics.push(("plimsoll_run_latency_mean_seconds", "Mean latency, last interval.", means));
    metrics.push(("plimsoll_run_latency_p99_seconds", "99 in 100 within, last interval.", highest));
    if run.span_ns(Phase::Measure) > 0 {
        let help = "Transactional IOPS of the measurement so far.";
        metrics.push(("plimsoll_run_achieved_iops", help, one(run.achieved_transactional_iops())));
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
        assert_eq!(label("run", "b\"\\\n"), r#"run="b\"\\\n""#);
    }
}
