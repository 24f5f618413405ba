//! The limits of a run as one text: the name of their set, and each limit that differs from it.

use record::Thresholds;

/// The text; runs with the same limits have the same one.
pub(super) fn text(limits: &Thresholds) -> String {
    let usual = match limits.name.as_str() {
        "lenient" => Thresholds::lenient(),
        _ => Thresholds::strict(),
    };
    let both = all(limits).into_iter().zip(all(&usual));
    let others = both.filter(|(limit, usual)| limit != usual).map(|((name, limit), _)| {
        let limit = limit.map_or_else(|| "none".to_owned(), |limit| limit.to_string());
        format!("{name} {limit}")
    });
    std::iter::once(limits.name.clone()).chain(others).collect::<Vec<_>>().join(", ")
}

fn all(of: &Thresholds) -> [(&'static str, Option<f64>); 14] {
    [
        ("mean ms of reads", ms(Some(of.read_average_ns))),
        ("mean ms of reads in an interval", ms(Some(of.read_maximum_ns))),
        ("mean ms of log writes", ms(Some(of.log_write_average_ns))),
        ("mean ms of log writes in an interval", ms(Some(of.log_write_maximum_ns))),
        ("ms of the longest request", ms(of.longest_request_ns)),
        ("ms of 99 % of reads", ms(of.read_p99_ns)),
        ("ms of 99 % of log writes", ms(of.log_write_p99_ns)),
        ("bytes read per second", of.read_rate_bytes_per_second.map(|rate| rate as f64)),
        ("ms to replay a log file", ms(of.replay_ns_per_log)),
        ("page-fault stalls per second", Some(of.page_fault_stalls_per_second)),
        ("% of the target", Some(of.target_reached_percent)),
        ("least ms measured", ms(Some(of.minimum_measure_ns))),
        ("least reads", Some(of.minimum_reads as f64)),
        ("least log writes", Some(of.minimum_log_writes as f64)),
    ]
}

fn ms(ns: Option<u64>) -> Option<f64> {
    ns.map(|ns| ns as f64 / 1e6)
}
