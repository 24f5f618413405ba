//! Effect of unanswered requests on a mean: stalling storage answers few requests late, and the
//! mean of the answered ones would flatter it.

use record::Unanswered;
use units::thousands;

use crate::rules::milliseconds;

/// The 99th percentile of requests in nanoseconds. `answered` of them were answered, and `quantile`
/// gives the quantiles of those; unanswered ones are the slowest.
pub(super) fn p99_ns(unanswered: &Unanswered, answered: u64, quantile: impl Fn(f64) -> u64) -> f64 {
    let all = (answered + unanswered.waiting).max(1) as f64;
    let share = answered as f64 / all;
    let nanoseconds = if share < 0.99 { unanswered.oldest_ns } else { quantile(0.99 / share) };
    nanoseconds as f64
}

/// A remark on a mean that includes unanswered requests; empty if they are all recent, as some
/// always are.
pub(super) fn remark(unanswered: &Unanswered) -> String {
    let mut remark = String::new();
    let oldest_ms = milliseconds(unanswered.oldest_ns as f64);
    if unanswered.oldest_ns >= record::STALL_MINIMUM_NS {
        let waiting = thousands(unanswered.waiting);
        remark = format!(", {waiting} more without an answer for up to {oldest_ms:.0} ms");
    }
    if unanswered.stalled_ns > 0 {
        let stalled = milliseconds(unanswered.stalled_ns as f64);
        remark = format!("{remark}, none answered for {stalled:.0} ms");
    }
    remark
}

#[cfg(test)]
mod tests {
    use record::Unanswered;

    use super::remark;

    const SECOND: u64 = 1_000_000_000;

    /// Whether `mean` is within a microsecond of `expected`.
    fn is_about(mean: f64, expected: u64) -> bool {
        (mean - expected as f64).abs() < 1_000.0
    }

    #[test]
    fn a_mean_without_anything_waiting_is_the_mean() {
        let none = Unanswered::default();
        assert!(is_about(none.mean_ns((100, 5e6), SECOND), 5_000_000));
        assert!(is_about(none.mean_ns((0, 0.0), SECOND), 0));
        assert_eq!(remark(&none), "");
    }

    #[test]
    fn where_nothing_is_answered_the_age_is_the_mean() {
        let frozen = Unanswered {
            waiting: 8,
            mean_age_ns: 7 * SECOND,
            oldest_ns: 7 * SECOND,
            stalled_ns: SECOND,
            stalled_wait_ns: SECOND / 2,
        };
        assert!(is_about(frozen.mean_ns((0, 0.0), SECOND), 7 * SECOND));
        assert_eq!(
            remark(&frozen),
            ", 8 more without an answer for up to 7000 ms, none answered for 1000 ms"
        );
    }

    /// 5,000 requests in the 5 s without a stall: 10,000 would have arrived in the stalled 10 s,
    /// and would have waited 5 s each.
    #[test]
    fn a_freeze_within_an_interval_counts_what_would_have_come() {
        let freeze = Unanswered {
            stalled_ns: 10 * SECOND,
            stalled_wait_ns: 5 * SECOND,
            ..Unanswered::default()
        };
        let mean = freeze.mean_ns((5_000, 0.0), 15 * SECOND);
        assert!(is_about(mean, 50 * SECOND / 15), "{mean}");
        assert_eq!(remark(&freeze), ", none answered for 10000 ms");
    }

    #[test]
    fn young_requests_do_not_embellish() {
        let young =
            Unanswered { waiting: 50, mean_age_ns: 1, oldest_ns: 2, ..Unanswered::default() };
        assert!(is_about(young.mean_ns((50, 9e6), SECOND), 9_000_000));
        assert_eq!(remark(&young), "");
    }
}
