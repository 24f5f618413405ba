//! Loads that follow the hours of a day: the share of the target at each time.

/// Nanoseconds of an hour.
pub const HOUR_NS: u64 = 3_600_000_000_000;

/// Share of the target after `measured_ns` of the measurement. The hourly percents repeat after the
/// last one; 1 if there are none.
pub fn hourly_share(percent: &[f64], measured_ns: u64) -> f64 {
    let hour = usize::try_from(measured_ns / HOUR_NS).unwrap_or_default();
    percent.get(hour % percent.len().max(1)).map_or(1.0, |percent| percent / 100.0)
}

/// Mean share of the target over the first `measured_ns`; 1 if there are no percents.
pub(crate) fn mean_share(percent: &[f64], measured_ns: u64) -> f64 {
    let (mut at, mut sum) = (0, 0.0);
    while at < measured_ns {
        let next = (at + HOUR_NS).min(measured_ns);
        sum += hourly_share(percent, at) * (next - at) as f64;
        at = next;
    }
    if measured_ns == 0 { hourly_share(percent, 0) } else { sum / measured_ns as f64 }
}

#[cfg(test)]
mod tests {
    use super::{HOUR_NS, hourly_share, mean_share};

    #[test]
    fn shares_follow_the_hours_and_begin_anew() {
        let hours = [100.0, 20.0];
        let shares = [0, HOUR_NS - 1, HOUR_NS, 2 * HOUR_NS].map(|at| hourly_share(&hours, at));
        assert_eq!(shares.map(f64::to_bits), [1.0, 1.0, 0.2, 1.0].map(f64::to_bits));
        assert!((mean_share(&hours, HOUR_NS * 3 / 2) - (1.0 + 0.1) / 1.5).abs() < 1e-12);
        assert!((mean_share(&hours, 4 * HOUR_NS) - 0.6).abs() < 1e-12);
        let means = [mean_share(&[], HOUR_NS), mean_share(&[], 0), mean_share(&hours, 0)];
        assert_eq!(means.map(f64::to_bits), [1.0_f64.to_bits(); 3]);
    }
}
