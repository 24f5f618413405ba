//! Page splits: append, right and middle splits, and the vertical split of a root.

use ese::page::{PageRef, encode_node, page_flags};
use units::PageNumber;
use wal::edit::PageEdit;

use super::run::TAG_BYTES;
use super::{PagePool as _, Path, Tree, common_flags, endless, line_u16, unreadable};
use crate::stage::{Halt, Stage};

/// The node that needs room.
pub(super) struct Wanted<'a> {
    /// Its position on the leaf.
    pub line: u16,
    /// Its key.
    pub key: &'a [u8],
    /// Its data.
    pub data: &'a [u8],
    /// Its size on the page in bytes, tag included.
    pub bytes: usize,
}

/// A node copied from its page.
#[derive(Clone, Debug)]
struct DetachedNode {
    flags: u8,
    key: Vec<u8>,
    data: Vec<u8>,
}

impl DetachedNode {
    fn joined(&self, tree: &Tree) -> Vec<u8> {
        joined(tree, &self.key, &self.data)
    }
}

fn joined(tree: &Tree, key: &[u8], data: &[u8]) -> Vec<u8> {
    if tree.repeats { [key, data].concat() } else { key.to_vec() }
}

/// One structure step towards room for a node on the leaf of `path`.
pub(super) fn make_room(
    stage: &mut Stage<'_>,
    tree: &Tree,
    path: &Path,
    wanted: &Wanted<'_>,
) -> Result<(), Halt> {
    stage.counts.splits += 1;
    if path.branches().is_empty() {
        return split_root(stage, tree);
    }
    let page = stage.page(path.leaf)?;
    let nodes = loose_nodes(page, path.leaf)?;
    let cut = leaf_cut(page, &nodes, wanted);
    let separator = leaf_separator(tree, &nodes, wanted, cut);
    let first_moved = if usize::from(wanted.line) < cut { cut - 1 } else { cut };
    let level = path.branches().len() - 1;
    if !parent_has_room(stage, path, level, separator.len())? {
        let (parent, line) = path.branches()[level];
        return split_branch(stage, tree, path, (parent, line));
    }
    split_leaf(stage, tree, path, &nodes[first_moved..], &separator)
}

fn loose_nodes(page: PageRef<'_>, number: PageNumber) -> Result<Vec<DetachedNode>, Halt> {
    let nodes: Vec<DetachedNode> = page
        .nodes()
        .map(|node| DetachedNode {
            flags: node.flags & !ese::page::node_flags::COMPRESSED,
            key: node.key(),
            data: node.data.to_vec(),
        })
        .collect();
    if nodes.len() == page.node_count() { Ok(nodes) } else { Err(unreadable(number)) }
}

/// The number of nodes that stay on the left page, with the wanted node counted among them in
/// order.
fn leaf_cut(page: PageRef<'_>, nodes: &[DetachedNode], wanted: &Wanted<'_>) -> usize {
    let line = usize::from(wanted.line);
    let ascends = line == nodes.len() || !page.next().is_some() && line * 2 > nodes.len();
    if ascends && line > 0 {
        // Append or right split: following keys in ascending order get an empty page. Sessions that
        // append side by side are not quite in order, so near the end counts as the end.
        return line;
    }
    let sizes: Vec<usize> =
        (0..nodes.len()).map(|at| page.node_size(at).unwrap_or_default() + TAG_BYTES).collect();
    middle_cut(&sizes, line, wanted.bytes)
}

/// The cut that makes both sides as equal as possible, in bytes. `sizes` are the sizes of the
/// existing nodes, `bytes` is that of the node wanted at `line`. Both sides get at least one node.
fn middle_cut(sizes: &[usize], line: usize, bytes: usize) -> usize {
    let total: usize = sizes.iter().sum::<usize>() + bytes;
    let mut left = 0;
    let mut best = (usize::MAX, 1);
    for cut in 1..=sizes.len() {
        left += match (cut - 1).cmp(&line) {
            std::cmp::Ordering::Less => sizes[cut - 1],
            std::cmp::Ordering::Equal => bytes,
            std::cmp::Ordering::Greater => sizes[cut - 2],
        };
        best = best.min((total.abs_diff(2 * left), cut));
    }
    best.1
}

/// The shortest key greater than all keys left of the cut and not greater than those right of it.
fn leaf_separator(tree: &Tree, nodes: &[DetachedNode], wanted: &Wanted<'_>, cut: usize) -> Vec<u8> {
    separator(&key_at(tree, nodes, wanted, cut - 1), &key_at(tree, nodes, wanted, cut))
}

