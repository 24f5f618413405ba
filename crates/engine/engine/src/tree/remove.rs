//! Removes nodes from leaves, and pages from trees once they are empty or nearly so.

use ese::page::{PageRef, encode_node};
use wal::edit::PageEdit;

use super::run::TAG_BYTES;
use super::{
    PagePool as _, Path, Tree, branch, descend, line_u16, seek, tree_page, unreadable, used_bytes,
};
use crate::stage::{Halt, Refusal, Stage};

/// A leaf that is filled less than this is emptied into a neighbour if that has room.
const MERGE_BELOW_PERCENT: usize = 20;
/// A merge does not fill a neighbour above this.
const MERGE_UP_TO_PERCENT: usize = 75;

/// Removes a node.
pub(crate) fn remove(
    stage: &mut Stage<'_>,
    tree: &Tree,
    key: &[u8],
    data: &[u8],
) -> Result<(), Halt> {
    let position = seek(stage, tree, key, data)?;
    let Ok(line) = position.line else {
        return Err(Halt::Refused(Refusal::NotFound));
    };
    remove_lines(stage, tree, &position.path, line, 1)
}

/// Removes all nodes whose keys begin with `prefix` and returns how many there were.
pub(crate) fn remove_prefix(
    stage: &mut Stage<'_>,
    tree: &Tree,
    prefix: &[u8],
) -> Result<usize, Halt> {
    let mut removed = 0;
    loop {
        let position = seek(stage, tree, prefix, &[])?;
        let line = position.line.unwrap_or_else(|line| line);
        let mut path = position.path;
        let mut at = usize::from(line);
        let page = stage.page(path.leaf)?;
        if at == page.node_count() && page.next().is_some() {
            let next = page.next();
            let first = tree_page(stage, tree, next)?.node(0).ok_or(unreadable(next))?.key();
            if !first.starts_with(prefix) {
                return Ok(removed);
            }
            (path, at) = (descend(stage, tree, &first, &[])?, 0);
        }
        let page = stage.page(path.leaf)?;
        let mut key = Vec::new();
        let count = (at..page.node_count())
            .take_while(|&line| page.key_into(line, &mut key) && key.starts_with(prefix))
            .count();
        if count == 0 {
            return Ok(removed);
        }
        let ends_here = at + count < page.node_count();
        removed += count;
        remove_lines(stage, tree, &path, line_u16(at), line_u16(count))?;
        if ends_here {
            return Ok(removed);
        }
    }
}

fn remove_lines(
    stage: &mut Stage<'_>,
    tree: &Tree,
    path: &Path,
    line: u16,
    count: u16,
) -> Result<(), Halt> {
    let leaf = path.leaf;
    let page = stage.page(leaf)?;
    let remaining = page.node_count() - usize::from(count);
    let freed: usize = (line..line + count)
        .map(|line| page.node_size(usize::from(line)).unwrap_or_default() + TAG_BYTES)
        .sum();
    let used = used_bytes(page).saturating_sub(freed);
    let sparse = used * 100 < page.size().body_bytes() * MERGE_BELOW_PERCENT;
    if path.branches().is_empty() || remaining > 0 && !sparse {
        return stage.edit(leaf, PageEdit::Remove { line, count });
    }
    if remaining > 0 {
        stage.edit(leaf, PageEdit::Remove { line, count })?;
        return merge(stage, tree, path);
    }
    remove_leaf(stage, tree, path)
}

/// Empties a sparse leaf into a neighbour under the same parent, if one has room.
fn merge(stage: &mut Stage<'_>, tree: &Tree, path: &Path) -> Result<(), Halt> {
    let (parent, line) = path.branches()[path.branches().len() - 1];
    let entries = stage.page(parent)?.node_count();
    let at = usize::from(line);
    let (neighbour_line, behind) = match (at + 1 < entries, at) {
        (true, _) => (at + 1, true),
        (false, 1..) => (at - 1, false),
        (false, 0) => return Ok(()),
    };
    let neighbour = stage.page(parent)?.child(neighbour_line).ok_or(unreadable(parent))?;
    let leaf = stage.page(path.leaf)?;
    let nodes: Vec<(u8, Vec<u8>, Vec<u8>)> =
        leaf.nodes().map(|node| (node.flags, node.key(), node.data.to_vec())).collect();
    let target = tree_page(stage, tree, neighbour)?;
    let Some(edits) = merge_edits(target, &nodes, behind) else {
        return Ok(());
    };
    edits.into_iter().try_for_each(|edit| stage.edit(neighbour, edit))?;
    remove_leaf(stage, tree, path)
}

/// The inserts that move `nodes` to one end of `target`; `None` if they would fill it too much.
fn merge_edits(
    target: PageRef<'_>,
    nodes: &[(u8, Vec<u8>, Vec<u8>)],
    at_front: bool,
) -> Option<Vec<PageEdit>> {
    let mut used = used_bytes(target);
    let first = if at_front { 0 } else { target.node_count() };
    let mut edits = Vec::with_capacity(nodes.len());
    for (offset, (flags, key, data)) in nodes.iter().enumerate() {
        let mut node = Vec::with_capacity(key.len() + data.len() + 4);
        let compressed = encode_node(target.prefix(), key, data, &mut node);
        used += node.len() + TAG_BYTES;
        let flags = flags & !ese::page::node_flags::COMPRESSED | compressed;
        edits.push(PageEdit::Insert { line: line_u16(first + offset), flags, node });
    }
    let room = target.size().body_bytes() * MERGE_UP_TO_PERCENT / 100;
    (used <= room).then_some(edits)
}

/// Unlinks a leaf that is no longer needed from its tree and frees its page.
fn remove_leaf(stage: &mut Stage<'_>, tree: &Tree, path: &Path) -> Result<(), Halt> {
    let path = branch::with_room_to_remove(stage, tree, path)?;
    stage.counts.merges += 1;
    let page = stage.page(path.leaf)?;
    let (previous, next) = (page.previous(), page.next());
    if previous.is_some() {
        let before = tree_page(stage, tree, previous)?.previous();
        stage.edit(previous, PageEdit::Links { previous: before, next })?;
    }
    if next.is_some() {
        let after = tree_page(stage, tree, next)?.next();
        stage.edit(next, PageEdit::Links { previous, next: after })?;
    }
    let mut freed = vec![path.leaf];
    for &(parent, line) in path.branches().iter().rev() {
        if branch::remove_entry(stage, tree, parent, line)? {
            break;
        }
        freed.push(parent);
    }
    freed.into_iter().try_for_each(|page| stage.free_page(tree, page))
}
