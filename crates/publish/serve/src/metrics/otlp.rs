//! Encodes metrics for OpenTelemetry over HTTP: the request `ExportMetricsServiceRequest` in its
//! JSON encoding, in which 64-bit numbers are text and enumerations are numbers.

use serde_json::{Value, json};

use super::latencies::{SCALE, ZERO_S};
use super::{Labels, Latencies, Metric, Sample, SampleValue};

/// `AGGREGATION_TEMPORALITY_CUMULATIVE`: every push covers the whole run so far.
const CUMULATIVE: u32 = 2;

/// The request that reports `metrics` as of `now_ns` since 1970.
pub(crate) fn request(metrics: &[Metric], now_ns: u64) -> Value {
    json!({ "resourceMetrics": [{
        "resource": { "attributes": attributes(&vec![
            ("service.name", "plimsoll".to_owned()),
            ("service.version", env!("CARGO_PKG_VERSION").to_owned()),
        ]) },
        "scopeMetrics": [{
            "scope": { "name": "plimsoll", "version": env!("CARGO_PKG_VERSION") },
            "metrics": metrics.iter().map(|metric| described(metric, now_ns)).collect::<Value>(),
        }],
    }] })
}

fn described(metric: &Metric, now_ns: u64) -> Value {
    let points: Value = metric.samples.iter().map(|sample| point(sample, now_ns)).collect();
    let mut told = json!({
        "name": metric.name,
        "description": metric.help,
        "unit": if metric.name.ends_with("_seconds") { "s" } else { "1" },
    });
    if metric.is_histogram() {
        told["exponentialHistogram"] =
            json!({ "aggregationTemporality": CUMULATIVE, "dataPoints": points });
    } else {
        told["gauge"] = json!({ "dataPoints": points });
    }
    told
}

fn attributes(labels: &Labels) -> Value {
    let attribute =
        |(name, value): &(_, String)| json!({ "key": name, "value": { "stringValue": value } });
    labels.iter().map(attribute).collect()
}

fn point(sample: &Sample, now_ns: u64) -> Value {
    let mut point = match &sample.value {
        SampleValue::Level(value) => json!({ "asDouble": value }),
        SampleValue::Latencies(of) => histogram(of),
    };
    point["attributes"] = attributes(&sample.labels);
    point["timeUnixNano"] = json!(now_ns.to_string());
    point
}

fn histogram(of: &Latencies) -> Value {
    let counts: Value = of.buckets.iter().map(|count| json!(count.to_string())).collect();
    json!({
        "startTimeUnixNano": of.since_ns.to_string(),
        "count": of.count.to_string(),
        "sum": of.sum_s,
        "scale": SCALE,
        "zeroCount": of.zero.to_string(),
        "zeroThreshold": ZERO_S,
        // OpenTelemetry names a bucket by its lower end, Prometheus by its upper end.
        "positive": { "offset": of.first - 1, "bucketCounts": counts },
    })
}

#[cfg(test)]
mod tests {
    use record::synthetic::Synthetic;

    use super::super::{joined, of_run};
    use super::request;

    #[test]
    fn a_run_is_told_with_its_latencies_and_long_numbers_are_text() {
        let run = Synthetic::default().run();
        let metrics = joined(&[], &[], of_run("a", &run, 0).into_iter());
        let told = request(&metrics, 1_795_219_200_000_000_000);
        let metrics = &told["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
        let all = metrics.as_array().unwrap();
        let latency = all.iter().find(|of| of["name"] == "plimsoll_run_latency_seconds").unwrap();
        assert_eq!(latency["unit"], "s");
        let point = &latency["exponentialHistogram"]["dataPoints"][0];
        assert_eq!(point["timeUnixNano"], "1795219200000000000");
        let number = |value: &serde_json::Value| value.as_str().unwrap().parse::<u64>().unwrap();
        let counts = point["positive"]["bucketCounts"].as_array().unwrap();
        let counted: u64 = counts.iter().map(number).sum();
        assert_eq!(counted + number(&point["zeroCount"]), number(&point["count"]));
        assert!(all.iter().all(|of| of["name"] != "plimsoll_runs"), "there is none to count");
    }
}
