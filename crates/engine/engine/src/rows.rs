//! Row operations as plans: record, long values and index entries change together, in one apply.

use ese::key::index_key;
use ese::long_value::LongValueId;
use ese::page::{node_flags, page_flags};
use ese::record::{Element, RecordError, RecordRef, Stored};
use ese::schema::ColumnId;
use units::{ObjectId, PageNumber};
use wal::edit::{Undo, UndoAction};

use crate::long_value;
use crate::row::Row;
use crate::stage::{Halt, Refusal, Stage};
use crate::table_state::{OpenTables, TableState};
use crate::tree::{self, Tree};
use crate::undo;
use crate::versions::{Before, Cleanup, NodeKey, Seen, Versions, Viewer, node_key};

/// A row ready to be stored.
pub(crate) struct Prepared<'a> {
    key: Vec<u8>,
    record: Vec<u8>,
    index_keys: Vec<Vec<u8>>,
    long_values: Vec<(LongValueId, &'a [u8])>,
}

/// Follow-up work of a planned row operation, once it has been logged.
#[derive(Default)]
pub(crate) struct RowChange {
    /// The steps of a rollback.
    pub undo: Vec<Undo>,
    /// The changed nodes' previous contents.
    pub versions: Vec<(NodeKey, Before)>,
    /// Items to remove later.
    pub cleanups: Vec<Cleanup>,
    /// The pages that the cleanup will change, as far as known now.
    pub cleanup_pages: Vec<PageNumber>,
}

/// A stored record and the references it holds.
struct StoredRow {
    record: Vec<u8>,
    index_keys: Vec<Vec<u8>>,
    long_values: Vec<LongValueId>,
}

/// A table's rows, their versions, and the viewer that reads them.
pub(crate) struct View<'a> {
    pub table: &'a TableState,
    pub versions: &'a Versions,
    pub viewer: Viewer,
}

impl TableState {
    /// Encodes a row: keys, record, and numbers for its long values.
    pub(crate) fn prepare<'a>(&self, row: &'a Row) -> Result<Prepared<'a>, Refusal> {
        let mut prepared = Prepared {
            key: Vec::new(),
            record: Vec::new(),
            index_keys: Vec::new(),
            long_values: Vec::new(),
        };
        let primary = self.definition.primary().expect("invariant: checked when it was opened");
        index_key(&self.definition, primary, |column| row.get(column.0), &mut prepared.key)
            .map_err(|error| refuse_key(&error))?;
        for (index, _) in &self.indexes {
            let mut key = Vec::new();
            index_key(&self.definition, index, |column| row.get(column.0), &mut key)
                .map_err(|error| refuse_key(&error))?;
            prepared.index_keys.push(key);
        }
        let mut builder = self.builder.borrow_mut();
        builder.clear();
        for (column, value) in row.columns() {
            let id = ColumnId(column);
            let long = self.definition.column(id).is_some_and(|c| c.column_type.is_long());
            if long && self.long_values.is_some() {
                let number = self.long_value_numbers.borrow_mut().take();
                let long_value = LongValueId(u64::from(number));
                builder.set_separated(id, long_value).map_err(refuse_record)?;
                prepared.long_values.push((long_value, value));
            } else {
                builder.set(id, value).map_err(refuse_record)?;
            }
        }
        builder.finish(&mut prepared.record).map_err(refuse_record)?;
        Ok(prepared)
    }

    /// Takes back the numbers of a row's long values, which were not stored.
    pub(crate) fn unprepare(&self, row: &Prepared<'_>) {
        let mut numbers = self.long_value_numbers.borrow_mut();
        for (id, _) in row.long_values.iter().rev() {
            numbers.give_back(number(*id));
        }
    }

    /// The stored row with this key, if not deleted.
    fn stored(&self, stage: &mut Stage<'_>, key: &[u8]) -> Result<StoredRow, Halt> {
        let found = tree::get(stage, &self.primary, key, |flags, data| {
            (flags & node_flags::DELETED == 0).then(|| data.to_vec())
        })?;
        let record = found.flatten().ok_or(Halt::Refused(Refusal::NotFound))?;
        let problem = "a record that cannot be read";
        self.stored_row(record).ok_or(Halt::Damaged { page: self.primary.root, problem })
    }

    /// Plans the removal of a row seen only by the transaction that inserted it, with its long
    /// values and index entries.
    pub(crate) fn remove_row(&self, stage: &mut Stage<'_>, key: &[u8]) -> Result<(), Halt> {
        let row = self.stored(stage, key)?;
        if let Some(tree) = &self.long_values {
            for &id in &row.long_values {
                tolerate(long_value::remove(stage, tree, id))?;
            }
        }
        for ((_, tree), index_key) in self.indexes.iter().zip(&row.index_keys) {
            tolerate(tree::remove(stage, tree, index_key, key))?;
        }
        tolerate(tree::remove(stage, &self.primary, key, &[]))?;
        complete(stage, ())
    }

    /// The references that a stored record holds.
    fn stored_row(&self, record: Vec<u8>) -> Option<StoredRow> {
        let parsed = RecordRef::parse(&record, self.page_size).ok()?;
        let definition = &self.definition;
        let mut index_keys = Vec::with_capacity(self.indexes.len());
        for (index, _) in &self.indexes {
            let mut key = Vec::new();
            index_key(definition, index, |id| parsed.plain(definition.column(id)?), &mut key)
                .ok()?;
            index_keys.push(key);
        }
        let mut long_values = Vec::new();
        for field in parsed.tagged_fields().ok()? {
            if let Stored::One(Element::Separated(id)) = field.stored {
                long_values.push(id);
            }
        }
        Some(StoredRow { record, index_keys, long_values })
    }
}

