//! The transaction table: open transactions, their starting positions in the log, and transaction
//! ends that a crash may still lose.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};

use ese::Lgpos;
use wal::edit::TransactionId;

/// The transactions of an open database.
pub(crate) struct TransactionTable {
    last: Cell<TransactionId>,
    /// Number of open transactions, read-only ones included.
    open: Cell<usize>,
    /// Starting positions of the transactions that have changed something.
    active: RefCell<BTreeMap<TransactionId, Lgpos>>,
    /// Ends of transactions and cleanups that may not be durable yet, in log order, each with the
    /// position where its work began: a crash that loses the end needs all of it again.
    ending: RefCell<VecDeque<(Lgpos, Lgpos)>>,
}

impl TransactionTable {
    /// An empty table; numbers up to `last` are taken.
    pub(super) fn new(last: TransactionId) -> Self {
        Self {
            last: Cell::new(last),
            open: Cell::new(0),
            active: RefCell::default(),
            ending: RefCell::default(),
        }
    }

    /// Opens a transaction and returns its number.
    pub(crate) fn open(&self) -> TransactionId {
        let next = TransactionId(self.last.get().0.wrapping_add(1).max(1));
        self.last.set(next);
        self.open.set(self.open.get() + 1);
        next
    }

    /// Records that a transaction changes something; its first record is at `begin`.
    pub(crate) fn activate(&self, transaction: TransactionId, begin: Lgpos) {
        self.active.borrow_mut().insert(transaction, begin);
    }

    /// Removes a finished transaction; its last record, if any, is before `tip`.
    pub(crate) fn deactivate(&self, transaction: TransactionId, tip: Lgpos) {
        let begin = self.active.borrow_mut().remove(&transaction);
        if let Some(begin) = begin {
            self.keep_until_durable(begin, tip);
        }
    }

    /// Closes an open transaction.
    pub(crate) fn close(&self, transaction: TransactionId, tip: Lgpos) {
        self.deactivate(transaction, tip);
        self.open.set(self.open.get() - 1);
    }

    /// Records that work begun at `begin` has ended before `tip`. The checkpoint stays before it
    /// until the end is durable.
    pub(super) fn keep_until_durable(&self, begin: Lgpos, tip: Lgpos) {
        self.ending.borrow_mut().push_back((tip, begin));
    }

    /// Whether no transaction is open.
    pub(crate) fn is_empty(&self) -> bool {
        self.open.get() == 0
    }

    /// Whether no transaction has changes that it may have to undo.
    pub(crate) fn has_no_active(&self) -> bool {
        self.active.borrow().is_empty()
    }

    /// The oldest log position that some transaction needs, with the log durable up to `durable`:
    /// the start of the oldest one that is active or whose end a crash may lose.
    pub(super) fn oldest_needed(&self, durable: Lgpos) -> Option<Lgpos> {
        let mut ending = self.ending.borrow_mut();
        while ending.front().is_some_and(|(end, _)| *end <= durable) {
            ending.pop_front();
        }
        let active = self.active.borrow();
        let ending = ending.iter().map(|(_, begin)| *begin);
        active.values().copied().chain(ending).min()
    }
}

#[cfg(test)]
mod tests {
    use ese::Lgpos;
    use units::Generation;
    use wal::edit::TransactionId;

    use super::TransactionTable;

    const fn place(generation: u32) -> Lgpos {
        Lgpos { generation: Generation(generation), segment: 1, byte: 0 }
    }

    #[test]
    fn the_log_is_needed_until_the_end_of_a_transaction_is_durable() {
        let table = TransactionTable::new(TransactionId(0));
        let (old, new) = (table.open(), table.open());
        table.activate(old, place(1));
        table.activate(new, place(3));
        assert_eq!(table.oldest_needed(place(4)), Some(place(1)));
        table.close(old, place(5));
        assert_eq!(table.oldest_needed(place(4)), Some(place(1)), "a crash loses the end");
        assert_eq!(table.oldest_needed(place(5)), Some(place(3)));
        table.close(new, place(6));
        assert_eq!(table.oldest_needed(place(6)), None);
        assert!(table.is_empty() && table.has_no_active());
    }

    #[test]
    fn a_transaction_that_changes_nothing_needs_no_log() {
        let table = TransactionTable::new(TransactionId(u32::MAX));
        let transaction = table.open();
        assert!(transaction.is_some(), "numbers that run out begin anew");
        assert!(!table.is_empty() && table.has_no_active());
        table.close(transaction, place(2));
        assert_eq!(table.oldest_needed(place(1)), None);
    }
}
