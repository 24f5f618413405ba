//! Inserts nodes into leaves, replaces their data and flags them.

use ese::page::{PageRef, encode_node, node_flags};
use wal::edit::PageEdit;

use super::run::{TAG_BYTES, is_kept_together, run_bytes};
use super::split::{Wanted, make_room};
use super::{MOST_STEPS, Path, Position, Tree, endless, line_u16, seek, unreadable};
use crate::stage::{Halt, Refusal, Stage};

/// Inserts a node, which must be new.
pub(crate) fn insert(
    stage: &mut Stage<'_>,
    tree: &Tree,
    key: &[u8],
    data: &[u8],
) -> Result<(), Halt> {
    insert_or_revive(stage, tree, key, data).map(drop)
}

/// Inserts a node. An existing node that is flagged as deleted is revived with the new data; its
/// old data is returned.
pub(crate) fn insert_or_revive(
    stage: &mut Stage<'_>,
    tree: &Tree,
    key: &[u8],
    data: &[u8],
) -> Result<Option<Vec<u8>>, Halt> {
    check_size(stage, key, data)?;
    for _ in 0..MOST_STEPS {
        let position = seek(stage, tree, key, data)?;
        let line = match position.line {
            Err(line) => line,
            Ok(line) => return revive(stage, tree, &position, line, (key, data)).map(Some),
        };
        let leaf = position.path.leaf;
        let page = stage.page(leaf)?;
        let mut node = Vec::with_capacity(key.len() + data.len() + 4);
        let flags = encode_node(page.prefix(), key, data, &mut node);
        if fits(page, tree, usize::from(line), node.len() + TAG_BYTES) {
            stage.edit(leaf, PageEdit::Insert { line, flags, node })?;
            return Ok(None);
        }
        let wanted = Wanted { line, key, data, bytes: node.len() + TAG_BYTES };
        make_room(stage, tree, &position.path, &wanted)?;
    }
    Err(endless(tree.root))
}

/// Result of an attempt to insert nodes at once.
enum Attempt {
    /// Inserted.
    Done,
    /// They belong on this leaf, which lacks room for them.
    Full(Path, u16),
    /// They may belong on different leaves.
    Apart,
}

/// Inserts nodes that follow each other. Appended ones are placed on one leaf if they must be
/// [kept together](is_kept_together).
pub(crate) fn insert_run(
    stage: &mut Stage<'_>,
    tree: &Tree,
    nodes: &[(&[u8], &[u8])],
) -> Result<(), Halt> {
    let Some((first, data)) = nodes.first() else {
        return Ok(());
    };
    let content_bytes = nodes.iter().map(|(key, data)| key.len() + data.len());
    let bytes = run_bytes(nodes.len(), content_bytes.sum());
    let is_kept_together = is_kept_together(bytes, stage.page_size());
    for _ in 0..MOST_STEPS {
        match insert_run_at_once(stage, tree, nodes)? {
            Attempt::Done => return Ok(()),
            Attempt::Full(path, line) if is_kept_together => {
                let wanted = Wanted { line, key: first, data, bytes };
                make_room(stage, tree, &path, &wanted)?;
            }
            Attempt::Full(..) | Attempt::Apart => break,
        }
    }
    nodes.iter().try_for_each(|(key, data)| insert(stage, tree, key, data))
}

fn insert_run_at_once(
    stage: &mut Stage<'_>,
    tree: &Tree,
    nodes: &[(&[u8], &[u8])],
) -> Result<Attempt, Halt> {
    let (Some(first), Some(last)) = (nodes.first(), nodes.last()) else {
        return Ok(Attempt::Done);
    };
    let position = seek(stage, tree, first.0, first.1)?;
    let Err(line) = position.line else {
        return Ok(Attempt::Apart);
    };
    let leaf = position.path.leaf;
    let page = stage.page(leaf)?;
    let at = usize::from(line);
    let inside = page.node(at).is_some_and(|next| next.compare_pair(last.0, last.1).is_gt());
    let at_end = at == page.node_count() && position.path.branches().is_empty();
    let rightmost = at == page.node_count() && !page.next().is_some();
    if !(inside || at_end || rightmost) {
        return Ok(Attempt::Apart);
    }
    let mut edits = Vec::with_capacity(nodes.len());
    let mut bytes = 0;
    for (offset, (key, data)) in nodes.iter().enumerate() {
        let mut node = Vec::with_capacity(key.len() + data.len() + 4);
        let flags = encode_node(page.prefix(), key, data, &mut node);
        bytes += node.len() + TAG_BYTES;
        edits.push(PageEdit::Insert { line: line_u16(at + offset), flags, node });
    }
    if !fits(page, tree, at, bytes) {
        return Ok(Attempt::Full(position.path, line));
    }
    edits.into_iter().try_for_each(|edit| stage.edit(leaf, edit))?;
    Ok(Attempt::Done)
}

