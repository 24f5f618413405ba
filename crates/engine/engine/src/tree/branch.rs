//! Removes children from branch pages, so that each page still ends with the key by which its
//! parent refers to it.
//!
//! A branch page's last key is the key by which its parent points to it; only the last page of a
//! level ends with an empty one. So when the last child of a page is removed, the child before it
//! takes over the key, and if that child is a branch page itself, so do the last pages below it.

use ese::page::{PageRef, encode_node, page_flags};
use units::PageNumber;
use wal::edit::PageEdit;

use super::split::split_branch;
use super::{
    MOST_STEPS, Path, Tree, common_flags, descend, endless, line_u16, tree_page, unreadable,
};
use crate::stage::{Halt, Stage};

/// Splits branch pages until the path's leaf can be removed: a page whose last key will change
/// needs room for the new one. Returns the resulting path.
pub(super) fn with_room_to_remove(
    stage: &mut Stage<'_>,
    tree: &Tree,
    path: &Path,
) -> Result<Path, Halt> {
    let mut path = *path;
    for _ in 0..MOST_STEPS {
        let Some(tight) = tight_branch(stage, tree, &path)? else {
            return Ok(path);
        };
        stage.counts.splits += 1;
        let (page, _) = tight.branches()[tight.branches().len() - 1];
        split_branch(stage, tree, &tight, (page, 0))?;
        let leaf = stage.page(path.leaf)?;
        let first = leaf.node(0).ok_or(unreadable(path.leaf))?;
        let (key, data) = (first.key(), first.data.to_vec());
        path = descend(stage, tree, &key, &data)?;
    }
    Err(endless(tree.root))
}

/// The path to a branch page without room for the longer key it must end with when the path's leaf
/// is removed; `None` if there is room everywhere.
fn tight_branch(stage: &mut Stage<'_>, tree: &Tree, path: &Path) -> Result<Option<Path>, Halt> {
    let Some(level) = removal_level(stage, path)? else {
        return Ok(None);
    };
    let (parent, line) = path.branches()[level];
    let page = stage.page(parent)?;
    let last = page.node_count() - 1;
    if level + 1 == path.branches().len() || last == 0 || usize::from(line) != last {
        return Ok(None);
    }
    let key = page.node(last).ok_or(unreadable(parent))?.key();
    let mut way = *path;
    way.steps[level].1 = line - 1;
    way.depth = level + 1;
    let mut number = page.child(last - 1).ok_or(unreadable(parent))?;
    while way.depth < way.steps.len() {
        let page = tree_page(stage, tree, number)?;
        let (last, ending) = last_key(page, number)?;
        way.steps[way.depth] = (number, line_u16(last));
        way.depth += 1;
        if page.free_bytes() + ending.len() < key.len() {
            return Ok(Some(way));
        }
        if page.has(page_flags::PARENT_OF_LEAF) {
            return Ok(None);
        }
        number = page.child(last).ok_or(unreadable(number))?;
    }
    Err(endless(tree.root))
}

/// The level of the branch page on the path that loses an entry when the leaf is removed: pages
/// with no other entry are removed with it. `None` if the root is the leaf.
fn removal_level(stage: &mut Stage<'_>, path: &Path) -> Result<Option<usize>, Halt> {
    for (level, (number, _)) in path.branches().iter().enumerate().rev() {
        if level == 0 || stage.page(*number)?.node_count() > 1 {
            return Ok(Some(level));
        }
    }
    Ok(None)
}

fn last_key(page: PageRef<'_>, number: PageNumber) -> Result<(usize, Vec<u8>), Halt> {
    let last = page.node_count().checked_sub(1);
    let last = last.ok_or(unreadable(number))?;
    let node = page.node(last).ok_or(unreadable(number))?;
    Ok((last, node.key()))
}

/// Removes a child's entry from a branch page; false if it was the only entry, so that the page
/// itself must be removed. A root without entries becomes an empty leaf.
pub(super) fn remove_entry(
    stage: &mut Stage<'_>,
    tree: &Tree,
    parent: PageNumber,
    line: u16,
) -> Result<bool, Halt> {
    let page = stage.page(parent)?;
    let entries = page.node_count();
    let common = common_flags(page);
    if entries == 1 && parent != tree.root {
        return Ok(false);
    }
    if entries > 1 && usize::from(line) == entries - 1 {
        remove_last_entry(stage, tree, parent)?;
        return Ok(true);
    }
    stage.edit(parent, PageEdit::Remove { line, count: 1 })?;
    if entries == 1 {
        let flags = page_flags::ALWAYS | page_flags::ROOT | page_flags::LEAF | common;
        stage.edit(parent, PageEdit::PageFlags(flags))?;
    }
    Ok(true)
}

/// Removes the last of several children from a branch page. The one before it takes over its key.
fn remove_last_entry(stage: &mut Stage<'_>, tree: &Tree, parent: PageNumber) -> Result<(), Halt> {
    let page = stage.page(parent)?;
    let (last, key) = last_key(page, parent)?;
    let before = page.child(last - 1).ok_or(unreadable(parent))?;
    let above_leaves = page.has(page_flags::PARENT_OF_LEAF);
    let mut node = page.node_bytes(last).ok_or(unreadable(parent))?;
    node.truncate(node.len() - 4);
    node.extend_from_slice(&before.0.to_le_bytes());
    let line = line_u16(last);
    stage.edit(parent, PageEdit::Replace { line, node })?;
    let (line, count) = (line - 1, 1);
    stage.edit(parent, PageEdit::Remove { line, count })?;
    if above_leaves {
        return Ok(());
    }
    end_with(stage, tree, before, &key)
}

/// Makes a branch page, and the last ones below it, end with `key`.
fn end_with(
    stage: &mut Stage<'_>,
    tree: &Tree,
    mut number: PageNumber,
    key: &[u8],
) -> Result<(), Halt> {
    loop {
        let page = tree_page(stage, tree, number)?;
        let (last, ending) = last_key(page, number)?;
        let child = page.child(last).ok_or(unreadable(number))?;
        let above_leaves = page.has(page_flags::PARENT_OF_LEAF);
        if ending != key {
            let mut node = Vec::new();
            let flags = encode_node(page.prefix(), key, &child.0.to_le_bytes(), &mut node);
            let (line, count) = (line_u16(last), 1);
            stage.edit(number, PageEdit::Remove { line, count })?;
            stage.edit(number, PageEdit::Insert { line, flags, node })?;
        }
        if above_leaves {
            return Ok(());
        }
        number = child;
    }
}
