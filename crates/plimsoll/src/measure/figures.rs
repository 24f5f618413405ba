//! The figures of an interval that a person watches.

use std::time::Duration;

use record::{Interval, Series};

/// The last interval in a few words.
pub(crate) fn figures(interval: &Interval) -> String {
    let seconds = Duration::from_nanos(interval.to_ns.saturating_sub(interval.from_ns));
    let rate = |count: u64| count as f64 / seconds.as_secs_f64().max(1e-9);
    let of = |wanted: Series| {
        let all = interval.databases.iter().flat_map(|database| &database.series);
        let mine = all.filter(move |series| series.series == wanted);
        mine.fold((0_u64, 0.0), |(count, time), series| {
            let more = series.latency.count();
            (count + more, time + series.latency.mean_ns() * more as f64)
        })
    };
    let mean = |(count, time): (u64, f64)| {
        if count == 0 { 0.0 } else { time / count as f64 / 1e6 }
    };
    let (reads, writes, log) =
        (of(Series::DatabaseRead), of(Series::DatabaseWrite), of(Series::LogWrite));
    let others = interval.processors.as_deref();
    let others = others.filter(|shares| shares.has_heavy_others());
    format!(
        "{:.0} reads/s at {:.2} ms, {:.0} writes/s, {:.0} log writes/s at {:.2} ms{}",
        rate(reads.0),
        mean(reads),
        rate(writes.0),
        rate(log.0),
        mean(log),
        others.map_or_else(String::new, |shares| format!("; {shares}")),
    )
}
