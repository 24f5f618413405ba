//! Finds the transactions left open at the end of the log, and the work to undo them. A plain
//! value, fed with records.

use std::collections::BTreeMap;

use ese::Lgpos;
use units::ObjectId;
use wal::edit::{TransactionId, Undo, UndoAction};
use wal::{LogRecord, Span};

use crate::recovery::{Loser, PendingCleanup};

/// State of the transactions after the records so far.
#[derive(Debug, Default)]
pub(super) struct Analysis {
    open: BTreeMap<TransactionId, OpenTransaction>,
    /// Deletes of nodes by committed transactions.
    cleanups: Vec<PendingCleanup>,
    /// Long values released by committed transactions, with the start of each transaction.
    released: BTreeMap<(ObjectId, u32), Lgpos>,
    /// The highest transaction number seen.
    pub last_transaction: TransactionId,
    /// The latest database time seen.
    pub dbtime: u64,
}

#[derive(Debug)]
struct OpenTransaction {
    begin: Lgpos,
    undo: Vec<Vec<Undo>>,
}

impl Analysis {
    /// The initial state, with the header's database time `dbtime`.
    pub(super) fn since(dbtime: u64) -> Self {
        Self { dbtime, ..Self::default() }
    }

    /// Raises the highest database time to that of a record.
    pub(super) fn observe_time(&mut self, record: &LogRecord) {
        let dbtime = match record {
            LogRecord::Apply(apply) => apply.dbtime,
            LogRecord::Attach { dbtime, .. } | LogRecord::Detach { dbtime, .. } => *dbtime,
            _ => 0,
        };
        self.dbtime = self.dbtime.max(dbtime);
    }

    /// Updates the analysis with the next record.
    pub(super) fn observe(&mut self, span: Span, record: &LogRecord) {
        self.observe_time(record);
        match record {
            LogRecord::Begin { transaction } => {
                self.open(*transaction, span.start);
            }
            LogRecord::Commit { transaction } => {
                if let Some(open) = self.open.remove(transaction) {
                    self.keep_cleanups(open);
                }
            }
            LogRecord::Rollback { transaction } => {
                self.open.remove(transaction);
            }
            LogRecord::Apply(apply) => {
                self.observe_undo(span, apply.transaction, &apply.undo);
            }
            LogRecord::Attach { .. } | LogRecord::Detach { .. } | LogRecord::Extend { .. } => {}
        }
    }

    fn observe_undo(&mut self, span: Span, transaction: TransactionId, action: &UndoAction) {
        match action {
            UndoAction::None => {}
            // An analysis that starts amid a transaction's records first sees the transaction here.
            UndoAction::Push(undos) if !transaction.is_some() => self.forget(undos),
            UndoAction::Push(undos) => {
                self.open(transaction, span.start).undo.push(undos.clone());
            }
            UndoAction::Pop => {
                let open = self.open(transaction, span.start);
                let (begin, undone) = (open.begin, open.undo.pop().unwrap_or_default());
                // A revived node is deleted again, and no other record of that exists.
                let deleted = undone.into_iter();
                let deleted = deleted.filter(|undo| matches!(undo, Undo::Revive { .. }));
                self.cleanups.extend(deleted.map(|of| PendingCleanup { begin, of }));
            }
        }
    }

    /// Forgets items that have been cleaned up. A later long value with the same number is a
    /// different one.
    fn forget(&mut self, done: &[Undo]) {
        for undo in done {
            if let Undo::LongValueRelease { tree, long_value } = undo {
                self.released.remove(&(*tree, *long_value));
            }
        }
    }

    fn open(&mut self, transaction: TransactionId, begin: Lgpos) -> &mut OpenTransaction {
        self.last_transaction = self.last_transaction.max(transaction);
        self.open.entry(transaction).or_insert_with(|| OpenTransaction { begin, undo: Vec::new() })
    }

    /// Keeps the cleanups of a committed transaction: nodes flagged as deleted and released long
    /// values stay until cleanup removes them.
    fn keep_cleanups(&mut self, committed: OpenTransaction) {
        let begin = committed.begin;
        for of in committed.undo.into_iter().flatten() {
            match of {
                Undo::FlagDelete { .. } => self.cleanups.push(PendingCleanup { begin, of }),
                Undo::LongValueRelease { tree, long_value } => {
                    self.released.insert((tree, long_value), begin);
                }
                _ => {}
            }
        }
    }

