//! Redo of merges: a page gives its nodes to a neighbour or is freed, and its parents drop it.
//!
//! A macro holds one record per level, starting at the root; the last one is the page's own and
//! says how it is merged.

use super::edit::{self, NodeCopy};
use super::image;
use super::{BehindCause, LogReplay, PageStore};
use crate::layout::{Field, Part, types};
use crate::record::LogRecord;
use ese::page::{PageError, PageRef, node_flags};

/// Kinds of merge.
mod kinds {
    pub(super) const EMPTY_PAGE: u64 = 1;
    pub(super) const FULL_RIGHT: u64 = 2;
    pub(super) const PARTIAL_RIGHT: u64 = 3;
    pub(super) const FULL_LEFT: u64 = 5;
    pub(super) const PARTIAL_LEFT: u64 = 6;
}

/// Flags of a level.
mod flags {
    pub(super) const KEY_CHANGES: u64 = 1;
    pub(super) const NODE_GOES: u64 = 2;
    pub(super) const PAGE_EMPTIES: u64 = 4;
}

impl<S: PageStore> LogReplay<S> {
    pub(super) fn redo_merge(&mut self, records: &[LogRecord<'static>]) -> Result<(), S::Error> {
        let levels: Vec<&LogRecord<'static>> =
            records.iter().filter(|record| record.kind() == types::MERGE).collect();
        let Some((leaf, parents)) = levels.split_last() else {
            return Ok(());
        };
        for parent in parents {
            self.merge_parent(parent, leaf)?;
        }
        self.merge_leaf(leaf)
    }

    fn merge_parent(
        &mut self,
        record: &LogRecord<'_>,
        leaf: &LogRecord<'_>,
    ) -> Result<(), S::Error> {
        let (page, place, after) = (record.page(Field::Page), record.place(), dbtime(record));
        let before = record.number(Field::DbtimeBefore);
        let Some(bytes) = self.open(page, before, after, place)? else {
            return Ok(());
        };
        let mut changed = bytes.clone();
        match change_parent(&mut changed, record, leaf) {
            Ok(()) => self.close(page, changed, after, place, Ok(())),
            Err(error) => self.close(page, bytes, after, place, Err(error)),
        }
    }

    fn merge_leaf(&mut self, record: &LogRecord<'static>) -> Result<(), S::Error> {
        let (page, place, after) = (record.page(Field::Page), record.place(), dbtime(record));
        let source = self.open(page, record.number(Field::DbtimeBefore), after, place)?;
        self.move_nodes(record, source.as_deref())?;
        if let Some(bytes) = source {
            let mut changed = bytes.clone();
            match change_source(&mut changed, record) {
                Ok(()) => self.close(page, changed, after, place, Ok(()))?,
                Err(error) => self.close(page, bytes, after, place, Err(error))?,
            }
        }
        Ok(())
    }

    /// Updates both neighbours: moves nodes to one, and links past a freed page.
    fn move_nodes(
        &mut self,
        record: &LogRecord<'static>,
        source: Option<&[u8]>,
    ) -> Result<(), S::Error> {
        let (place, after, kind) =
            (record.place(), dbtime(record), record.number(Field::MergeKind));
        let is_whole = !matches!(kind, kinds::PARTIAL_RIGHT | kinds::PARTIAL_LEFT);
        let (left, right) = (record.page(Field::LeftPage), record.page(Field::RightPage));
        let sides = [
            (left, Field::LeftBefore, matches!(kind, kinds::FULL_LEFT | kinds::PARTIAL_LEFT)),
            (right, Field::RightBefore, matches!(kind, kinds::FULL_RIGHT | kinds::PARTIAL_RIGHT)),
        ];
        for (page, before, is_target) in sides {
            if !page.is_some() {
                continue;
            }
            let Some(bytes) = self.open(page, record.number(before), after, place)? else {
                continue;
            };
            let mut changed = bytes.clone();
            if is_whole && page == left {
                edit::set_next(&mut changed, right);
            } else if is_whole {
                edit::set_previous(&mut changed, left);
            }
            let moved =
                if is_target { self.add_moved(&mut changed, record, source) } else { Ok(()) };
            match moved {
                Ok(()) => self.close(page, changed, after, place, Ok(()))?,
                Err(cause) => {
                    self.leave_behind(page, place, cause);
                    self.pages.put(page, bytes)?;
                }
            }
        }
        Ok(())
    }

    /// Adds the nodes that a merge moves to the page that gets them.
    fn add_moved(
        &self,
        bytes: &mut [u8],
        record: &LogRecord<'static>,
        source: Option<&[u8]>,
    ) -> Result<(), BehindCause> {
        let image = match source {
            Some(_) => None,
            None => image::of_record(record, self.pages.page_size()),
        };
        let from = source.or(image.as_deref());
        let from = from.ok_or_else(|| BehindCause::DependsOn(record.page(Field::Page)))?;
        let moved = moved_nodes(from, record).map_err(BehindCause::Impossible)?;
        let is_left =
            matches!(record.number(Field::MergeKind), kinds::FULL_LEFT | kinds::PARTIAL_LEFT);
        let first = if is_left { PageRef::new(bytes).node_count() } else { 0 };
        let mut lines = (first..).zip(&moved);
        lines
            .try_for_each(|(line, node)| edit::insert(bytes, line, node))
            .map_err(BehindCause::Impossible)
    }
}

fn dbtime(record: &LogRecord<'_>) -> u64 {
    record.number(Field::Dbtime)
}

/// The nodes that leave a page, in their order; those flagged as deleted do not.
fn moved_nodes(bytes: &[u8], record: &LogRecord<'_>) -> Result<Vec<NodeCopy>, PageError> {
    let all = edit::nodes(bytes)?;
    let moved = moved_lines(record, all.len());
    let mut nodes = all;
    nodes.truncate(moved.end);
    nodes.drain(..moved.start);
    nodes.retain(|node| node.flags & node_flags::DELETED == 0);
    Ok(nodes)
}

/// The lines that leave a page of `nodes` nodes.
fn moved_lines(record: &LogRecord<'_>, nodes: usize) -> std::ops::Range<usize> {
    let line = record.size(Field::MergeLine);
    match record.number(Field::MergeKind) {
        kinds::FULL_RIGHT | kinds::PARTIAL_RIGHT => line.min(nodes)..nodes,
        kinds::FULL_LEFT | kinds::PARTIAL_LEFT => 0..(line + 1).min(nodes),
        _ => 0..0,
    }
}

/// Applies the merge to the page that gave nodes away.
fn change_source(bytes: &mut [u8], record: &LogRecord<'_>) -> Result<(), PageError> {
    let kind = record.number(Field::MergeKind);
    if matches!(kind, kinds::PARTIAL_RIGHT | kinds::PARTIAL_LEFT) {
        let lines = moved_lines(record, PageRef::new(bytes).node_count());
        return lines.rev().try_for_each(|line| edit::remove(bytes, line));
    }
    if kind == kinds::EMPTY_PAGE || record.number(Field::MergeFlags) & flags::PAGE_EMPTIES != 0 {
        return edit::empty(bytes);
    }
    Ok(())
}

/// Applies the merge to a page above the merged one.
fn change_parent(
    bytes: &mut [u8],
    record: &LogRecord<'_>,
    leaf: &LogRecord<'_>,
) -> Result<(), PageError> {
    let (merge_flags, kind) = (record.number(Field::MergeFlags), leaf.number(Field::MergeKind));
    let line = record.size(Field::Line);
    let before = line.checked_sub(1).ok_or(PageError::NoLine { line: 0, nodes: 0 });
    let (goes, changes) =
        (merge_flags & flags::NODE_GOES != 0, merge_flags & flags::KEY_CHANGES != 0);
    if goes && changes && kind == kinds::FULL_LEFT {
        let left = leaf.page(Field::LeftPage).0.to_le_bytes();
        edit::replace_data(bytes, line, &left)?;
        edit::remove(bytes, before?)?;
    } else if goes {
        let was_last = edit::node(PageRef::new(bytes), line)?.key.is_empty();
        edit::remove(bytes, line)?;
        if let (true, Ok(before)) = (was_last, before) {
            edit::replace_key(bytes, before, &[])?;
        }
    } else if changes {
        let line = if kind == kinds::PARTIAL_LEFT { before? } else { line };
        edit::replace_key(bytes, line, leaf.part(Part::ParentKey))?;
    }
    if merge_flags & flags::PAGE_EMPTIES != 0 { edit::empty(bytes) } else { Ok(()) }
}