/// The key at position `at` once the wanted node is among the others.
fn key_at(tree: &Tree, nodes: &[DetachedNode], wanted: &Wanted<'_>, at: usize) -> Vec<u8> {
    match at.cmp(&usize::from(wanted.line)) {
        std::cmp::Ordering::Less => nodes[at].joined(tree),
        std::cmp::Ordering::Equal => joined(tree, wanted.key, wanted.data),
        std::cmp::Ordering::Greater => nodes[at - 1].joined(tree),
    }
}

/// The shortest prefix of `right` that is greater than `left`.
fn separator(left: &[u8], right: &[u8]) -> Vec<u8> {
    let shared = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    right[..right.len().min(shared + 1)].to_vec()
}

/// Whether the branch page at `level` of the path has room for one more entry.
fn parent_has_room(
    stage: &mut Stage<'_>,
    path: &Path,
    level: usize,
    separator_bytes: usize,
) -> Result<bool, Halt> {
    let page = stage.page(path.branches()[level].0)?;
    Ok(page.free_bytes() >= separator_bytes + 2 + 4 + TAG_BYTES)
}

/// Moves `moved`, the last nodes of the path's leaf, to a new page after it.
fn split_leaf(
    stage: &mut Stage<'_>,
    tree: &Tree,
    path: &Path,
    moved: &[DetachedNode],
    separator: &[u8],
) -> Result<(), Halt> {
    let left = path.leaf;
    let right = stage.allocate_page(tree, left)?;
    let page = stage.page(left)?;
    let (previous, next) = (page.previous(), page.next());
    let keep = page.node_count() - moved.len();
    let flags = common_flags(page) | page_flags::LEAF;
    let prefix = best_prefix(page, moved);
    build_page(stage, tree, right, (flags, &prefix), moved)?;
    stage.edit(right, PageEdit::Links { previous: left, next })?;
    if !moved.is_empty() {
        let count = line_u16(moved.len());
        stage.edit(left, PageEdit::Remove { line: line_u16(keep), count })?;
    }
    stage.edit(left, PageEdit::Links { previous, next: right })?;
    if next.is_some() {
        let after = stage.page(next)?.next();
        stage.edit(next, PageEdit::Links { previous: right, next: after })?;
    }
    let parent = path.branches()[path.branches().len() - 1];
    add_child(stage, parent, separator, (left, right))
}

/// Formats a page with a prefix and nodes.
fn build_page(
    stage: &mut Stage<'_>,
    tree: &Tree,
    number: PageNumber,
    (flags, prefix): (u32, &[u8]),
    nodes: &[DetachedNode],
) -> Result<(), Halt> {
    stage.edit(number, PageEdit::Format { flags, objid: tree.object })?;
    if !prefix.is_empty() {
        stage.edit(number, PageEdit::External(prefix.to_vec()))?;
    }
    for (line, loose) in nodes.iter().enumerate() {
        let mut node = Vec::with_capacity(loose.key.len() + loose.data.len() + 4);
        let compressed = encode_node(prefix, &loose.key, &loose.data, &mut node);
        let flags = loose.flags | compressed;
        stage.edit(number, PageEdit::Insert { line: line_u16(line), flags, node })?;
    }
    Ok(())
}

/// Inserts `separator -> left` before the entry of `left`, which becomes the entry of `right`.
fn add_child(
    stage: &mut Stage<'_>,
    (parent, line): (PageNumber, u16),
    separator: &[u8],
    (left, right): (PageNumber, PageNumber),
) -> Result<(), Halt> {
    let page = stage.page(parent)?;
    let mut kept = page.node_bytes(usize::from(line)).ok_or(unreadable(parent))?;
    kept.truncate(kept.len() - 4);
    kept.extend_from_slice(&right.0.to_le_bytes());
    let mut node = Vec::new();
    let flags = encode_node(page.prefix(), separator, &left.0.to_le_bytes(), &mut node);
    stage.edit(parent, PageEdit::Replace { line, node: kept })?;
    stage.edit(parent, PageEdit::Insert { line, flags, node })
}

