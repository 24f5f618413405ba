//! Selects the requests of a load that count: all but those that met a stall of the storage.
//!
//! A shared disk stalls now and then. Equal held runs on one had reads of 324, 146, 122, 138 and
//! 125 us on average, and of 103, 106, 104, 102 and 115 us without stalls, which were 3 to 22 in
//! 10,000 requests.

/// A request that takes more than this many times the median of its load has met a stall: queues
/// and collisions cause no such times. For the runs above, 10 or 30 would exclude almost the same
/// requests.
pub const STALL_MEDIANS: u64 = 20;

/// If more than one request in this many takes that long, it is the storage's normal behaviour, and
/// all of them count.
pub const REQUESTS_OF_A_STALL: u64 = 100;

/// Mean of `latencies` without stalls, in their unit; 0 if empty.
pub(super) fn mean_without_stalls(latencies: &mut [u64]) -> f64 {
    latencies.sort_unstable();
    let count = latencies.len() as u64;
    let median = latencies.get(latencies.len() / 2).copied().unwrap_or_default();
    let usual = latencies.partition_point(|latency| *latency <= median * STALL_MEDIANS);
    let are_stalls = (count - usual as u64) * REQUESTS_OF_A_STALL <= count;
    let counted = if are_stalls { &latencies[..usual] } else { latencies };
    counted.iter().sum::<u64>() as f64 / counted.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::mean_without_stalls;

    #[test]
    fn a_stall_does_not_count_and_a_habit_does() {
        let mut latencies = vec![100; 299];
        latencies.push(1_900);
        assert!((mean_without_stalls(&mut latencies) - 106.0).abs() < 1e-9, "a long queue");
        latencies[10] = 1_000_000;
        assert!((mean_without_stalls(&mut latencies) - 31_700.0 / 299.0).abs() < 1e-9);
        latencies[..4].fill(1_000_000);
        let mean = mean_without_stalls(&mut latencies);
        assert!((mean - 5_031_300.0 / 300.0).abs() < 1e-9, "five in 300 are no stalls: {mean}");
        assert!((mean_without_stalls(&mut [7, 9]) - 8.0).abs() < 1e-9);
        assert!(mean_without_stalls(&mut []).abs() < 1e-9);
    }
}