/// Replaces the data of a node.
pub(crate) fn replace(
    stage: &mut Stage<'_>,
    tree: &Tree,
    key: &[u8],
    data: &[u8],
) -> Result<(), Halt> {
    check_size(stage, key, data)?;
    let position = seek(stage, tree, key, data)?;
    match position.line {
        Ok(line) => put_data(stage, tree, &position, line, (key, data)),
        Err(_) => Err(Halt::Refused(Refusal::NotFound)),
    }
}

/// Sets or clears a node's deleted flag.
pub(crate) fn set_deleted(
    stage: &mut Stage<'_>,
    tree: &Tree,
    key: &[u8],
    data: &[u8],
    deleted: bool,
) -> Result<(), Halt> {
    let position = seek(stage, tree, key, data)?;
    let leaf = position.path.leaf;
    let Ok(line) = position.line else {
        return Err(Halt::Refused(Refusal::NotFound));
    };
    let node = stage.page(leaf)?.node(usize::from(line)).ok_or(unreadable(leaf))?;
    let others = node.flags & !node_flags::DELETED;
    let flags = if deleted { others | node_flags::DELETED } else { others };
    stage.edit(leaf, PageEdit::NodeFlags { line, flags })
}

fn revive(
    stage: &mut Stage<'_>,
    tree: &Tree,
    position: &Position,
    line: u16,
    (key, data): (&[u8], &[u8]),
) -> Result<Vec<u8>, Halt> {
    let leaf = position.path.leaf;
    let node = stage.page(leaf)?.node(usize::from(line)).ok_or(unreadable(leaf))?;
    if !node.is_deleted() {
        return Err(Halt::Refused(Refusal::Duplicate));
    }
    let (flags, before) = (node.flags & !node_flags::DELETED, node.data.to_vec());
    stage.edit(leaf, PageEdit::NodeFlags { line, flags })?;
    put_data(stage, tree, position, line, (key, data))?;
    Ok(before)
}

/// Replaces the data of the node at a known line, moving the node if the page is too full.
fn put_data(
    stage: &mut Stage<'_>,
    tree: &Tree,
    position: &Position,
    line: u16,
    (key, data): (&[u8], &[u8]),
) -> Result<(), Halt> {
    let leaf = position.path.leaf;
    let page = stage.page(leaf)?;
    let old = page.node(usize::from(line)).ok_or(unreadable(leaf))?;
    if old.data == data {
        return Ok(());
    }
    let old_bytes = page.node_size(usize::from(line)).ok_or(unreadable(leaf))?;
    let head_bytes = old_bytes - old.data.len();
    let free = page.free_bytes();
    if data.len() <= old.data.len() + free {
        let mut node = page.node_bytes(usize::from(line)).ok_or(unreadable(leaf))?;
        node.truncate(head_bytes);
        node.extend_from_slice(data);
        return stage.edit(leaf, PageEdit::Replace { line, node });
    }
    stage.edit(leaf, PageEdit::Remove { line, count: 1 })?;
    insert(stage, tree, key, data)
}

/// Whether `bytes` more fit the page at `line`. An append leaves the tree's share of free space, so
/// that rows can grow later.
fn fits(page: PageRef<'_>, tree: &Tree, line: usize, bytes: usize) -> bool {
    let appends = line > 0 && line == page.node_count() && !page.next().is_some();
    let body = page.size().body_bytes();
    let reserve =
        if appends { body * usize::from(100 - tree.density_percent.min(100)) / 100 } else { 0 };
    bytes + reserve <= page.free_bytes()
}

/// A node must leave room on a page for tag 0 and a prefix.
fn check_size(stage: &Stage<'_>, key: &[u8], data: &[u8]) -> Result<(), Halt> {
    let most = most_node_bytes(stage);
    let bytes = key.len() + data.len();
    if bytes <= most {
        return Ok(());
    }
    Err(Halt::Refused(Refusal::TooLarge { bytes, most }))
}

/// Maximum size of a node's key and data: the body minus the key size, two tags and tag 0 of a
/// root.
fn most_node_bytes(stage: &Stage<'_>) -> usize {
    stage.page_size().body_bytes() - 2 - 2 * TAG_BYTES - 16
}
