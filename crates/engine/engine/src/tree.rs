//! B+-trees over staged pages: key search and changes.
//!
//! Parents are found by descending again, so pages hold no parent pointers; a structure change is
//! one step (split one page, remove one page), after which the operation descends anew.

mod branch;
mod change;
mod remove;
mod run;
mod split;
#[cfg(test)]
mod tests;

pub(crate) use change::{insert, insert_or_revive, insert_run, replace, set_deleted};
pub(crate) use remove::{remove, remove_prefix};
pub(crate) use run::{TAG_BYTES, is_kept_together, run_bytes};

use ese::page::{PageRef, page_flags};
use units::{ObjectId, PageNumber};

use crate::stage::{Halt, Stage};

/// More structure steps than one insert can need: a split per level, twice over.
const MOST_STEPS: usize = 40;

/// Limit on the branch levels of a tree; a deeper one counts as damaged.
const MOST_LEVELS: usize = 10;

/// Source of a tree's pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    /// From its own space trees: the tree is the root of a space pool (FDP).
    Own,
    /// The tree is itself a space tree of the pool with this root page.
    Of(PageNumber),
}

/// Allocator for the trees that a stage changes. Trees obtain pages only through this trait,
/// because its implementation keeps its own records in trees.
pub(crate) trait PagePool {
    /// Allocates a page for `tree`, preferably near `near`. Its content is ignored.
    fn allocate_page(&mut self, tree: &Tree, near: PageNumber) -> Result<PageNumber, Halt>;

    /// Gives a page of `tree` back to the pool it came from.
    fn free_page(&mut self, tree: &Tree, page: PageNumber) -> Result<(), Halt>;
}

/// Facts needed to walk and change a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tree {
    /// Its root page, which never changes.
    pub root: PageNumber,
    /// Its object identifier, which every page carries.
    pub object: ObjectId,
    /// Whether keys may repeat; nodes are then ordered by key and data.
    pub repeats: bool,
    /// How full an append leaves a page, in percent of its body.
    pub density_percent: u8,
    /// Source of its pages.
    pub space: Space,
}

/// The path from the root to a leaf.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    steps: [(PageNumber, u16); MOST_LEVELS],
    depth: usize,
    /// The leaf.
    pub leaf: PageNumber,
}

impl Path {
    /// The branch pages from the root on, each with the line of the child taken.
    pub(crate) fn branches(&self) -> &[(PageNumber, u16)] {
        &self.steps[..self.depth]
    }
}

/// A place in a tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position {
    /// How the leaf was reached.
    pub path: Path,
    /// The line of the node, or the line at which it would be inserted.
    pub line: Result<u16, u16>,
}

/// Converts a line number, which is small on every page.
pub(super) fn line_u16(line: usize) -> u16 {
    u16::try_from(line).expect("invariant: a page has fewer than 4096 nodes")
}

/// A page of `tree`; a page of another tree is damage.
pub(crate) fn tree_page<'s>(
    stage: &'s mut Stage<'_>,
    tree: &Tree,
    number: PageNumber,
) -> Result<PageRef<'s>, Halt> {
    let page = stage.page(number)?;
    if page.object() == tree.object {
        return Ok(page);
    }
    let problem = "belongs to another tree than the one that points to it";
    Err(Halt::Damaged { page: number, problem })
}

/// Descends to the leaf for `key` (and `data`, if keys repeat).
pub(crate) fn descend(
    stage: &mut Stage<'_>,
    tree: &Tree,
    key: &[u8],
    data: &[u8],
) -> Result<Path, Halt> {
    let data = if tree.repeats { data } else { &[] };
    let mut path = Path { steps: [(PageNumber::NONE, 0); MOST_LEVELS], depth: 0, leaf: tree.root };
    loop {
        let number = path.leaf;
        let near = stage.trail().line(number);
        let page = tree_page(stage, tree, number)?;
        if page.is_leaf() {
            return Ok(path);
        }
        let line = page.child_line(key, data, near);
        let child = page.child(line).filter(|child| child.is_some());
        if near != Some(line) {
            stage.trail().note(number, line);
        }
        let (Some(child), true) = (child, path.depth < MOST_LEVELS) else {
            let problem = "a branch page without the child that a key needs";
            return Err(Halt::Damaged { page: number, problem });
        };
        path.steps[path.depth] = (number, line_u16(line));
        path.depth += 1;
        path.leaf = child;
    }
}

