//! Holds the load at a target: a disk gets the load of the mailboxes, not the most it can take.

use plan::{Database, Plan};
use units::Nanos;

use crate::load_steps::LoadSteps;
use crate::policy;

/// Database reads and writes of half a batch, the expected remainder of a batch in flight: half of
/// 20 reads and of the writes of 13.7 pages (`docs/method.md`).
const HALF_A_BATCH_REQUESTS: u64 = 17;

/// The pace as a multiple of the target, so that the measured rate does not end slightly below it.
const MARGIN: f64 = 1.005;

/// If the plan holds its load, returns a function that gives the time at which the next batch of
/// `database` may begin, from its reads and writes so far, its batches in flight, and the time;
/// time begins at zero. A session that is not due by then asks again. `share` returns the share of
/// the target held now, above 0.
pub fn pace_of<S: Fn() -> f64>(
    plan: &Plan,
    database: &Database,
    share: S,
) -> Option<impl FnMut(u64, u32, Nanos) -> Nanos + use<S>> {
    let target = policy::target_of_a_database(plan)? * plan.share(database);
    let sessions = policy::sessions_of(plan, database);
    let mut pacer = Pacer::new(target, sessions, 0, Nanos::ZERO);
    Some(move |requests, under_way, now| {
        let begun = Pacer { gap: pacer.gap / share(), ..pacer };
        let (next, due) = begun.after(requests, under_way, now);
        pacer = Pacer { gap: pacer.gap, ..next };
        due
    })
}

/// Share of the target that a load reaches if it has enough sessions; the verdict's rule asks for
/// 95 %.
const REACHED: f64 = 0.98;

/// The database reads and writes per second, over all databases, that a check of `span` at a held
/// load must count if there are enough sessions; `None` if the load is not held. `steps` decide the
/// share of the target that is held by then. A database that keeps its pace may be a batch behind
/// at the end of a check.
pub fn enough_iops(plan: &Plan, steps: &LoadSteps, span: Nanos) -> Option<f64> {
    let target = f64::from(policy::held_from_start(plan)?) * steps.share(plan, Nanos::ZERO);
    let open_requests = 2.0 * HALF_A_BATCH_REQUESTS as f64 * plan.databases.len() as f64;
    Some(target * REACHED - open_requests / span.as_secs_f64())
}

/// How far behind its pace a load may fall and still catch up.
const MOST_BEHIND: Nanos = Nanos::from_secs(1);

/// Time between requests while a load catches up, as a share of the usual time: a stall must not be
/// followed by a flood.
const CATCHING_UP: f64 = 0.8;

/// Whether a session may begin a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LoadHold {
    /// At once.
    Free,
    /// Not until the load is held at a target.
    Closed,
    /// When its pace has room.
    At(Pacer),
}

/// Decides when the next batch of one database may begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacer {
    /// Time between requests, in nanoseconds.
    gap: f64,
    /// How far behind the pace the load must be, per batch in flight, before another batch begins.
    behind_for_each: Nanos,
    /// Requests of the database at the previous query.
    seen: u64,
    /// When the pace has room again.
    due: Nanos,
    /// Earliest time for another batch even if the load is catching up.
    soonest: Nanos,
    /// When it was last asked.
    asked: Nanos,
}

impl Pacer {
    /// A pacer for a database with a target of `target_iops` database reads and writes per second
    /// and `sessions` sessions, none of them inside a batch, after `requests` requests by `now`.
    pub(crate) fn new(target_iops: f64, sessions: u32, requests: u64, now: Nanos) -> Self {
        assert!(target_iops > 0.0, "a target is a rate");
        let gap = 1e9 / (target_iops * MARGIN);
        let pacer = Self {
            gap,
            behind_for_each: Nanos::ZERO,
            seen: requests,
            // Requests arrive in batches, so half a batch is ahead of the pace on average.
            due: now + span(HALF_A_BATCH_REQUESTS, gap),
            soonest: now,
            asked: now,
        };
        pacer.for_sessions(sessions)
    }

    /// The same pace, kept by `sessions` sessions from now on.
    pub(crate) fn for_sessions(self, sessions: u32) -> Self {
        // All sessions must be able to start before the backlog is dropped.
        let all_at_work = Nanos(MOST_BEHIND.0 / u64::from(sessions.max(1)));
        Self { behind_for_each: span(HALF_A_BATCH_REQUESTS, self.gap).min(all_at_work), ..self }
    }

    /// When the next batch may begin, after `requests` of the database by `now`, with `under_way`
    /// batches in flight. Their remaining requests count: sessions that all began at once, before
    /// any had made a request, would far exceed the pace and then rest.
    pub(crate) fn next_batch(&mut self, requests: u64, under_way: u32, now: Nanos) -> Nanos {
        let (next, due) = self.after(requests, under_way, now);
        *self = next;
        due
    }

    /// The pacer after this query, and the time when the next batch may begin.
    fn after(mut self, requests: u64, under_way: u32, now: Nanos) -> (Self, Nanos) {
        let new = requests - self.seen;
        self.seen = requests;
        let earliest = Nanos(now.0.saturating_sub(MOST_BEHIND.0));
        self.due = (self.due + span(new, self.gap)).max(earliest);
        self.soonest = self.soonest.max(self.asked) + span(new, self.gap * CATCHING_UP);
        self.asked = now;
        let others = self.behind_for_each.0.saturating_mul(u64::from(under_way));
        let due = (self.due + Nanos(others)).max(self.soonest);
        (self, due)
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
mod tests;