fn refuse_key(error: &ese::key::KeyError) -> Refusal {
    Refusal::BadRow { problem: error.to_string() }
}

fn refuse_record(error: RecordError) -> Refusal {
    match error {
        RecordError::TooLong { bytes, most } => Refusal::TooLarge { bytes, most },
        other => Refusal::BadRow { problem: other.to_string() },
    }
}

/// Lets planning continue past missing pages, so that one fetch brings them all.
fn tolerate(result: Result<(), Halt>) -> Result<(), Halt> {
    match result {
        Err(Halt::Missing) => Ok(()),
        other => other,
    }
}

impl View<'_> {
    /// Plans the insertion of a row.
    pub(crate) fn insert(
        &self,
        stage: &mut Stage<'_>,
        row: &Prepared<'_>,
    ) -> Result<RowChange, Halt> {
        let mut change = RowChange::default();
        self.refuse_conflict(&row.key)?;
        let primary = &self.table.primary;
        insert_node(stage, primary, (&row.key, &row.record), &mut change)?;
        self.insert_long_values(stage, row, &mut change)?;
        for (at, key) in row.index_keys.iter().enumerate() {
            self.index_entry(at, key, &row.key).insert(stage, &mut change)?;
        }
        change.versions.push((node(primary, &row.key, &[]), Before::Absent));
        if !change.undo.iter().any(|undo| matches!(undo, Undo::Revive { .. })) {
            // Kept short in the log, because every inserted row has one.
            let (tree, key) = (primary.object, row.key.clone());
            change.undo = vec![Undo::InsertRow { tree, key }];
        }
        complete(stage, change)
    }

    /// Plans the replacement of a row.
    pub(crate) fn replace(
        &self,
        stage: &mut Stage<'_>,
        row: &Prepared<'_>,
    ) -> Result<RowChange, Halt> {
        self.refuse_conflict(&row.key)?;
        let old = self.table.stored(stage, &row.key)?;
        let primary = &self.table.primary;
        let mut change = RowChange::default();
        tolerate(tree::replace(stage, primary, &row.key, &row.record))?;
        self.insert_long_values(stage, row, &mut change)?;
        self.release_long_values(stage, &old, &mut change)?;
        for (at, (old_key, key)) in old.index_keys.iter().zip(&row.index_keys).enumerate() {
            if old_key != key {
                self.index_entry(at, old_key, &row.key).delete(stage, &mut change)?;
                self.index_entry(at, key, &row.key).insert(stage, &mut change)?;
            }
        }
        change.undo.push(Undo::Replace {
            tree: primary.object,
            key: row.key.clone(),
            before: old.record.clone(),
        });
        let before = Before::Present(old.record);
        change.versions.push((node(primary, &row.key, &[]), before));
        change.cleanup_pages = stage.edited();
        complete(stage, change)
    }

    /// Plans the deletion of the row with this primary key.
    pub(crate) fn delete(&self, stage: &mut Stage<'_>, key: &[u8]) -> Result<RowChange, Halt> {
        let mut change = RowChange::default();
        self.refuse_conflict(key)?;
        let old = self.table.stored(stage, key)?;
        let primary = &self.table.primary;
        self.release_long_values(stage, &old, &mut change)?;
        for (at, index_key) in old.index_keys.iter().enumerate() {
            self.index_entry(at, index_key, key).delete(stage, &mut change)?;
        }
        flag_deleted(stage, primary, (key, &[]), &mut change)?;
        change.versions.push((node(primary, key, &[]), Before::Present(old.record)));
        change.cleanup_pages = stage.edited();
        complete(stage, change)
    }

    /// Puts the record with this primary key into `record`; false if the viewer sees none.
    pub(crate) fn read(
        &self,
        stage: &mut Stage<'_>,
        key: &[u8],
        record: &mut Vec<u8>,
    ) -> Result<bool, Halt> {
        let tree = &self.table.primary;
        let node = node(tree, key, &[]);
        record.clear();
        match self.versions.see(&node, self.viewer) {
            Seen::Absent => return Ok(false),
            Seen::Earlier(data) => {
                record.extend_from_slice(data);
                return Ok(true);
            }
            Seen::Page => (),
        }
        let found = tree::get(stage, tree, key, |flags, data| {
            let there = flags & node_flags::DELETED == 0;
            if there {
                record.extend_from_slice(data);
            }
            there
        })?;
        Ok(found == Some(true))
    }

    fn refuse_conflict(&self, key: &[u8]) -> Result<(), Halt> {
        let node = node(&self.table.primary, key, &[]);
        if self.versions.conflicts(&node, self.viewer) {
            return Err(Halt::Refused(Refusal::Conflict));
        }
        Ok(())
    }

    fn insert_long_values(
        &self,
        stage: &mut Stage<'_>,
        row: &Prepared<'_>,
        change: &mut RowChange,
    ) -> Result<(), Halt> {
        let Some(tree) = &self.table.long_values else {
            return Ok(());
        };
        for (id, value) in &row.long_values {
            tolerate(long_value::insert(stage, tree, *id, value))?;
            let long_value = number(*id);
            change.undo.push(Undo::LongValueInsert { tree: tree.object, long_value });
        }
        Ok(())
    }

    fn release_long_values(
        &self,
        stage: &mut Stage<'_>,
        old: &StoredRow,
        change: &mut RowChange,
    ) -> Result<(), Halt> {
        let Some(tree) = &self.table.long_values else {
            return Ok(());
        };
        for &id in &old.long_values {
            tolerate(long_value::add_references(stage, tree, id, -1))?;
            let (tree, long_value) = (tree.object, number(id));
            change.undo.push(Undo::LongValueRelease { tree, long_value });
            change.cleanups.push(Cleanup::LongValue { tree, long_value });
        }
        Ok(())
    }

    /// The entry of a row in index `at`.
    fn index_entry<'k>(
        &'k self,
        at: usize,
        key: &'k [u8],
        primary_key: &'k [u8],
    ) -> IndexEntry<'k> {
        IndexEntry { tree: &self.table.indexes[at].1, key, primary_key }
    }
}

