//! Required contents of a database after a crash: the promises of its commits against the contents
//! found.
//!
//! The log keeps commits in order, so a prefix of them survives and the rest leaves no trace: at
//! least everything up to the last commit acknowledged as durable.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use ese::Lgpos;

use super::{Change, CommitStage, CommitStep};

/// The messages of a database and the version that each has.
pub type Messages = BTreeMap<i64, u32>;

/// Promises of the commits of one database in one run.
#[derive(Clone, Debug, Default)]
pub struct Promises {
    transactions: BTreeMap<u64, PromisedTransaction>,
    /// The highest place that was acknowledged as durable.
    durable_to: Option<Lgpos>,
    durable: u64,
    inserted: BTreeSet<i64>,
    deleted: BTreeSet<i64>,
}

#[derive(Clone, Debug, Default)]
struct PromisedTransaction {
    changes: Vec<Change>,
    /// Log position of its commit, once that was acknowledged.
    place: Option<Lgpos>,
}

/// A promise that was not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Breach {
    /// A lost commit that was acknowledged as durable, or that precedes one that was.
    Lost {
        /// The transaction.
        transaction: u64,
        /// The change that shows it.
        change: Change,
    },
    /// A transaction survived in part.
    Half {
        /// The transaction.
        transaction: u64,
        /// A change that survived.
        kept: Change,
        /// A change that did not.
        missing: Change,
    },
    /// A commit survived, and an earlier one did not.
    Overtaken {
        /// The commit that is missing.
        missing: u64,
        /// The later commit that survived.
        kept: u64,
    },
    /// A message is in a state that no transaction produced.
    Unexplained {
        /// The message.
        message: i64,
        /// Its version; `None` if it was deleted.
        found: Option<u32>,
    },
}

/// Whether a change survived, as far as the message shows that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trace {
    Kept,
    Missing,
    /// Hidden by a later change.
    Covered,
}

impl Promises {
    /// Records a step of this database; steps must come in order.
    pub fn observe(&mut self, step: CommitStep) {
        let transaction = self.transactions.entry(step.transaction).or_default();
        match step.stage {
            CommitStage::Asked(changes) => {
                for change in &changes {
                    match *change {
                        Change::Insert(message) => _ = self.inserted.insert(message),
                        Change::Delete(message) => _ = self.deleted.insert(message),
                        Change::Replace(..) => {}
                    }
                }
                transaction.changes = changes;
            }
            CommitStage::Lazy(place) => transaction.place = Some(place),
            CommitStage::Durable(place) => {
                transaction.place = Some(place);
                self.durable += 1;
                self.durable_to = self.durable_to.max(Some(place));
            }
        }
    }

    /// Commits that were acknowledged as durable.
    pub const fn durable(&self) -> u64 {
        self.durable
    }

    /// Compares the promises with the contents `found`; `before` are the contents at the start of
    /// the run.
    pub fn breaches(&self, before: &Messages, found: &Messages) -> Vec<Breach> {
        let mut breaches = self.unexplained(before, found);
        let mut first_missing: Option<(Lgpos, u64)> = None;
        let mut last_kept: Option<(Lgpos, u64)> = None;
        for (&number, transaction) in &self.transactions {
            let kept = self.first_change(transaction, found, Trace::Kept);
            let missing = self.first_change(transaction, found, Trace::Missing);
            let is_promised = transaction.place.is_some() && transaction.place <= self.durable_to;
            match (kept, missing) {
                (_, Some(change)) if is_promised => {
                    breaches.push(Breach::Lost { transaction: number, change });
                }
                (Some(kept), Some(missing)) => {
                    breaches.push(Breach::Half { transaction: number, kept, missing });
                }
                _ => {}
            }
            let Some(place) = transaction.place else {
                continue;
            };
            if missing.is_some() && first_missing.is_none_or(|(first, _)| place < first) {
                first_missing = Some((place, number));
            }
            if kept.is_some() && last_kept.is_none_or(|(last, _)| place > last) {
                last_kept = Some((place, number));
            }
        }
        if let (Some((first, missing)), Some((last, kept))) = (first_missing, last_kept)
            && first < last
        {
            breaches.push(Breach::Overtaken { missing, kept });
        }
        breaches
    }

    /// Messages whose state is neither that before the run nor one produced by a transaction.
    fn unexplained(&self, before: &Messages, found: &Messages) -> Vec<Breach> {
        let changes = self.transactions.values().flat_map(|one| &one.changes);
        let mut made: BTreeSet<(i64, Option<u32>)> = BTreeSet::new();
        for &change in changes {
            made.insert(match change {
                Change::Insert(message) => (message, Some(1)),
                Change::Replace(message, version) => (message, Some(version)),
                Change::Delete(message) => (message, None),
            });
        }
        let messages: BTreeSet<i64> = before.keys().chain(found.keys()).copied().collect();
        let mut breaches = Vec::new();
        for message in messages {
            let (was, is) = (before.get(&message).copied(), found.get(&message).copied());
            if was != is && !made.contains(&(message, is)) {
                breaches.push(Breach::Unexplained { message, found: is });
            }
        }
        breaches
    }

    /// The first change of `transaction` that left this trace.
    fn first_change(
        &self,
        transaction: &PromisedTransaction,
        found: &Messages,
        wanted: Trace,
    ) -> Option<Change> {
        let mut changes = transaction.changes.iter().copied();
        changes.find(|&change| self.trace(change, found) == wanted)
    }