/// Finds a node, or its insertion point.
pub(crate) fn seek(
    stage: &mut Stage<'_>,
    tree: &Tree,
    key: &[u8],
    data: &[u8],
) -> Result<Position, Halt> {
    let path = descend(stage, tree, key, data)?;
    let near = stage.trail().line(path.leaf);
    let page = stage.page(path.leaf)?;
    let line =
        if tree.repeats { page.search_pair(key, data, near) } else { page.search(key, near) };
    let (Ok(at) | Err(at)) = line;
    if near != Some(at) {
        stage.trail().note(path.leaf, at);
    }
    let line = line.map(line_u16).map_err(line_u16);
    Ok(Position { path, line })
}

/// Calls `read` with the flags and data of the node with a unique key; `None` if it does not exist.
pub(crate) fn get<T>(
    stage: &mut Stage<'_>,
    tree: &Tree,
    key: &[u8],
    read: impl FnOnce(u8, &[u8]) -> T,
) -> Result<Option<T>, Halt> {
    let position = seek(stage, tree, key, &[])?;
    let Ok(line) = position.line else {
        return Ok(None);
    };
    let leaf = position.path.leaf;
    let page = stage.page(leaf)?;
    let node = page.node(usize::from(line)).ok_or(unreadable(leaf))?;
    Ok(Some(read(node.flags, node.data)))
}

/// Whether a node exists and is flagged as deleted.
pub(crate) fn is_deleted(
    stage: &mut Stage<'_>,
    tree: &Tree,
    key: &[u8],
    data: &[u8],
) -> Result<bool, Halt> {
    let position = seek(stage, tree, key, data)?;
    let leaf = position.path.leaf;
    let Ok(line) = position.line else {
        return Ok(false);
    };
    let node = stage.page(leaf)?.node(usize::from(line)).ok_or(unreadable(leaf))?;
    Ok(node.is_deleted())
}

/// Calls `visit` with the nodes of one leaf, from the first whose key is not below `key` (or is
/// above it, with `after`; if keys repeat, `data` takes part). Continues to the next leaf while a
/// leaf has none. Returns false at the end of the tree. `visit` returns whether to continue.
pub(crate) fn walk(
    stage: &mut Stage<'_>,
    tree: &Tree,
    from: (&[u8], &[u8]),
    after: bool,
    mut visit: impl FnMut(&ese::page::Node<'_>) -> bool,
) -> Result<bool, Halt> {
    let position = seek(stage, tree, from.0, from.1)?;
    let mut line = match position.line {
        Ok(line) => usize::from(line) + usize::from(after),
        Err(line) => usize::from(line),
    };
    let mut leaf = position.path.leaf;
    loop {
        let page = tree_page(stage, tree, leaf)?;
        let nodes = page.node_count();
        if line < nodes {
            for at in line..nodes {
                let node = page.node(at).ok_or(unreadable(leaf))?;
                if !visit(&node) {
                    break;
                }
            }
            return Ok(true);
        }
        if !page.next().is_some() {
            return Ok(false);
        }
        (leaf, line) = (page.next(), 0);
    }
}

/// Reads the last key of a tree into `key`; false if the tree is empty.
pub(crate) fn last_key(
    stage: &mut Stage<'_>,
    tree: &Tree,
    key: &mut Vec<u8>,
) -> Result<bool, Halt> {
    let mut number = tree.root;
    for _ in 0..MOST_LEVELS {
        let page = tree_page(stage, tree, number)?;
        let Some(last) = page.node_count().checked_sub(1) else {
            return Ok(false);
        };
        if page.is_leaf() {
            return Ok(page.key_into(last, key));
        }
        number = page.child(last).ok_or(unreadable(number))?;
    }
    Err(unreadable(number))
}

pub(super) const fn endless(page: PageNumber) -> Halt {
    Halt::Damaged { page, problem: "a tree in which splitting does not make room" }
}

pub(super) const fn unreadable(page: PageNumber) -> Halt {
    Halt::Damaged { page, problem: "a node whose sizes do not fit its page" }
}

/// The flags common to all pages of a tree.
pub(super) fn common_flags(page: PageRef<'_>) -> u32 {
    use page_flags::{INDEX, LONG_VALUE, NON_UNIQUE, SPACE_TREE};
    page.flags() & (INDEX | LONG_VALUE | NON_UNIQUE | SPACE_TREE)
}

/// Bytes of a page's body occupied by nodes and their tags.
pub(super) fn used_bytes(page: PageRef<'_>) -> usize {
    page.size().body_bytes().saturating_sub(page.free_bytes())
}