/// Splits a branch page without room for an entry at `line`. Each half ends with the key that the
/// parent then has for it: the left one with the separator between them, the right one with the
/// page's previous last key.
pub(super) fn split_branch(
    stage: &mut Stage<'_>,
    tree: &Tree,
    path: &Path,
    (number, line): (PageNumber, u16),
) -> Result<(), Halt> {
    if number == tree.root {
        return split_root(stage, tree);
    }
    let level = path.branches().iter().position(|(page, _)| *page == number);
    let level = level.expect("invariant: the page is on the path");
    let page = stage.page(number)?;
    let nodes = loose_nodes(page, number)?;
    if nodes.len() < 2 {
        return Err(endless(number));
    }
    let appends = usize::from(line) == nodes.len() - 1;
    let first_moved = if appends { nodes.len() - 1 } else { nodes.len() / 2 };
    let separator = nodes[first_moved - 1].key.clone();
    if !parent_has_room(stage, path, level - 1, separator.len())? {
        return split_branch(stage, tree, path, path.branches()[level - 1]);
    }
    let right = stage.allocate_page(tree, number)?;
    let page = stage.page(number)?;
    let flags = common_flags(page) | page.flags() & page_flags::PARENT_OF_LEAF;
    build_page(stage, tree, right, (flags, &[]), &nodes[first_moved..])?;
    let moved = PageEdit::Remove {
        line: line_u16(first_moved),
        count: line_u16(nodes.len() - first_moved),
    };
    stage.edit(number, moved)?;
    add_child(stage, path.branches()[level - 1], &separator, (number, right))
}

/// Vertical split: moves all nodes of the root to a new page, the root's only child. The root's
/// page number never changes.
fn split_root(stage: &mut Stage<'_>, tree: &Tree) -> Result<(), Halt> {
    let child = stage.allocate_page(tree, tree.root)?;
    let page = stage.page(tree.root)?;
    let common = common_flags(page);
    let is_leaf = page.is_leaf();
    let child_flags = common | page.flags() & (page_flags::LEAF | page_flags::PARENT_OF_LEAF);
    let nodes = loose_nodes(page, tree.root)?;
    let prefix = if is_leaf { best_prefix(page, &nodes) } else { Vec::new() };
    build_page(stage, tree, child, (child_flags, &prefix), &nodes)?;
    let above = if is_leaf { page_flags::PARENT_OF_LEAF } else { 0 };
    let root_flags = page_flags::ALWAYS | page_flags::ROOT | common | above;
    stage.edit(tree.root, PageEdit::Remove { line: 0, count: line_u16(nodes.len()) })?;
    stage.edit(tree.root, PageEdit::PageFlags(root_flags))?;
    let mut node = Vec::new();
    let flags = encode_node(&[], &[], &child.0.to_le_bytes(), &mut node);
    stage.edit(tree.root, PageEdit::Insert { line: 0, flags, node })
}

/// The key prefix that saves most on a page with `nodes` of `page`: the one shared by all keys, the
/// one of `page`, or none. Space trees have none.
fn best_prefix(page: PageRef<'_>, nodes: &[DetachedNode]) -> Vec<u8> {
    if page.has(page_flags::SPACE_TREE) {
        return Vec::new();
    }
    let old = page.prefix();
    let (Some(first), Some(last)) = (nodes.first(), nodes.last()) else {
        return old.to_vec();
    };
    let shared = first.key.iter().zip(&last.key).take_while(|(a, b)| a == b).count();
    let candidates = [&[], old, &first.key[..shared]];
    let best = candidates.into_iter().min_by_key(|prefix| {
        let mut encoded = Vec::new();
        for node in nodes {
            encode_node(prefix, &node.key, &[], &mut encoded);
        }
        prefix.len() + encoded.len()
    });
    best.unwrap_or_default().to_vec()
}

#[cfg(test)]
mod tests {
    use super::{middle_cut, separator};

    #[test]
    fn separators_are_as_short_as_can_be() {
        assert_eq!(separator(b"abcd", b"abzz"), b"abz");
        assert_eq!(separator(b"ab", b"abcd"), b"abc");
        assert_eq!(separator(b"a", b"b"), b"b");
    }

    #[test]
    fn the_middle_is_one_of_bytes() {
        assert_eq!(middle_cut(&[10, 10, 10], 1, 10), 2);
        assert_eq!(middle_cut(&[100, 1, 1], 3, 1), 1);
        assert_eq!(middle_cut(&[1, 1, 100], 0, 1), 3);
        assert_eq!(middle_cut(&[8], 0, 8), 1);
    }
}
