//! Undoing operations by key: rollback at run time, and of the losers after a crash.

use std::collections::HashMap;
use std::rc::Rc;

use ese::long_value::LongValueId;
use units::ObjectId;

use crate::edit::Undo;
use crate::hash::QuickHash;
use crate::long_value;
use crate::stage::{Stage, Stop};
use crate::table_state::TableState;
use crate::tree::{self, Tree};

/// The trees of a database by their object identifiers.
pub(crate) type Trees = HashMap<ObjectId, Tree, QuickHash>;

/// The tables of a database by their names.
pub(crate) type Tables = HashMap<String, Rc<TableState>>;

/// Undoes what one apply pushed, the last one first.
pub(crate) fn undo(
    stage: &mut Stage<'_>,
    (tables, trees): (&Tables, &Trees),
    undos: &[Undo],
) -> Result<(), Stop> {
    undos
        .iter()
        .rev()
        .try_for_each(|undo| undo_one(stage, (tables, trees), undo))
}

fn undo_one(
    stage: &mut Stage<'_>,
    (tables, trees): (&Tables, &Trees),
    undo: &Undo,
) -> Result<(), Stop> {
    match undo {
        Undo::InsertRow { tree, key } => {
            let table = tables.values().find(|table| table.primary.object == *tree);
            table.ok_or(UNKNOWN)?.remove_row(stage, key)
        }
        Undo::Insert { tree, key, data } => tree::remove(stage, find(trees, *tree)?, key, data),
        Undo::FlagDelete { tree, key, data } => {
            tree::set_deleted(stage, find(trees, *tree)?, key, data, false)
        }
        Undo::Revive { tree, key, data } => {
            let tree = find(trees, *tree)?;
            if !tree.repeats {
                tree::replace(stage, tree, key, data)?;
            }
            tree::set_deleted(stage, tree, key, data, true)
        }
        Undo::Replace { tree, key, before } => {
            tree::replace(stage, find(trees, *tree)?, key, before)
        }
        Undo::LongValueInsert { tree, long_value } => {
            long_value::remove(stage, find(trees, *tree)?, id(*long_value))
        }
        Undo::LongValueRelease { tree, long_value } => {
            long_value::add_references(stage, find(trees, *tree)?, id(*long_value), 1)
        }
    }
}

fn id(number: u32) -> LongValueId {
    LongValueId(u64::from(number))
}

/// A tree that the log or the version store names.
pub(crate) fn find(trees: &Trees, object: ObjectId) -> Result<&Tree, Stop> {
    trees.get(&object).ok_or(UNKNOWN)
}

const UNKNOWN: Stop = Stop::Damaged {
    page: crate::space::DATABASE_ROOT,
    problem: "the catalog lacks a tree that the log names",
};
