//! Figures of the runs for monitoring: counts by outcome, and live runs. This module only has the
//! data; `text`, `protobuf` and `otlp` are three ways to encode it.

mod latencies;
mod live_run;
pub(crate) mod otlp;
mod protobuf;
mod text;
mod volumes;

use std::collections::BTreeMap;

use crate::runs::{Known, Listed, ServedRuns};
use crate::sets::{self, ServedSet};

pub(crate) use latencies::Latencies;
use live_run::of_run;

/// A metric: its name, meaning and samples.
pub(crate) struct Metric {
    name: &'static str,
    help: &'static str,
    samples: Vec<Sample>,
}

/// The `verdict` of a run or set that has not ended.
const LIVE: &str = "live";

/// Names and values that distinguish samples.
type Labels = Vec<(&'static str, String)>;

/// A value with its labels.
pub(crate) struct Sample {
    labels: Labels,
    value: SampleValue,
}

/// Value of a sample.
pub(crate) enum SampleValue {
    /// A level.
    Level(f64),
    /// Cumulative latencies since the run began.
    Latencies(Latencies),
}

/// An encoding of metrics for a scrape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScrapeFormat {
    /// Text lines, with classic histograms.
    Text,
    /// Protobuf messages with native histograms, which the text format lacks.
    Protobuf,
}

impl ScrapeFormat {
    /// The format for a scraper with this `Accept` header; one that prefers protobuf lists it
    /// first.
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
    /// A gauge with a sample per label set.
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

    /// A gauge of a run with these labels.
    fn one(labels: &Labels, name: &'static str, help: &'static str, value: f64) -> Self {
        Self::levels(name, help, [(labels.clone(), value)])
    }

    fn is_histogram(&self) -> bool {
        self.samples.iter().any(|sample| matches!(sample.value, SampleValue::Latencies(_)))
    }
}

/// The metrics at `now_ns` since 1970: runs as of the last walk, and live ones with the current
/// state of their journals.
pub(crate) fn of_all(runs: &ServedRuns, now_ns: u64) -> Vec<Metric> {
    let all = runs.known();
    let live = all.iter().filter(|run| run.is_live);
    let live = live.filter_map(|run| runs.followed(run, |of| of_run(&run.id, of, now_ns)));
    let sets = sets::of(&all, &runs.root_name());
    joined(&all, &sets, live.flatten())
}

/// All metrics of `runs`, of the `sets` among them and of the live ones: each name once.
fn joined(runs: &[Listed], sets: &[ServedSet], live: impl Iterator<Item = Metric>) -> Vec<Metric> {
    let mut metrics = vec![counted(runs)];
    metrics.extend(volumes::last_verdicts(runs, sets));
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
            _ if run.is_live => LIVE,
            Known::Unread => "unread",
            Known::Unreadable(_) => "unreadable",
            Known::Summary(summary) => summary.outcome.as_deref().unwrap_or("not_judged"),
        };
        *counts.entry(verdict).or_default() += 1.0;
    }
    let samples =
        counts.into_iter().map(|(verdict, count)| (vec![("verdict", verdict.to_owned())], count));
    Metric::levels("plimsoll_runs", "Runs in the served folder, by verdict.", samples)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::text::text;
    use super::{ScrapeFormat, counted};
    use crate::runs::{Known, Listed};
    use crate::summary::RunLine;

    fn run(verdict: &str, outcome: Option<&str>) -> Listed {
        let (verdict, outcome) = (verdict.to_owned(), outcome.map(str::to_owned));
        let line = RunLine { verdict, outcome, ..RunLine::default() };
        Listed::made_up("run", false, Known::Summary(Arc::new(line)))
    }

    #[test]
    fn runs_are_counted_by_verdicts_as_programs_spell_them() {
        let counted = counted(&[
            run("Pass", Some("pass")),
            run("Pass, not steady", Some("pass")),
            run("Cannot judge", Some("cannot_judge")),
            run("Simulated host of a deployment", None),
            Listed::made_up("live", true, Known::Unread),
            Listed::made_up("new", false, Known::Unread),
        ]);
        let text = text(&[counted]);
        for (verdict, count) in
            [("pass", 2), ("cannot_judge", 1), ("not_judged", 1), ("live", 1), ("unread", 1)]
        {
            let line = format!("plimsoll_runs{{verdict=\"{verdict}\"}} {count}\n");
            assert!(text.contains(&line), "{line} is not in\n{text}");
        }
    }

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
