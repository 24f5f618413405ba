//! The version store: previous versions of rows whose changes some snapshot must not see.
//!
//! Pages hold the newest version of every row. A node's chain holds the changes that are not yet
//! visible to all snapshots, newest last, each with the content before it. A snapshot reads back
//! through the chain, from the newest change, past every change it must not see. A plain value: no
//! pages, no clock.

use std::collections::{BTreeMap, HashMap, VecDeque};

use units::ObjectId;
use wal::edit::TransactionId;

use crate::hash::QuickHash;

/// Counts commits: a snapshot sees the commits up to its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CommitNumber(pub u64);

/// A node before a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    /// The node did not exist or was deleted.
    Absent,
    /// The node existed with this data.
    Present(Vec<u8>),
}

/// A snapshot's view of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen<'a> {
    /// The content of the page.
    Page,
    /// Nothing.
    Absent,
    /// This data.
    Earlier(&'a [u8]),
}

/// The identity of a reader: a snapshot and the transaction that holds it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Viewer {
    /// Transaction whose own changes are visible too.
    pub transaction: TransactionId,
    /// The last commit before the transaction began.
    pub snapshot: CommitNumber,
}

struct NodeVersion {
    transaction: TransactionId,
    committed: Option<CommitNumber>,
    before: Before,
}

/// A node, identified by tree, key and, if keys repeat, data.
pub(crate) type NodeKey = Box<[u8]>;

/// Work that may run once no snapshot needs the data it removes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cleanup {
    /// Remove a node that is flagged as deleted.
    Node {
        /// The tree.
        tree: ObjectId,
        /// Its key.
        key: Vec<u8>,
        /// Its data, if keys repeat.
        data: Vec<u8>,
    },
    /// Remove a long value without references.
    LongValue {
        /// The long-value tree.
        tree: ObjectId,
        /// Its number.
        long_value: u32,
    },
}

/// Remains of a committed transaction.
#[derive(Debug)]
struct Committed {
    number: CommitNumber,
    transaction: TransactionId,
    nodes: Vec<NodeKey>,
}

/// The version store; see the module.
#[derive(Default)]
pub(crate) struct Versions {
    chains: HashMap<NodeKey, Vec<NodeVersion>, QuickHash>,
    last_commit: CommitNumber,
    snapshots: BTreeMap<CommitNumber, u32>,
    committed: VecDeque<Committed>,
}

/// Writes the key of a node's chain to `out`.
pub(crate) fn node_key(tree: ObjectId, key: &[u8], data: &[u8], out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(&tree.0.to_le_bytes());
    out.extend_from_slice(&(key.len() as u64).to_le_bytes()[..2]);
    out.extend_from_slice(key);
    out.extend_from_slice(data);
}

impl Versions {
    /// Takes a snapshot: everything committed so far.
    pub(crate) fn begin(&mut self) -> CommitNumber {
        *self.snapshots.entry(self.last_commit).or_default() += 1;
        self.last_commit
    }

    /// Gives a snapshot back.
    pub(crate) fn end(&mut self, snapshot: CommitNumber) {
        if let Some(count) = self.snapshots.get_mut(&snapshot) {
            *count -= 1;
            if *count == 0 {
                self.snapshots.remove(&snapshot);
            }
        }
    }

    /// The last commit.
    pub(crate) fn last_commit(&self) -> CommitNumber {
        self.last_commit
    }

    /// The last commit that every present and future snapshot sees.
    fn oldest(&self) -> CommitNumber {
        self.snapshots.keys().next().copied().unwrap_or(self.last_commit)
    }

    /// Whether the last change of a node keeps `viewer` from changing it.
    pub(crate) fn conflicts(&self, node: &[u8], viewer: Viewer) -> bool {
        let last = self.chains.get(node).and_then(|chain| chain.last());
        last.is_some_and(|version| !version.is_seen_by(viewer))
    }

