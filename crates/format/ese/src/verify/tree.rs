//! One tree from its root to its leaves, in order.

use std::sync::Arc;

use units::{ObjectId, PageNumber};

use crate::page::{Node, PageRef, node_flags, page_flags};
use crate::page_check;
use crate::reader::{PageSource, ReadError, TreeKind, TreeSpace, load};
use crate::space::ExtentSet;
use crate::verify::finding::LogNeeded;
use crate::verify::page_map::PageMap;
use crate::verify::{Examination, Problem, Subject};

/// Bytes of a page number, the only data in a node of an internal page.
const CHILD_BYTES: usize = 4;
/// A deeper tree must contain a cycle.
const DEEPEST: usize = 32;

impl<S: PageSource> Examination<'_, S> {
    /// Walks a tree and its two space trees.
    pub(super) fn walk_trees_of(&mut self, tree: &TreeSpace) -> Result<(), S::Error> {
        let kind = match tree.kind {
            TreeKind::Database | TreeKind::Table => 0,
            TreeKind::Index => page_flags::INDEX,
            TreeKind::LongValues => page_flags::LONG_VALUE,
        };
        self.walk(tree, tree.root, kind)?;
        for root in [tree.header.owned_root(), tree.header.available_root()].into_iter().flatten() {
            self.walk(tree, root, kind | page_flags::SPACE_TREE)?;
        }
        Ok(())
    }

    fn walk(&mut self, tree: &TreeSpace, root: PageNumber, kind: u32) -> Result<(), S::Error> {
        let header_dbtime = self.header.map_or(u64::MAX, |header| header.dbtime);
        let mut walk = Walk {
            source: self.reader.source(),
            log: &mut self.log,
            map: &mut self.map,
            subject: subject_of(tree),
            object: tree.object,
            owned: &tree.owned,
            kind,
            root,
            header_dbtime,
            leaf_depth: None,
            is_broken: false,
            last_leaf: None,
            last_node: None,
        };
        let whole = TreePosition { depth: 0, low: &[], high: None, parent: None };
        walk.visit(root, &whole)?;
        walk.end();
        Ok(())
    }
}

pub(super) fn subject_of(tree: &TreeSpace) -> Subject {
    match tree.kind {
        TreeKind::LongValues => Subject::index(&tree.table, "long values"),
        _ => Subject::index(&tree.table, &tree.index),
    }
}

/// A walk in progress.
struct Walk<'a, S> {
    source: &'a mut S,
    log: &'a mut LogNeeded,
    map: &'a mut PageMap,
    subject: Subject,
    object: ObjectId,
    owned: &'a ExtentSet,
    kind: u32,
    root: PageNumber,
    header_dbtime: u64,
    leaf_depth: Option<usize>,
    /// Whether pages before the next leaf are lost.
    is_broken: bool,
    /// The last leaf, and the page it links to as the next one.
    last_leaf: Option<(PageNumber, PageNumber)>,
    /// Key and data of the last node seen.
    last_node: Option<(Vec<u8>, Vec<u8>)>,
}

/// Constraints that a page's ancestors place on it.
struct TreePosition<'p> {
    depth: usize,
    /// Lower bound of its keys, inclusive.
    low: &'p [u8],
    /// Its separator in the parent, above all of its keys; `None` on the last page of each level.
    high: Option<&'p [u8]>,
    /// Its parent page and that page's flags.
    parent: Option<(PageNumber, u32)>,
}

