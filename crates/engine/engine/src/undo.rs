//! Undoes operations by key, for rollback at run time and for the losers after a crash.

use ese::long_value::LongValueId;
use units::ObjectId;
use wal::edit::Undo;

use crate::long_value;
use crate::stage::{Halt, Stage};
use crate::table_state::OpenTables;
use crate::tree::{self, Tree};

/// Undoes the pushes of one apply, the last one first.
pub(crate) fn undo(stage: &mut Stage<'_>, tables: &OpenTables, undos: &[Undo]) -> Result<(), Halt> {
    undos.iter().rev().try_for_each(|undo| undo_one(stage, tables, undo))
}

fn undo_one(stage: &mut Stage<'_>, tables: &OpenTables, undo: &Undo) -> Result<(), Halt> {
    match undo {
        Undo::InsertRow { tree, key } => {
            let table = tables.of_primary(*tree);
            table.ok_or(UNKNOWN)?.remove_row(stage, key)
        }
        Undo::Insert { tree, key, data } => tree::remove(stage, find(tables, *tree)?, key, data),
        Undo::FlagDelete { tree, key, data } => {
            tree::set_deleted(stage, find(tables, *tree)?, key, data, false)
        }
        Undo::Revive { tree, key, data } => {
            let tree = find(tables, *tree)?;
            if !tree.repeats {
                tree::replace(stage, tree, key, data)?;
            }
            tree::set_deleted(stage, tree, key, data, true)
        }
        Undo::Replace { tree, key, before } => {
            tree::replace(stage, find(tables, *tree)?, key, before)
        }
        Undo::LongValueInsert { tree, long_value } => {
            long_value::remove(stage, find(tables, *tree)?, id(*long_value))
        }
        Undo::LongValueRelease { tree, long_value } => {
            long_value::add_references(stage, find(tables, *tree)?, id(*long_value), 1)
        }
    }
}

fn id(number: u32) -> LongValueId {
    LongValueId(u64::from(number))
}

/// Finds a tree named by the log or the version store.
pub(crate) fn find(tables: &OpenTables, object: ObjectId) -> Result<&Tree, Halt> {
    tables.tree(object).ok_or(UNKNOWN)
}

const UNKNOWN: Halt = Halt::Damaged {
    page: crate::space::DATABASE_ROOT,
    problem: "the catalog lacks a tree that the log names",
};
