//! Ascending walks over a snapshot, a leaf at a time.

use std::collections::VecDeque;

use crate::error::TransactionError;
use crate::table::Table;
use crate::transaction::Transaction;
use crate::tree::{self, Tree};
use crate::versions::{Seen, node_key};

/// The index whose order a scan follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The primary index: entries are (primary key, record).
    Primary,
    /// A secondary index, counted from 0 in catalog order: entries are (index key, primary key).
    Index(usize),
}

/// One entry of a scan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// Normalised key.
    pub key: Vec<u8>,
    /// The record, or the primary key.
    pub data: Vec<u8>,
}

/// An ascending walk over a snapshot.
pub struct Scan<'a> {
    transaction: &'a Transaction,
    tree: Tree,
    /// The last entry visited, or the starting point.
    at: Entry,
    /// Whether `at` has been visited.
    passed: bool,
    ended: bool,
    ready: VecDeque<Entry>,
}

impl<'a> Scan<'a> {
    pub(super) fn new(
        transaction: &'a Transaction,
        table: &Table,
        order: Order,
        from: &[u8],
    ) -> Self {
        let tree = match order {
            Order::Primary => table.state.primary,
            Order::Index(index) => table.state.indexes[index].1,
        };
        Self {
            transaction,
            tree,
            at: Entry { key: from.to_vec(), data: Vec::new() },
            passed: false,
            ended: false,
            ready: VecDeque::new(),
        }
    }

    /// The next entry; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Entry>, TransactionError> {
        while self.ready.is_empty() && !self.ended {
            self.read_leaf().await?;
        }
        Ok(self.ready.pop_front())
    }

    async fn read_leaf(&mut self) -> Result<(), TransactionError> {
        let (tree, passed, work) = (self.tree, self.passed, self.transaction.work());
        let (at, ready) = (&mut self.at, &mut self.ready);
        let more = work
            .core
            .look(|stage, versions| {
                ready.clear();
                let from = at.clone();
                let mut node_name = Vec::new();
                tree::walk(stage, &tree, (&from.key, &from.data), passed, |node| {
                    node.key_into(&mut at.key);
                    at.data.clear();
                    if tree.repeats {
                        at.data.extend_from_slice(node.data);
                    }
                    node_key(tree.object, &at.key, &at.data, &mut node_name);
                    let data = match versions.see(&node_name, work.viewer) {
                        Seen::Page if node.is_deleted() => None,
                        Seen::Page => Some(node.data.to_vec()),
                        Seen::Earlier(data) => Some(data.to_vec()),
                        Seen::Absent => None,
                    };
                    ready.extend(data.map(|data| Entry { key: at.key.clone(), data }));
                    true
                })
            })
            .await?;
        self.passed = true;
        self.ended = !more;
        Ok(())
    }
}
