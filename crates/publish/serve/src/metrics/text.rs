//! The text format of Prometheus, version 0.0.4.

use std::fmt::{Display, Write as _};

use super::{Labels, Latencies, Metric, SampleValue};
use crate::live::BARS_NS;

/// All metrics.
pub(super) fn text(metrics: &[Metric]) -> String {
    let mut text = String::new();
    for metric in metrics {
        let Metric { name, help, samples } = metric;
        let kind = if metric.is_histogram() { "histogram" } else { "gauge" };
        let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
        for sample in samples {
            match &sample.value {
                SampleValue::Level(value) => line(&mut text, name, "", &sample.labels, *value),
                SampleValue::Latencies(of) => histogram(&mut text, name, &sample.labels, of),
            }
        }
    }
    text
}

fn histogram(text: &mut String, name: &str, labels: &Labels, of: &Latencies) {
    let ends = BARS_NS.iter().map(|&end_ns| (end_ns as f64 / 1e9).to_string());
    let counts = of.within.iter().copied().chain([of.count]);
    for (end, count) in ends.chain(["+Inf".to_owned()]).zip(counts) {
        let mut labels = labels.clone();
        labels.push(("le", end));
        line(text, name, "_bucket", &labels, count);
    }
    line(text, name, "_sum", labels, of.sum_s);
    line(text, name, "_count", labels, of.count);
}

fn line(text: &mut String, name: &str, suffix: &str, labels: &Labels, value: impl Display) {
    let _ = write!(text, "{name}{suffix}{{");
    for (index, (label, value)) in labels.iter().enumerate() {
        let separator = if index == 0 { "" } else { "," };
        let _ = write!(text, "{separator}{label}=\"{}\"", quoted(value));
    }
    let _ = writeln!(text, "}} {value}");
}

/// Escapes a value as the format requires.
fn quoted(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use record::synthetic::Synthetic;

    use super::super::{joined, of_run};
    use super::{quoted, text};

    #[test]
    fn each_metric_is_described_once_and_its_values_are_quoted() {
        let run = Synthetic::default().run();
        let live = ["a", "b\"\n"].into_iter().flat_map(|id| of_run(id, &run, 0));
        let text = text(&joined(&[], &[], live));
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
        assert_eq!(quoted("b\"\\\n"), r#"b\"\\\n"#);
    }
}