    /// A viewer's version of a node.
    #[inline]
    pub(crate) fn see(&self, node: &[u8], viewer: Viewer) -> Seen<'_> {
        if self.chains.is_empty() {
            return Seen::Page;
        }
        let Some(chain) = self.chains.get(node) else {
            return Seen::Page;
        };
        let unseen = chain.iter().rev().take_while(|version| !version.is_seen_by(viewer));
        match unseen.last().map(|version| &version.before) {
            None => Seen::Page,
            Some(Before::Absent) => Seen::Absent,
            Some(Before::Present(data)) => Seen::Earlier(data),
        }
    }

    /// Stores a node's content before `transaction` changed it.
    pub(crate) fn push(&mut self, node: NodeKey, transaction: TransactionId, before: Before) {
        let version = NodeVersion { transaction, committed: None, before };
        self.chains.entry(node).or_default().push(version);
    }

    /// Makes the changes of `nodes` visible to transactions that begin from now on.
    pub(crate) fn commit(
        &mut self,
        transaction: TransactionId,
        nodes: Vec<NodeKey>,
    ) -> CommitNumber {
        self.last_commit.0 += 1;
        let number = self.last_commit;
        for node in &nodes {
            let chain = self.chains.get_mut(node).into_iter().flatten();
            for version in chain.filter(|version| version.transaction == transaction) {
                version.committed.get_or_insert(number);
            }
        }
        self.committed.push_back(Committed { number, transaction, nodes });
        number
    }

    /// Forgets the changes of a transaction that has been rolled back.
    pub(crate) fn forget(&mut self, transaction: TransactionId, nodes: &[NodeKey]) {
        for node in nodes {
            self.drop_versions(node, |version| version.transaction == transaction);
        }
    }

    /// Drops versions that no snapshot needs; returns the last commit that all of them see. Rows
    /// deleted up to there can be removed from the pages.
    pub(crate) fn trim(&mut self) -> CommitNumber {
        let oldest = self.oldest();
        while self.committed.front().is_some_and(|first| first.number <= oldest) {
            let Some(done) = self.committed.pop_front() else {
                break;
            };
            for node in &done.nodes {
                self.drop_versions(node, |version| version.transaction == done.transaction);
            }
        }
        oldest
    }

    /// Whether a node has a change that some snapshot does not see yet.
    pub(crate) fn is_versioned(&self, node: &[u8]) -> bool {
        self.chains.contains_key(node)
    }

    fn drop_versions(&mut self, node: &NodeKey, goes: impl Fn(&NodeVersion) -> bool) {
        let Some(chain) = self.chains.get_mut(node) else {
            return;
        };
        chain.retain(|version| !goes(version));
        if chain.is_empty() {
            self.chains.remove(node);
        }
    }
}

impl NodeVersion {
    fn is_seen_by(&self, viewer: Viewer) -> bool {
        self.transaction == viewer.transaction
            || self.committed.is_some_and(|number| number <= viewer.snapshot)
    }
}

#[cfg(test)]
mod tests {
    use super::{Before, Seen, Versions, Viewer, node_key};
    use units::ObjectId;
    use wal::edit::TransactionId;

    const A: TransactionId = TransactionId(1);
    const B: TransactionId = TransactionId(2);

    fn node(name: &str) -> Box<[u8]> {
        let mut key = Vec::new();
        node_key(ObjectId(8), name.as_bytes(), &[], &mut key);
        key.into()
    }

    #[test]
    fn a_snapshot_sees_what_was_committed_before_it_and_its_own_changes() {
        let mut versions = Versions::default();
        let early = Viewer { transaction: B, snapshot: versions.begin() };
        versions.push(node("x"), A, Before::Present(b"old".to_vec()));
        let own = Viewer { transaction: A, snapshot: versions.begin() };
        assert_eq!(versions.see(&node("x"), early), Seen::Earlier(b"old"));
        assert_eq!(versions.see(&node("x"), own), Seen::Page);
        versions.commit(A, vec![node("x")]);
        assert_eq!(versions.see(&node("x"), early), Seen::Earlier(b"old"));
        let late = Viewer { transaction: B, snapshot: versions.begin() };
        assert_eq!(versions.see(&node("x"), late), Seen::Page);
        assert!(versions.conflicts(&node("x"), early));
        assert!(!versions.conflicts(&node("x"), late));
    }

    #[test]
    fn the_oldest_unseen_change_counts() {
        let mut versions = Versions::default();
        let viewer = Viewer { transaction: B, snapshot: versions.begin() };
        versions.push(node("x"), A, Before::Absent);
        versions.push(node("x"), A, Before::Present(b"mine".to_vec()));
        assert_eq!(versions.see(&node("x"), viewer), Seen::Absent);
        versions.forget(A, &[node("x"), node("x")]);
        assert_eq!(versions.see(&node("x"), viewer), Seen::Page);
        assert!(!versions.is_versioned(&node("x")));
    }

    #[test]
    fn versions_live_as_long_as_a_snapshot_needs_them() {
        let mut versions = Versions::default();
        let snapshot = versions.begin();
        versions.push(node("x"), A, Before::Absent);
        let committed = versions.commit(A, vec![node("x")]);
        assert!(versions.trim() < committed);
        assert!(versions.is_versioned(&node("x")));
        versions.end(snapshot);
        assert_eq!(versions.trim(), committed);
        assert!(!versions.is_versioned(&node("x")));
    }
}
