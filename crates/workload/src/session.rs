//! What one session does, batch after batch.
//!
//! Operations are drawn from the mix one by one until the batch has its updates, so reads lie
//! between the updates in the mix's proportion: 16 updates and 8.6 reads on average with the
//! original tool's mix.

use plan::{Mix, Workload};
use units::{Prng, Seed};

use crate::ids::Place;

/// One operation of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A new message behind the last one.
    Insert,
    /// Deletes the message at a place.
    Delete(Place),
    /// Gives the message at a place its next version.
    Replace(Place),
    /// Reads the record at a place.
    Read(Place),
}

/// Whether a transaction waits for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commit {
    /// It does not; a crash may take it back.
    Lazy,
    /// It does; no crash takes it back.
    Durable,
}

/// One transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// What is done, in order. The last one is an update.
    pub operations: Vec<Operation>,
    /// How it ends.
    pub commit: Commit,
}

/// An endless source of batches. The sequence depends on the seed and nothing else.
#[derive(Clone, Debug)]
pub struct Session {
    prng: Prng,
    mix: Mix,
    batch_updates: u32,
}

impl Session {
    /// Session number `session` (from 0) of database number `database` (from 0).
    pub fn new(seed: Seed, database: u32, session: u32, workload: &Workload) -> Self {
        let part = u64::from(database) << 32 | u64::from(session);
        Self {
            // Apart from the streams of the content, which derive from the database alone.
            prng: Prng::new(seed.derive(u64::MAX).derive(part)),
            mix: workload.mix,
            batch_updates: workload.batch_updates,
        }
    }

    /// The next batch, in `batch`'s memory.
    pub fn next_into(&mut self, batch: &mut Batch) {
        batch.operations.clear();
        let mut updates = 0;
        while updates < self.batch_updates {
            let operation = self.operation();
            updates += u32::from(!matches!(operation, Operation::Read(_)));
            batch.operations.push(operation);
        }
        batch.commit = if self.prng.percent(self.mix.lazy_commits) {
            Commit::Lazy
        } else {
            Commit::Durable
        };
    }

    /// The next batch.
    pub fn next_batch(&mut self) -> Batch {
        let mut batch = Batch {
            operations: Vec::new(),
            commit: Commit::Durable,
        };
        self.next_into(&mut batch);
        batch
    }

    fn operation(&mut self) -> Operation {
        let Mix {
            insert,
            delete,
            replace,
            ..
        } = self.mix;
        let draw = self.prng.below(100);
        let place = Place(self.prng.next_u64());
        match u32::try_from(draw).expect("invariant: below 100") {
            draw if draw < insert => Operation::Insert,
            draw if draw < insert + delete => Operation::Delete(place),
            draw if draw < insert + delete + replace => Operation::Replace(place),
            _ => Operation::Read(place),
        }
    }
}
