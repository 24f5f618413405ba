//! Requests that get rarer: if caches take over the reads of a database, its mean rate promises
//! more of them than will come.

use record::{IntervalRow, Phase, RunRecord, Series};

use super::small::is_small;

/// Requests below which a rate says too little to compare a part of it.
const FEW: u64 = 10;

/// Share of the mean rate below which reads count as falling. Chance alone leaves so few of ten
/// requests in the last third of the time once in ten runs (binomial), and of more far less often.
const FALLEN: f64 = 0.5;

/// Whether caches serve so much of the databases that waiting longer shows few further reads: the
/// cache of the engine can hold one, or reads became rare.
pub(super) fn caches_take_over(run: &RunRecord) -> bool {
    let cache_bytes = run.start.settings.cache_maximum_bytes;
    let is_held = run.start.databases.iter().any(|of| of.initial_bytes <= cache_bytes);
    is_held || (is_small(run) && latest_share(run, Series::DatabaseRead) < FALLEN)
}

/// The rate of requests in the last third of the measurement, as a share of the mean rate; 1 if it
/// is no lower, or too little was measured to tell.
pub(super) fn latest_share(run: &RunRecord, series: Series) -> f64 {
    let rows: Vec<&IntervalRow> = run.counting_intervals_of(Phase::Measure).collect();
    let latest = &rows[rows.len() - rows.len() / 3..];
    let (all, late) = (counted(&rows, series), counted(latest, series));
    if latest.is_empty() || all.0 < FEW {
        return 1.0;
    }
    (rate(late) / rate(all)).min(1.0)
}

/// Requests of these intervals, and their time.
fn counted(rows: &[&IntervalRow], series: Series) -> (u64, u64) {
    let requests = rows.iter().filter_map(|row| row.series.get(&series));
    let count = requests.map(|of| of.latency.count).sum();
    (count, rows.iter().map(|row| row.span_ns()).sum())
}

fn rate((count, span_ns): (u64, u64)) -> f64 {
    count as f64 / span_ns.max(1) as f64
}

#[cfg(test)]
mod tests {
    use record::synthetic::Synthetic;
    use record::{Phase, RunRecord, Series};

    use super::{caches_take_over, latest_share};

    /// A run whose intervals have `counts` reads.
    fn reading(counts: &[u64]) -> RunRecord {
        let measure_intervals = counts.len() as u64;
        let mut run = Synthetic { measure_intervals, ..Synthetic::default() }.run();
        let rows = run.intervals.iter_mut().filter(|row| row.phase == Phase::Measure);
        for (row, count) in rows.zip(counts) {
            row.series.get_mut(&Series::DatabaseRead).expect("reads").latency.count = *count;
        }
        run
    }

    #[test]
    fn reads_that_caches_take_over_are_told_from_reads_that_vary() {
        let faded = [43, 24, 18, 7, 3, 4, 2, 1, 1, 0, 0, 0, 1, 0];
        let told = [
            (&faded[..], true),
            (&faded[..6], true),
            (&[5, 3, 6, 4, 2, 5, 3, 4, 3], false),
            (&[3, 0, 1, 0, 0, 0], false),
            (&[11, 0], false),
        ];
        for (counts, is_taken_over) in told {
            let mut run = reading(counts);
            assert_eq!(caches_take_over(&run), is_taken_over, "{counts:?}");
            run.start.databases.iter_mut().for_each(|of| of.initial_bytes = 1 << 40);
            assert!(!caches_take_over(&run), "nothing larger than a large database is asked for");
        }
    }

    #[test]
    fn the_engine_s_cache_alone_may_hold_the_databases() {
        let mut run = reading(&[11, 13]);
        assert!(!caches_take_over(&run));
        let cache_bytes = run.start.settings.cache_maximum_bytes;
        run.start.databases[1].initial_bytes = cache_bytes;
        assert!(caches_take_over(&run));
    }

    #[test]
    fn the_latest_rate_is_no_higher_than_the_mean() {
        for (counts, share) in [([8, 8, 8, 8, 2, 2], 1.0 / 3.0), ([2, 2, 8, 8, 8, 8], 1.0)] {
            let latest = latest_share(&reading(&counts), Series::DatabaseRead);
            assert!((latest - share).abs() < 1e-9, "{counts:?}: {latest}");
        }
    }
}