impl<S: PageSource> Walk<'_, S> {
    /// Checks a page and all pages below it.
    fn visit(&mut self, number: PageNumber, place: &TreePosition<'_>) -> Result<(), S::Error> {
        let Some(page) = self.enter(number)? else {
            return Ok(());
        };
        let view = PageRef::new(&page);
        self.check_place(number, view, place);
        if view.is_leaf() {
            self.visit_leaf(number, view, place);
            return Ok(());
        }
        if place.depth >= DEEPEST {
            self.found(number, &[], Problem::Depth);
            return Ok(());
        }
        self.check_branch(number, view, place);
        let mut below = place.low.to_vec();
        for (line, node) in view.nodes().enumerate() {
            let separator = node.key();
            let is_last = line + 1 == view.node_count();
            let child_place = TreePosition {
                depth: place.depth + 1,
                low: &below,
                // The page's own range even if its last key disagrees, so that one fault gives one
                // finding.
                high: if is_last || separator.is_empty() {
                    place.high
                } else {
                    Some(separator.as_slice())
                },
                parent: Some((number, view.flags())),
            };
            if let Some(child) = view.child(line) {
                self.visit(child, &child_place)?;
            }
            below = separator;
        }
        Ok(())
    }

    /// Checks an internal page: links, nodes, the order of its keys, and the last key.
    fn check_branch(&mut self, number: PageNumber, page: PageRef<'_>, place: &TreePosition<'_>) {
        let expected = PageNumber::NONE;
        if page.previous().is_some() {
            let stated = page.previous();
            self.found(number, &[], Problem::PreviousLink { stated, expected });
        }
        if page.next().is_some() {
            let stated = page.next();
            self.found(number, &[], Problem::NextLink { stated, expected });
        }
        let mut before: Option<Vec<u8>> = None;
        let mut nodes = 0;
        for node in page.nodes() {
            nodes += 1;
            let (key, is_last) = (node.key(), nodes == page.node_count());
            let least = before.as_deref().unwrap_or(place.low);
            let ascends = key.as_slice() > least || before.is_none() && key == least;
            let is_flagged = node.flags & (node_flags::DELETED | node_flags::VERSIONED) != 0;
            if node.data.len() != CHILD_BYTES || is_flagged || key.is_empty() && !is_last {
                self.found(number, &key, Problem::Branch);
            } else if !key.is_empty() && !ascends {
                self.found(number, &key, Problem::Separator);
            }
            before = Some(key);
        }
        match before {
            None => self.found(number, &[], Problem::Branch),
            Some(_) if nodes != page.node_count() => self.found(number, &[], Problem::Branch),
            Some(last) if last != place.high.unwrap_or_default() => {
                self.found(number, &last, Problem::LastKey);
            }
            Some(_) => {}
        }
    }

    /// Reads a page on the first visit and checks that it is consistent in itself.
    fn enter(&mut self, number: PageNumber) -> Result<Option<Arc<[u8]>>, S::Error> {
        if !self.owned.contains(number) {
            self.found(number, &[], Problem::OutsideSpace);
        }
        let page = load(self.source, number);
        let Some(page) = self.log.keep(&self.subject, page)? else {
            self.is_broken = true;
            return Ok(None);
        };
        if !self.map.use_page(number) {
            self.found(number, &[], Problem::ReachedTwice);
            return Ok(None);
        }
        self.log.report.pages_reached += 1;
        if let Err(fault) = page_check::check(PageRef::new(&page), number) {
            self.log.lost(&self.subject, ReadError::Page { page: number, fault });
            self.is_broken = true;
            return Ok(None);
        }
        Ok(Some(page))
    }

    fn check_place(&mut self, number: PageNumber, page: PageRef<'_>, place: &TreePosition<'_>) {
        if page.object() != self.object {
            self.found(number, &[], Problem::WrongObject { stated: page.object() });
        }
        let flags = page.flags();
        let is_root = flags & page_flags::ROOT != 0;
        let both = page_flags::LEAF | page_flags::PARENT_OF_LEAF;
        let is_misplaced = is_root != (number == self.root) || flags & both == both;
        if is_misplaced || flags & page_flags::KIND != self.kind {
            self.found(number, &[], Problem::WrongFlags { stated: flags });
        }
        if let Some((parent, stated)) = place.parent
            && (stated & page_flags::PARENT_OF_LEAF != 0) != page.is_leaf()
        {
            self.found(parent, &[], Problem::WrongFlags { stated });
        }
        self.log.note_time(number, page.dbtime(), self.header_dbtime);
    }

    fn visit_leaf(&mut self, number: PageNumber, page: PageRef<'_>, place: &TreePosition<'_>) {
        if *self.leaf_depth.get_or_insert(place.depth) != place.depth {
            self.found(number, &[], Problem::Depth);
        }
        self.check_links(number, page);
        let last_line = page.node_count().wrapping_sub(1);
        let (Some(first), Some(last)) = (page.node(0), page.node(last_line)) else {
            if number != self.root {
                self.found(number, &[], Problem::EmptyLeaf);
            }
            return;
        };
        self.check_first(number, page, &first);
        let joins = page.has(page_flags::NON_UNIQUE);
        let is_above = place.high.is_some_and(|high| joined(&last, joins).as_slice() >= high);
        if joined(&first, joins).as_slice() < place.low || is_above {
            self.found(number, &first.key(), Problem::Separator);
        }
        self.last_node = Some((last.key(), last.data.to_vec()));
    }

    fn check_links(&mut self, number: PageNumber, page: PageRef<'_>) {
        let (before, forward) = if std::mem::take(&mut self.is_broken) {
            // The preceding leaf is among the lost pages, so its number is unknown.
            (page.previous(), number)
        } else {
            self.last_leaf.unwrap_or((PageNumber::NONE, number))
        };
        if page.previous() != before {
            let stated = page.previous();
            self.found(number, &[], Problem::PreviousLink { stated, expected: before });
        }
        if forward != number {
            let problem = Problem::NextLink { stated: forward, expected: number };
            self.found(before, &[], problem);
        }
        self.last_leaf = Some((number, page.next()));
    }

    /// Checks the key order between leaves; the order within a page has been checked.
    fn check_first(&mut self, number: PageNumber, page: PageRef<'_>, first: &Node<'_>) {
        let may_repeat = page.has(page_flags::NON_UNIQUE);
        let is_behind = match &self.last_node {
            None => true,
            Some((key, data)) if may_repeat => first.compare_pair(key, data).is_ge(),
            Some((key, _)) => first.compare_key(key).is_gt(),
        };
        if !is_behind {
            self.found(number, &first.key(), Problem::KeyOrder);
        }
    }

    /// Checks that the last leaf has no next link.
    fn end(&mut self) {
        let last = self.last_leaf.filter(|_| !self.is_broken);
        if let Some((number, stated)) = last.filter(|(_, next)| next.is_some()) {
            let expected = PageNumber::NONE;
            self.found(number, &[], Problem::NextLink { stated, expected });
        }
    }

    fn found(&mut self, page: PageNumber, key: &[u8], problem: Problem) {
        self.log.add(&self.subject, page, key, problem);
    }
}

/// Returns the value to compare with separators: the key, followed by the data if keys may repeat.
fn joined(node: &Node<'_>, joins: bool) -> Vec<u8> {
    let mut key = node.key();
    if joins {
        key.extend_from_slice(node.data);
    }
    key
}
