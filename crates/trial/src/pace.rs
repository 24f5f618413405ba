//! Holds the load at a target: a disk is asked for what the mailboxes need, not for all it has.

use units::Nanos;

/// The pace over the target, so that what is measured does not end just below it.
const MARGIN: f64 = 1.005;

/// How far behind its pace a load may catch up: a stall must not be followed by a flood.
const MOST_BEHIND: Nanos = Nanos::from_secs(1);

/// Says when the next batch of one database may begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacer {
    /// Nanoseconds of one request.
    gap: f64,
    /// Requests of the database when it was last asked.
    seen: u64,
    /// When the pace has room again.
    due: Nanos,
}

impl Pacer {
    /// For a database that is to reach `target_iops` database reads and writes per second, has
    /// made `requests` so far, and begins `now`.
    pub(crate) fn new(target_iops: f64, requests: u64, now: Nanos) -> Self {
        assert!(target_iops > 0.0, "a target is a rate");
        Self { gap: 1e9 / (target_iops * MARGIN), seen: requests, due: now }
    }

    /// When the next batch may begin, after `requests` of the database by `now`.
    pub(crate) fn next_batch(&mut self, requests: u64, now: Nanos) -> Nanos {
        let new = requests - self.seen;
        self.seen = requests;
        let earliest = Nanos(now.0.saturating_sub(MOST_BEHIND.0));
        self.due = self.due.max(earliest) + span(new, self.gap);
        self.due
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "requests of one batch times their gap is positive and far below 2^63 ns"
)]
fn span(requests: u64, gap: f64) -> Nanos {
    Nanos((requests as f64 * gap) as u64)
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::Pacer;

    const SECOND: Nanos = Nanos::from_secs(1);

    /// Requests of a storage that makes 36 at once in `service`, within `span`.
    fn made(target_iops: f64, service: Nanos, span: Nanos) -> u64 {
        let (mut now, mut requests) = (Nanos::ZERO, 0);
        let mut pacer = Pacer::new(target_iops, requests, now);
        while now < span {
            now = now.max(pacer.next_batch(requests, now)) + service;
            requests += 36;
        }
        requests
    }

    #[test]
    fn a_fast_storage_is_held_just_above_the_target() {
        let requests = made(300.0, Nanos::from_millis(1), Nanos(SECOND.0 * 100));
        assert!((30_100..30_300).contains(&requests), "{requests}");
    }

    #[test]
    fn a_slow_storage_is_not_held_at_all() {
        let requests = made(300.0, SECOND, Nanos(SECOND.0 * 100));
        assert_eq!(requests, 3_600);
    }

    #[test]
    fn a_stall_is_caught_up_for_a_second_and_no_more() {
        let mut pacer = Pacer::new(1_000.0, 0, Nanos::ZERO);
        let after = Nanos(SECOND.0 * 60);
        let due = pacer.next_batch(0, after);
        assert_eq!(due, Nanos(SECOND.0 * 59));
        // So many requests a second are the pace of this target.
        let due = pacer.next_batch(1_005, after);
        assert!(due.0.abs_diff(after.0) <= 1, "{due:?}");
    }
}
