//! A limit on flash writes, so that the drive lasts as long as its endurance rating allows.

use units::{Bytes, Nanos};

/// Bytes per second that admissions may write, with one second's worth in reserve.
#[derive(Clone, Debug)]
pub(crate) struct WriteBudget {
    bytes_per_second: Option<u64>,
    /// Bytes that may be written now.
    left: u64,
    counted: Nanos,
}

impl WriteBudget {
    /// A budget of `bytes_per_second` on average; `None` for no limit.
    pub(crate) fn new(bytes_per_second: Option<Bytes>) -> Self {
        let rate = bytes_per_second.map(|bytes| bytes.0);
        Self { bytes_per_second: rate, left: rate.unwrap_or(0), counted: Nanos::ZERO }
    }

    /// Takes `bytes` out of the budget at `now`; `false` if less is left.
    pub(crate) fn take(&mut self, now: Nanos, bytes: u64) -> bool {
        let Some(rate) = self.bytes_per_second else {
            return true;
        };
        let span = u128::from(now.since(self.counted).0);
        let earned = span * u128::from(rate) / 1_000_000_000;
        if earned > 0 {
            let earned = u64::try_from(earned).unwrap_or(u64::MAX);
            self.left = self.left.saturating_add(earned).min(rate);
            self.counted = now;
        }
        if self.left < bytes {
            return false;
        }
        self.left -= bytes;
        true
    }
}

#[cfg(test)]
mod tests {
    use units::{Bytes, Nanos};

    use super::WriteBudget;

    #[test]
    fn the_mean_rate_is_kept_and_a_pause_earns_one_second() {
        let mut budget = WriteBudget::new(Some(Bytes::from_mib(1)));
        let mut written = 0;
        for millis in 0..10_000 {
            written += u64::from(budget.take(Nanos::from_millis(millis), 32 << 10));
        }
        let mib = written * 32 / 1024;
        assert!((10..=11).contains(&mib), "{mib} MiB in 10 s and one in reserve");
        let later = Nanos::from_secs(1_000);
        let burst = (0..1_000).filter(|_| budget.take(later, 32 << 10)).count();
        assert_eq!(burst, 32, "a long pause earns no more than a second");
    }
}
