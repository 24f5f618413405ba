//! Holds the load at a target: a disk is asked for what the mailboxes need, not for all it has.

use plan::{Database, Plan};
use units::Nanos;

use crate::policy;

/// Database reads and writes of half a batch, which is what is still to come of one that is under
/// way: half of 20 reads and of the writes of 13.7 pages (`docs/method.md`).
pub(crate) const HALF_A_BATCH_REQUESTS: u64 = 17;

/// The pace over the target, so that what is measured does not end just below it.
const MARGIN: f64 = 1.005;

/// Says when the next batch of `database` may begin, after so many of its reads and writes by a
/// moment, where the plan holds its load; time begins at zero.
pub fn pace_of(plan: &Plan, database: &Database) -> Option<Box<dyn FnMut(u64, Nanos) -> Nanos>> {
    let target = policy::target_of_a_database(plan)? * plan.share(database);
    let under_way = u64::from(policy::sessions_of(plan, database)) * HALF_A_BATCH_REQUESTS;
    let mut pacer = Pacer::new(target, 0, under_way, Nanos::ZERO);
    Some(Box::new(move |requests, now| pacer.next_batch(requests, now)))
}

/// How far behind its pace a load may catch up.
const MOST_BEHIND: Nanos = Nanos::from_secs(1);

/// The time between requests while a load catches up, as a share of that of its pace: a stall must
/// not be followed by a flood.
const CATCHING_UP: f64 = 0.8;

/// Says when the next batch of one database may begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacer {
    /// Nanoseconds of one request.
    gap: f64,
    /// Requests of the database when it was last asked.
    seen: u64,
    /// When the pace has room again.
    due: Nanos,
    /// When there is room again even for a load that catches up.
    soonest: Nanos,
    /// When it was last asked.
    asked: Nanos,
}

impl Pacer {
    /// For a database that is to reach `target_iops` database reads and writes per second, has
    /// made `requests` so far, and begins `now`; `under_way` more will come of batches that have
    /// begun already.
    pub(crate) fn new(target_iops: f64, requests: u64, under_way: u64, now: Nanos) -> Self {
        assert!(target_iops > 0.0, "a target is a rate");
        let gap = 1e9 / (target_iops * MARGIN);
        let due = now + span(under_way, gap);
        Self { gap, seen: requests, due, soonest: now, asked: now }
    }

    /// When the next batch may begin, after `requests` of the database by `now`.
    pub(crate) fn next_batch(&mut self, requests: u64, now: Nanos) -> Nanos {
        let new = requests - self.seen;
        self.seen = requests;
        let earliest = Nanos(now.0.saturating_sub(MOST_BEHIND.0));
        self.due = self.due.max(earliest) + span(new, self.gap);
        self.soonest = self.soonest.max(self.asked) + span(new, self.gap * CATCHING_UP);
        self.asked = now;
        self.due.max(self.soonest)
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

    /// Requests of `sessions` that make 36 each in `service`, by the second.
    fn made(target_iops: f64, sessions: u64, service: Nanos, seconds: usize) -> Vec<u64> {
        let mut by_second = vec![0; seconds];
        let mut requests = 0;
        let mut pacer = Pacer::new(target_iops, requests, 18 * sessions, Nanos::ZERO);
        // All are in the middle of a batch when the load begins to be held.
        let mut ends: Vec<Nanos> =
            (1..=sessions).map(|session| Nanos(service.0 * session / sessions)).collect();
        loop {
            ends.sort_unstable();
            let now = ends[0];
            let Some(second) = by_second.get_mut((now.0 / SECOND.0) as usize) else {
                return by_second;
            };
            *second += 36;
            requests += 36;
            ends[0] = now.max(pacer.next_batch(requests, now)) + service;
        }
    }

    #[test]
    fn a_fast_storage_is_held_just_above_the_target() {
        let made = made(300.0, 1, Nanos::from_millis(1), 100);
        let requests: u64 = made.iter().sum();
        assert!((30_100..30_300).contains(&requests), "{requests}");
    }

    #[test]
    fn a_slow_storage_is_not_held_at_all() {
        let requests: u64 = made(300.0, 1, SECOND, 101).iter().sum();
        assert_eq!(requests, 3_600);
    }

    #[test]
    fn many_sessions_begin_at_the_pace() {
        let requests: u64 = made(1_000.0, 20, Nanos::from_millis(200), 10).iter().sum();
        assert!((9_800..=10_200).contains(&requests), "{requests} in ten seconds");
    }

    #[test]
    fn a_stall_is_caught_up_for_a_second_and_no_more() {
        let mut pacer = Pacer::new(1_000.0, 0, 0, Nanos::ZERO);
        let stalled = Nanos(SECOND.0 * 60);
        let (mut now, mut requests) = (stalled, 0);
        while now < stalled + Nanos(SECOND.0 * 10) {
            now = now.max(pacer.next_batch(requests, now)) + Nanos(1);
            requests += 36;
        }
        assert!((11_000..11_150).contains(&requests), "{requests}");
    }

    #[test]
    fn a_load_that_catches_up_does_not_flood() {
        let mut pacer = Pacer::new(1_000.0, 0, 0, Nanos::ZERO);
        let mut now = Nanos(SECOND.0 / 2);
        let (mut requests, mut caught_up_at) = (0, None);
        for _ in 0..200 {
            now = now.max(pacer.next_batch(requests, now)) + Nanos(1);
            requests += 36;
            let pace = now.0 as f64 * 1_005.0 / 1e9;
            if caught_up_at.is_none() && requests as f64 >= pace {
                caught_up_at = Some(now);
            }
        }
        // Half a second of work at a quarter over the pace.
        let caught_up_at = caught_up_at.unwrap();
        assert!((2.2..2.6).contains(&(caught_up_at.0 as f64 / 1e9)), "{caught_up_at:?}");
    }
}
