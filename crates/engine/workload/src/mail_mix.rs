//! The mail mix: the steps of one session, batch after batch.
//!
//! Operations are drawn from the mix one by one until the batch has its updates, so reads fall
//! between the updates in the mix's proportion: 16 updates and 8.6 reads on average with the
//! original tool's mix. Commits split a batch into transactions with as even a number of updates as
//! possible; they are drawn from a separate stream, so that the operations do not depend on them.

use plan::{LoadSettings, Mix};
use units::{Prng, Seed};

use crate::ids::Place;
use crate::skew::Skew;

/// One operation of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Inserts a new message after the last one.
    Insert,
    /// Deletes the message at a place.
    Delete(Place),
    /// Replaces the message at a place with its next version.
    Replace(Place),
    /// Reads the record at a place.
    Read(Place),
}

/// Whether a transaction waits for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commit {
    /// Does not wait; a crash may lose the transaction.
    Lazy,
    /// Waits until the commit is durable: the transaction survives any crash.
    Durable,
}

/// Next step of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// An operation of the open transaction; the first one begins the transaction.
    Perform(Operation),
    /// The end of the transaction.
    Commit(Commit),
}

/// An endless source of batches for one session: seeded, and independent of handles, clocks and
/// storage speed. The instrument runs, times and checks them.
pub trait Workload {
    /// Writes the steps of the next batch into `steps`, reusing its memory. The last one is a
    /// commit.
    fn next_into(&mut self, steps: &mut Vec<Step>);
}

/// The transactions of a mailbox server, in the plan's mix. The sequence depends only on the seed.
#[derive(Clone, Debug)]
pub struct MailMix {
    operations: Prng,
    commits: Prng,
    mix: Mix,
    batch_updates: u32,
    commits_per_batch: u32,
    skew: Skew,
}

impl MailMix {
    /// The mix for session number `session` (from 0) of database number `database` (from 0).
    pub fn new(seed: Seed, database: u32, session: u32, workload: &LoadSettings) -> Self {
        let part = u64::from(database) << 32 | u64::from(session);
        Self {
            // Separate from the content streams, which derive from the database alone.
            operations: Prng::new(seed.derive(u64::MAX).derive(part)),
            commits: Prng::new(seed.derive(u64::MAX - 1).derive(part)),
            mix: workload.mix,
            batch_updates: workload.batch_updates,
            commits_per_batch: workload.commits_per_batch,
            skew: Skew::new(workload.zipf_theta),
        }
    }

    fn commit(&mut self) -> Commit {
        if self.commits.percent(self.mix.lazy_commits) { Commit::Lazy } else { Commit::Durable }
    }

    fn operation(&mut self) -> Operation {
        let Mix { insert, delete, replace, .. } = self.mix;
        let draw = self.operations.below(100);
        // Deletes stay uniform: the published growth depends on which space they free.
        let skew = if draw < u64::from(insert + delete) { Skew::NONE } else { self.skew };
        let place = skew.place(&mut self.operations);
        match u32::try_from(draw).expect("invariant: below 100") {
            draw if draw < insert => Operation::Insert,
            draw if draw < insert + delete => Operation::Delete(place),
            draw if draw < insert + delete + replace => Operation::Replace(place),
            _ => Operation::Read(place),
        }
    }
}

impl Workload for MailMix {
    fn next_into(&mut self, steps: &mut Vec<Step>) {
        steps.clear();
        let mut updates = 0;
        while updates < self.batch_updates {
            let operation = self.operation();
            steps.push(Step::Perform(operation));
            if matches!(operation, Operation::Read(_)) {
                continue;
            }
            updates += 1;
            if ends_transaction(updates, self.batch_updates, self.commits_per_batch) {
                steps.push(Step::Commit(self.commit()));
            }
        }
    }
}

/// Whether a commit follows update number `update` (from 1) of a batch, with `commits` commits
/// spread evenly over `updates` updates; a commit always follows the last update.
fn ends_transaction(update: u32, updates: u32, commits: u32) -> bool {
    let [before, now] = [update - 1, update]
        .map(|update| u64::from(update) * u64::from(commits) / u64::from(updates));
    now > before
}

#[cfg(test)]
mod tests {
    use super::ends_transaction;

    #[test]
    fn commits_are_spread_evenly_and_the_last_update_has_one() {
        let ends = |updates, commits| {
            (1..=updates)
                .filter(|update| ends_transaction(*update, updates, commits))
                .collect::<Vec<_>>()
        };
        assert_eq!(ends(16, 1), [16]);
        assert_eq!(ends(16, 16), (1..=16).collect::<Vec<_>>());
        assert_eq!(ends(16, 7), [3, 5, 7, 10, 12, 14, 16]);
        assert_eq!(ends(3, 2), [2, 3]);
    }
}