/// The entry of a row in a secondary index.
struct IndexEntry<'k> {
    tree: &'k Tree,
    key: &'k [u8],
    primary_key: &'k [u8],
}

impl IndexEntry<'_> {
    fn insert(&self, stage: &mut Stage<'_>, change: &mut RowChange) -> Result<(), Halt> {
        insert_node(stage, self.tree, (self.key, self.primary_key), change)?;
        change.versions.push((node(self.tree, self.key, self.data()), Before::Absent));
        Ok(())
    }

    fn delete(&self, stage: &mut Stage<'_>, change: &mut RowChange) -> Result<(), Halt> {
        flag_deleted(stage, self.tree, (self.key, self.data()), change)?;
        let before = Before::Present(self.primary_key.to_vec());
        change.versions.push((node(self.tree, self.key, self.data()), before));
        Ok(())
    }

    /// Distinguishes the entry from others of the same key.
    const fn data(&self) -> &[u8] {
        if self.tree.repeats { self.primary_key } else { &[] }
    }
}

/// The version store's key for a node.
fn node(tree: &Tree, key: &[u8], data: &[u8]) -> NodeKey {
    let mut node = Vec::with_capacity(6 + key.len() + data.len());
    node_key(tree.object, key, if tree.repeats { data } else { &[] }, &mut node);
    node.into()
}

