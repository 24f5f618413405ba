//! Rows deleted during a replay: the deletion is the last time their data is on the page.

use std::collections::BTreeMap;

use ese::page::{PageRef, node_flags};
use ese::{Lgpos, LogTime};
use units::{ObjectId, PageNumber};

use super::edit;
use super::{LogReplay, PageStore};
use crate::layout::{Field, types};
use crate::record::LogRecord;

/// Limit on the bytes of deleted rows kept; further rows are only counted.
const MOST_BYTES: usize = 64 << 20;

/// A row that a committed transaction deleted, with its contents before that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeletedRow {
    /// Its data; the columns of a table's row.
    pub data: Vec<u8>,
    /// The page that it was on.
    pub page: PageNumber,
    /// Its line on that page.
    pub line: usize,
    /// The record that deleted it.
    pub place: Lgpos,
    /// Creation time of that record's segment.
    pub time: LogTime,
    /// Number of the deletion, by which its undo names it.
    version: u32,
}

/// Deleted rows by tree and key, in log order for each key.
#[derive(Clone, Debug, Default)]
pub struct DeletedRows {
    rows: BTreeMap<ObjectId, BTreeMap<Vec<u8>, Vec<DeletedRow>>>,
    /// Tree and key of the latest deletion with each number. A restarted engine counts from the
    /// start again.
    by_version: BTreeMap<u32, (ObjectId, Vec<u8>)>,
    bytes: usize,
    /// Rows that did not fit into memory.
    pub left_out: u64,
}

impl DeletedRows {
    /// The rows of one tree in the order of their keys.
    pub fn of(&self, tree: ObjectId) -> impl Iterator<Item = &DeletedRow> {
        self.rows.get(&tree).into_iter().flat_map(BTreeMap::values).flatten()
    }

    fn keep(&mut self, tree: ObjectId, key: Vec<u8>, row: DeletedRow) {
        let bytes = 2 * key.len() + row.data.len();
        if self.bytes + bytes > MOST_BYTES {
            self.left_out += 1;
            return;
        }
        self.bytes += bytes;
        if row.version != 0 {
            self.by_version.insert(row.version, (tree, key.clone()));
        }
        self.rows.entry(tree).or_default().entry(key).or_default().push(row);
    }

    /// Drops the row of a deletion that was undone.
    pub(super) fn drop_undone(&mut self, version: u32) {
        let Some((tree, key)) = self.by_version.remove(&version) else {
            return;
        };
        if let Some(rows) = self.rows.get_mut(&tree).and_then(|rows| rows.get_mut(&key))
            && let Some(at) = rows.iter().rposition(|row| row.version == version)
        {
            rows.remove(at);
        }
    }

    /// The last deletion of a key, if it is known.
    fn last(&self, tree: ObjectId, key: &[u8]) -> Option<&DeletedRow> {
        self.rows.get(&tree)?.get(key)?.last()
    }
}

impl<S: PageStore> LogReplay<S> {
    /// Keeps the rows that records delete, for [`super::ReplaySummary::deleted`].
    #[must_use]
    pub fn keeping_deleted(mut self) -> Self {
        self.deleted = Some(DeletedRows::default());
        self
    }

    /// States the time of the records that follow: that of their segment.
    pub const fn set_time(&mut self, time: LogTime) {
        self.time = time;
    }

    /// Notes the row that a record is about to delete from the page in `bytes`.
    pub(super) fn note_deleted(&mut self, record: &LogRecord<'_>, bytes: &[u8]) {
        let Some(deleted) = &mut self.deleted else {
            return;
        };
        let is_removal = record.kind() == types::DELETE;
        if !is_removal && record.kind() != types::FLAG_DELETE {
            return;
        }
        let line = record.size(Field::Line);
        let Ok(node) = edit::node(PageRef::new(bytes), line) else {
            return;
        };
        let is_known = deleted.last(record.object(), &node.key).is_some();
        // A removed row was flagged before, by a record that this log may no longer have.
        if is_removal && (is_known || node.flags & node_flags::DELETED == 0) {
            return;
        }
        let row = DeletedRow {
            data: node.data,
            page: record.page(Field::Page),
            line,
            place: record.place(),
            time: self.time,
            version: if is_removal { 0 } else { record.word(Field::Version) },
        };
        deleted.keep(record.object(), node.key, row);
    }
}