    /// Cleanup that may remain from committed transactions.
    pub(super) fn take_cleanups(&mut self) -> Vec<PendingCleanup> {
        let mut cleanups = std::mem::take(&mut self.cleanups);
        let released = std::mem::take(&mut self.released).into_iter();
        cleanups.extend(released.map(|((tree, long_value), begin)| PendingCleanup {
            begin,
            of: Undo::LongValueRelease { tree, long_value },
        }));
        cleanups
    }

    /// The transactions still open, in order of their numbers. Those that changed nothing need no
    /// undo, only their end in the log.
    pub(super) fn take_losers(&mut self) -> Vec<Loser> {
        std::mem::take(&mut self.open)
            .into_iter()
            .filter(|(transaction, _)| transaction.is_some())
            .map(|(transaction, open)| Loser { transaction, begin: open.begin, undo: open.undo })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use ese::Lgpos;
    use units::{Generation, ObjectId};
    use wal::edit::{ApplyRecord, TransactionId, Undo, UndoAction};
    use wal::{LogRecord, Span};

    use super::Analysis;

    const TREE: ObjectId = ObjectId(8);

    fn delete(key: u8) -> Undo {
        Undo::FlagDelete { tree: TREE, key: vec![key], data: Vec::new() }
    }

    fn insert(key: u8) -> Undo {
        Undo::Insert { tree: TREE, key: vec![key], data: Vec::new() }
    }

    fn apply(transaction: u32, undo: UndoAction) -> LogRecord {
        LogRecord::Apply(ApplyRecord {
            transaction: TransactionId(transaction),
            dbtime: 7,
            pages: Vec::new(),
            undo,
        })
    }

    /// Observes the records, each at the segment of its index.
    fn analyse(records: &[LogRecord]) -> Analysis {
        let mut analysis = Analysis::default();
        for (segment, record) in (0..).zip(records) {
            let start = Lgpos { generation: Generation(1), segment, byte: 0 };
            analysis.observe(Span { start, end: start }, record);
        }
        analysis
    }

    const fn begin(number: u32) -> LogRecord {
        LogRecord::Begin { transaction: TransactionId(number) }
    }

    const fn commit(number: u32) -> LogRecord {
        LogRecord::Commit { transaction: TransactionId(number) }
    }

    #[test]
    fn compensations_shorten_what_is_left_to_undo() {
        let mut analysis = analyse(&[
            begin(5),
            begin(6),
            apply(5, UndoAction::Push(vec![insert(1), insert(2)])),
            apply(5, UndoAction::Push(vec![delete(3)])),
            apply(5, UndoAction::None),
            apply(5, UndoAction::Pop),
            commit(6),
        ]);
        let losers = analysis.take_losers();
        assert_eq!(losers.len(), 1);
        assert_eq!(losers[0].transaction, TransactionId(5));
        assert_eq!(losers[0].begin.segment, 0);
        assert_eq!(losers[0].undo, [[insert(1), insert(2)]]);
        assert_eq!(analysis.last_transaction, TransactionId(6));
        assert_eq!(analysis.dbtime, 7);
        assert!(analysis.take_cleanups().is_empty());
    }

    #[test]
    fn only_committed_deletes_are_cleaned_up() {
        let rollback = LogRecord::Rollback { transaction: TransactionId(2) };
        let mut analysis = analyse(&[
            begin(1),
            begin(2),
            apply(1, UndoAction::Push(vec![insert(1), delete(2)])),
            apply(2, UndoAction::Push(vec![delete(3)])),
            apply(2, UndoAction::Pop),
            rollback,
            commit(1),
        ]);
        assert!(analysis.take_losers().is_empty());
        let cleanups = analysis.take_cleanups();
        assert_eq!(cleanups.len(), 1);
        assert_eq!(cleanups[0].of, delete(2));
        assert_eq!(cleanups[0].begin.segment, 0);
    }

    #[test]
    fn a_long_value_that_was_removed_is_not_cleaned_up_again() {
        let release = |long_value| Undo::LongValueRelease { tree: TREE, long_value };
        let mut analysis = analyse(&[
            begin(1),
            apply(1, UndoAction::Push(vec![release(3), release(4)])),
            commit(1),
            apply(0, UndoAction::Push(vec![release(4)])),
        ]);
        assert!(analysis.take_losers().is_empty());
        let cleanups = analysis.take_cleanups();
        assert_eq!(cleanups.len(), 1);
        assert_eq!(cleanups[0].of, release(3));
    }
}