fn flag_deleted(
    stage: &mut Stage<'_>,
    tree: &Tree,
    (key, data): (&[u8], &[u8]),
    change: &mut RowChange,
) -> Result<(), Halt> {
    tolerate(tree::set_deleted(stage, tree, key, data, true))?;
    let (object, key, data) = (tree.object, key.to_vec(), data.to_vec());
    change.undo.push(Undo::FlagDelete { tree: object, key: key.clone(), data: data.clone() });
    change.cleanups.push(Cleanup::Node { tree: object, key, data });
    Ok(())
}

/// Inserts a node, continuing past missing pages, and records its undo.
fn insert_node(
    stage: &mut Stage<'_>,
    tree: &Tree,
    (key, data): (&[u8], &[u8]),
    change: &mut RowChange,
) -> Result<(), Halt> {
    let (object, node_key) = (tree.object, key.to_vec());
    change.undo.push(match tree::insert_or_revive(stage, tree, key, data) {
        Err(Halt::Missing) => return Ok(()),
        Err(stop) => return Err(stop),
        Ok(Some(before)) => Undo::Revive { tree: object, key: node_key, data: before },
        Ok(None) => {
            let data = if tree.repeats { data.to_vec() } else { Vec::new() };
            Undo::Insert { tree: object, key: node_key, data }
        }
    });
    Ok(())
}

fn number(id: LongValueId) -> u32 {
    u32::try_from(id.0).expect("invariant: this format's long values have 32-bit numbers")
}

fn complete<T>(stage: &Stage<'_>, planned: T) -> Result<T, Halt> {
    if stage.lacks_pages() { Err(Halt::Missing) } else { Ok(planned) }
}

/// Result of a cleanup.
#[derive(Debug, Default)]
pub(crate) struct Cleaned {
    /// Number of nodes and long values removed.
    pub count: u64,
    /// The trees and numbers of the removed long values.
    pub long_values: Vec<(ObjectId, u32)>,
}

impl Cleaned {
    /// Its log record: the long values whose numbers are now free.
    pub(crate) fn action(&self) -> UndoAction {
        if self.long_values.is_empty() {
            return UndoAction::None;
        }
        let gone = self.long_values.iter();
        UndoAction::Push(
            gone.map(|&(tree, long_value)| Undo::LongValueRelease { tree, long_value }).collect(),
        )
    }
}

/// Plans the cleanup left by one operation.
pub(crate) fn clean_up(
    stage: &mut Stage<'_>,
    tables: &OpenTables,
    versions: &Versions,
    group: &[Cleanup],
) -> Result<Cleaned, Halt> {
    let mut cleaned = Cleaned::default();
    for cleanup in group {
        match clean_up_one(stage, tables, versions, cleanup) {
            Ok(true) => {
                cleaned.count += 1;
                if let Cleanup::LongValue { tree, long_value } = cleanup {
                    cleaned.long_values.push((*tree, *long_value));
                }
            }
            Ok(false) | Err(Halt::Missing) => (),
            Err(stop) => return Err(stop),
        }
    }
    complete(stage, cleaned)
}

/// Carries out one cleanup; false if there is nothing to remove.
fn clean_up_one(
    stage: &mut Stage<'_>,
    tables: &OpenTables,
    versions: &Versions,
    cleanup: &Cleanup,
) -> Result<bool, Halt> {
    match cleanup {
        Cleanup::Node { tree, key, data } => {
            let tree = undo::find(tables, *tree)?;
            let data = if tree.repeats { &data[..] } else { &[] };
            let mut node = Vec::new();
            node_key(tree.object, key, data, &mut node);
            if versions.is_versioned(&node) || !tree::is_deleted(stage, tree, key, data)? {
                return Ok(false);
            }
            tree::remove(stage, tree, key, data)?;
        }
        Cleanup::LongValue { tree, long_value } => {
            let tree = undo::find(tables, *tree)?;
            let id = LongValueId(u64::from(*long_value));
            if long_value::references(stage, tree, id)? != Some(0) {
                return Ok(false);
            }
            long_value::remove(stage, tree, id)?;
        }
    }
    Ok(true)
}

/// Whether the page flags of a tree match the way its keys are compared.
pub(crate) fn flags_agree(stage: &mut Stage<'_>, tree: &Tree) -> Result<bool, Halt> {
    let page = stage.page(tree.root)?;
    Ok(page.object() == tree.object && page.has(page_flags::NON_UNIQUE) == tree.repeats)
}
