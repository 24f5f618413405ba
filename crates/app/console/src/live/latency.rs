//! Latencies as shown during a live run. Requests in flight count by their age; otherwise storage
//! that stops answering would show no latency at all.

use std::fmt;

use record::{DatabaseInterval, Interval, STALL_MINIMUM_NS, Series, SeriesInterval};
use report::format::whole;

/// Latencies of one kind of request in one interval. Requests still in flight count by their age.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct SampledLatency {
    /// Mean over the requests of all databases; `None` if there were none.
    pub mean_ns: Option<f64>,
    /// The mean of the slowest database, which is compared with the limits.
    pub(crate) slowest_ns: Option<f64>,
    /// Requests without an answer at the end of the interval.
    pub waiting: u64,
    /// Age of the oldest unanswered request.
    pub(crate) oldest_ns: u64,
}

impl SampledLatency {
    /// Computes the latencies of one kind of request in this interval.
    pub(super) fn of(interval: &Interval, series: Series) -> Self {
        let (mut found, mut requests, mut time_ns) = (Self::default(), 0, 0.0);
        let span_ns = interval.to_ns.saturating_sub(interval.from_ns);
        for part in interval.databases.iter().filter_map(|one| part_of(one, series)) {
            let waiting = part.unanswered;
            let count = part.latency.count();
            let mean_ns = waiting.mean_ns((count, part.latency.mean_ns()), span_ns);
            requests += count + waiting.waiting;
            time_ns += mean_ns * (count + waiting.waiting) as f64;
            found.slowest_ns = Some(found.slowest_ns.map_or(mean_ns, |worst| worst.max(mean_ns)));
            found.waiting += waiting.waiting;
            found.oldest_ns = found.oldest_ns.max(waiting.oldest_ns);
        }
        found.mean_ns = (requests > 0).then(|| time_ns / requests as f64);
        found
    }

    /// The number of waiting requests, if one has waited for long; young ones are always present.
    pub(super) fn waiting(&self) -> Option<String> {
        (self.oldest_ns >= STALL_MINIMUM_NS).then(|| {
            let oldest = self.oldest_ns as f64 / 1e9;
            format!("{} in flight for up to {oldest:.1} s", whole(self.waiting))
        })
    }
}

impl fmt::Display for SampledLatency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&milliseconds(self.mean_ns))?;
        self.waiting().map_or(Ok(()), |waiting| write!(f, " ({waiting})"))
    }
}

/// One database's requests of this kind, if it made any.
fn part_of(database: &DatabaseInterval, wanted: Series) -> Option<&SeriesInterval> {
    let mine = database.series.iter().find(|series| series.series == wanted)?;
    (mine.latency.count() + mine.unanswered.waiting > 0).then_some(mine)
}

/// Formats a latency for people.
pub(super) fn milliseconds(nanoseconds: Option<f64>) -> String {
    nanoseconds.map_or_else(
        || "- ms".to_owned(),
        |ns| {
            let decimals = if ns < 1e9 { 2 } else { 0 };
            format!("{:.decimals$} ms", ns / 1e6)
        },
    )
}