    /// Versions of a message ascend, and nothing follows its deletion.
    fn trace(&self, change: Change, found: &Messages) -> Trace {
        let there = found.get(&change.message()).copied();
        let seen = match change {
            Change::Insert(_) => there.map(|_| Trace::Kept),
            Change::Replace(_, version) => {
                there.map(|there| if there >= version { Trace::Kept } else { Trace::Missing })
            }
            Change::Delete(_) => Some(there.map_or(Trace::Kept, |_| Trace::Missing)),
        };
        let message = change.message();
        match (seen, change) {
            // A missing message does not prove its deletion if it may never have been inserted.
            (Some(Trace::Kept), Change::Delete(_)) if self.inserted.contains(&message) => {
                Trace::Covered
            }
            (Some(trace), _) => trace,
            (None, _) if self.deleted.contains(&message) => Trace::Covered,
            (None, _) => Trace::Missing,
        }
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost { transaction, change } => write!(
                f,
                "transaction {transaction} was acknowledged as durable and its change {change} is \
                 lost"
            ),
            Self::Half { transaction, kept, missing } => {
                write!(f, "transaction {transaction} is there in part: {kept} is, {missing} is not")
            }
            Self::Overtaken { missing, kept } => write!(
                f,
                "transaction {kept} is there, and {missing}, which committed before it, is not"
            ),
            Self::Unexplained { message, found: Some(version) } => {
                write!(f, "message {message} has version {version}, which was never written")
            }
            Self::Unexplained { message, found: None } => {
                write!(f, "message {message} is gone, and was never deleted")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Breach, Change, CommitStage, CommitStep, Messages, Promises};
    use ese::Lgpos;
    use units::Generation;

    const fn place(byte: u16) -> Lgpos {
        Lgpos { generation: Generation(1), segment: 1, byte }
    }

    fn promises(steps: &[(u64, CommitStage)]) -> Promises {
        let mut promises = Promises::default();
        for (transaction, stage) in steps {
            promises.observe(CommitStep {
                database: 0,
                transaction: *transaction,
                stage: stage.clone(),
            });
        }
        promises
    }

    /// Three transactions: lazy, durable, lazy; and one whose commit was only requested.
    fn four() -> Promises {
        promises(&[
            (0, CommitStage::Asked(vec![Change::Insert(10), Change::Delete(1)])),
            (0, CommitStage::Lazy(place(10))),
            (1, CommitStage::Asked(vec![Change::Replace(10, 2), Change::Insert(11)])),
            (1, CommitStage::Durable(place(20))),
            (2, CommitStage::Asked(vec![Change::Insert(12), Change::Delete(2)])),
            (2, CommitStage::Lazy(place(30))),
            (3, CommitStage::Asked(vec![Change::Insert(13), Change::Replace(10, 3)])),
        ])
    }

    fn found(messages: &[(i64, u32)]) -> Vec<Breach> {
        let before = Messages::from([(1, 1), (2, 4)]);
        four().breaches(&before, &messages.iter().copied().collect())
    }

    #[test]
    fn what_was_only_lazy_or_asked_for_may_be_there_or_not() {
        assert_eq!(found(&[(2, 4), (10, 2), (11, 1)]), []);
        assert_eq!(found(&[(10, 2), (11, 1), (12, 1)]), []);
        assert_eq!(found(&[(10, 3), (11, 1), (12, 1), (13, 1)]), []);
    }

    #[test]
    fn a_durable_commit_and_those_before_it_must_be_there() {
        let lost = |transaction, change| Breach::Lost { transaction, change };
        let breaches = found(&[(2, 4), (10, 2)]);
        assert_eq!(breaches, [lost(1, Change::Insert(11))]);
        let breaches = found(&[(1, 1), (2, 4), (10, 2), (11, 1)]);
        assert!(breaches.contains(&lost(0, Change::Delete(1))), "{breaches:?}");
    }

    #[test]
    fn half_a_transaction_is_noticed() {
        let breaches = found(&[(2, 4), (10, 2), (11, 1), (12, 1)]);
        let half =
            Breach::Half { transaction: 2, kept: Change::Insert(12), missing: Change::Delete(2) };
        assert_eq!(breaches, [half]);
    }

    #[test]
    fn no_commit_survives_one_before_it() {
        let mut promises = four();
        promises.observe(CommitStep {
            database: 0,
            transaction: 3,
            stage: CommitStage::Lazy(place(40)),
        });
        let before = Messages::from([(1, 1), (2, 4)]);
        let found = Messages::from([(2, 4), (10, 3), (11, 1), (13, 1)]);
        let overtaken = Breach::Overtaken { missing: 2, kept: 3 };
        assert_eq!(promises.breaches(&before, &found), [overtaken]);
    }

    #[test]
    fn what_was_never_done_is_noticed() {
        let unexplained = |message, found| Breach::Unexplained { message, found };
        assert_eq!(
            found(&[(10, 2), (11, 7), (12, 1), (99, 1)]),
            [unexplained(11, Some(7)), unexplained(99, Some(1))]
        );
        let before = Messages::from([(5, 1)]);
        let breaches = Promises::default().breaches(&before, &Messages::new());
        assert_eq!(breaches, [unexplained(5, None)]);
    }
}
