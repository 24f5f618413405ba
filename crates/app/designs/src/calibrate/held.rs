//! The part of a held run that is compared with a prediction.

use record::{Histogram, Phase, RunRecord, Series, ServerLoad};
use simdisk::calibrate::{REQUESTS_OF_A_STALL, STALL_MEDIANS};

/// A held run in a comparison.
pub(super) struct HeldRun {
    /// Rates and mean latencies.
    pub load: ServerLoad,
    /// Mean latency of the reads that met no stall, in milliseconds.
    pub(crate) usual_reads_ms: Option<f64>,
    /// Stalled time as a percentage of the total time of all reads.
    pub(crate) stalled_percent: f64,
}

impl HeldRun {
    /// Extracts the figures from the measurement phase of a run.
    pub(super) fn of(record: &RunRecord) -> Self {
        let sum = record.sum_of(Phase::Measure);
        let reads = sum.series.get(&Series::DatabaseRead).filter(|of| !of.latency.is_empty());
        let usual = reads.map(|reads| usual(&reads.latency));
        Self {
            load: ServerLoad::of(record),
            usual_reads_ms: usual.map(|(mean_ns, _)| mean_ns / 1e6),
            stalled_percent: usual.map_or(0.0, |(_, stalled_percent)| stalled_percent),
        }
    }
}

/// Returns the mean latency in nanoseconds without stalls, as a calibration counts them, and the
/// percentage of the total time that stalls took.
fn usual(latencies: &Histogram) -> (f64, f64) {
    let (count, mean_ns) = latencies.within_ns(latencies.quantile(0.5) * STALL_MEDIANS);
    let stalls = latencies.count() - count;
    if stalls == 0 || stalls * REQUESTS_OF_A_STALL > latencies.count() {
        return (latencies.mean_ns(), 0.0);
    }
    let usual_ns = mean_ns * count as f64;
    (mean_ns, (1.0 - usual_ns / latencies.sum_ns() as f64) * 100.0)
}

#[cfg(test)]
mod tests {
    use record::Histogram;

    use super::usual;

    fn of(latencies: &[(u64, u64)]) -> Histogram {
        let mut histogram = Histogram::new();
        for &(count, microseconds) in latencies {
            (0..count).for_each(|_| histogram.record(microseconds * 1_000));
        }
        histogram
    }

    #[test]
    fn stalls_are_left_out_of_the_mean_and_told_apart() {
        for (latencies, mean_us, stalled_percent) in [
            ([(990, 100), (10, 1_900)].as_slice(), 118.0, 0.0),
            (&[(990, 100), (10, 99_000)], 100.0, 100.0 * 990.0 / 1_089.0),
            (&[(980, 100), (20, 99_000)], 2_078.0, 0.0),
        ] {
            let (mean_ns, stalled) = usual(&of(latencies));
            assert!((mean_ns / 1e3 / mean_us - 1.0).abs() < 0.002, "{latencies:?}: {mean_ns}");
            assert!((stalled - stalled_percent).abs() < 0.1, "{latencies:?}: {stalled}");
        }
    }
}
