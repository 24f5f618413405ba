//! Builds one B+-tree from entries in ascending order: leaves are finished as they fill, branch
//! levels grow above them, the root is written last.

use ese::page::{PageMut, PageRef, PageSize, encode_node, page_flags};
use units::{ObjectId, PageNumber};

use super::DBTIME_OF_FILL;
use super::sink::PageSink;
use super::space::{Frontier, TreeSpace};
use crate::tree::{TAG_BYTES, is_kept_together, run_bytes};

/// Bytes of a root's tag 0, kept free on every branch page because any may turn out to be the root.
pub(super) const ROOT_HEADER_BYTES: usize = 16;
/// Bytes of a branch entry without its key: key size, child, tag.
const BRANCH_ENTRY_BYTES: usize = 2 + 4 + 4;
/// Overhead of an entry alone on its page, besides key, data and a copy of the key as prefix: two
/// tags and two key sizes.
const ENTRY_OVERHEAD_BYTES: usize = 2 * TAG_BYTES + 4;

/// Kind and density of a tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct TreeShape {
    pub(super) object: ObjectId,
    /// Page flags of every page: index, long value, non-unique, space tree.
    pub(super) flags: u32,
    /// Bytes to leave free on every leaf, for rows that grow later.
    pub(super) reserve_bytes: usize,
    /// Whether leaves omit the prefix that keys share with tag 0. Space trees never do.
    pub(super) compress: bool,
}

impl TreeShape {
    /// Whether keys are unique; otherwise equal keys are distinguished by their data.
    const fn is_unique(&self) -> bool {
        self.flags & page_flags::NON_UNIQUE == 0
    }
}

/// A tree under construction.
pub(super) struct TreeBuilder {
    shape: TreeShape,
    page_size: PageSize,
    pub(super) space: TreeSpace,
    leaf: Option<Leaf>,
    /// Branch levels, the parents of leaves first.
    levels: Vec<Branch>,
    /// Key of the last entry, plus its data in non-unique trees.
    last: Vec<u8>,
    /// Key and data of the entry being added, if separators need them joined.
    next: Vec<u8>,
    node: Vec<u8>,
    entries: u64,
    /// Whether the next entry begins a leaf.
    breaks: bool,
}

/// Why an entry was not added. The tree is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryProblem {
    /// It is not greater than the entry before it.
    Unordered,
    /// It does not fit on an empty page.
    TooLarge,
}

/// The leaf being filled. Its bytes are in the sink.
#[derive(Clone, Copy)]
struct Leaf {
    page: PageNumber,
    previous: PageNumber,
    entries: usize,
}

/// The branch page being filled at one level.
struct Branch {
    image: Vec<u8>,
    /// The last entry: written with its separator when another follows, else without.
    last: Option<(Vec<u8>, PageNumber)>,
}

impl Branch {
    /// The last key of the full page, by which its parent points to it.
    fn last_key(&self) -> Vec<u8> {
        let page = PageRef::new(&self.image);
        let last = page.node_count().checked_sub(1).and_then(|last| page.node(last));
        last.expect("invariant: a page without room has entries").key()
    }
}

/// Source and destination of a tree's pages.
pub(super) struct Ground<'a> {
    pub(super) frontier: &'a mut Frontier,
    pub(super) sink: &'a mut PageSink,
}

impl TreeBuilder {
    pub(super) fn new(shape: TreeShape, page_size: PageSize, space: TreeSpace) -> Self {
        Self {
            shape,
            page_size,
            space,
            leaf: None,
            levels: Vec::new(),
            last: Vec::new(),
            next: Vec::new(),
            node: Vec::with_capacity(page_size.bytes()),
            entries: 0,
            breaks: false,
        }
    }

    /// Announces that the next entries are read together and hold this many bytes of keys and data:
    /// they go on one page if they must be [kept together](is_kept_together).
    pub(super) fn keep_together(&mut self, ground: &mut Ground<'_>, entries: usize, bytes: usize) {
        let bytes = run_bytes(entries, bytes);
        self.breaks = self.leaf.is_some_and(|leaf| {
            let free = PageRef::new(ground.sink.page(leaf.page)).free_bytes();
            bytes + self.shape.reserve_bytes > free && is_kept_together(bytes, self.page_size)
        });
    }

    /// Adds an entry greater than all before it.
    pub(super) fn append(
        &mut self,
        ground: &mut Ground<'_>,
        key: &[u8],
        data: &[u8],
    ) -> Result<(), EntryProblem> {
        self.next.clear();
        self.next.extend_from_slice(key);
        if !self.shape.is_unique() {
            self.next.extend_from_slice(data);
        }
        if self.entries > 0 && self.last >= self.next {
            return Err(EntryProblem::Unordered);
        }
        if ENTRY_OVERHEAD_BYTES + 2 * key.len() + data.len() > self.page_size.body_bytes() {
            return Err(EntryProblem::TooLarge);
        }
        let mut leaf = match self.leaf {
            Some(leaf) => leaf,
            None => self.open_leaf(ground, PageNumber::NONE, key),
        };
        if std::mem::take(&mut self.breaks) || !self.put(ground, leaf, key, data) {
            let separator = shortest_separator(&self.last, &self.next);
            let fresh = self.open_leaf(ground, leaf.page, key);
            self.finish_leaf(ground, leaf, fresh.page, separator);
            let fits = self.put(ground, fresh, key, data);
            assert!(fits, "an entry that was measured fits on an empty page");
            leaf = fresh;
        }
        leaf.entries += 1;
        self.leaf = Some(leaf);
        std::mem::swap(&mut self.last, &mut self.next);
        self.entries += 1;
        Ok(())
    }

    /// Finishes every page and puts the root at `root`, with `header` as its tag 0.
    pub(super) fn finish(
        &mut self,
        ground: &mut Ground<'_>,
        root: PageNumber,
        header: [u8; ROOT_HEADER_BYTES],
    ) {
        if self.levels.is_empty() && self.finish_as_single_page(ground, root, header) {
            return;
        }
        if let Some(leaf) = self.leaf.take() {
            self.finish_leaf(ground, leaf, PageNumber::NONE, Vec::new());
        }
        let mut level = 0;
        loop {
            let entry = self.levels[level].last.take();
            let (_, child) = entry.expect("invariant: a level begins with an entry");
            self.put_branch_entry(level, &[], child);
            if level + 1 == self.levels.len() {
                break;
            }
            let page = self.place_branch(ground, level);
            self.add_child(ground, level + 1, Vec::new(), page);
            level += 1;
        }
        let image = ground.sink.page(root);
        image.copy_from_slice(&self.levels[level].image);
        let mut page = PageMut::new(image);
        let flags = page.as_ref().flags() | page_flags::ROOT;
        page.set_flags(flags);
        page.set_external_header(&header)
            .expect("invariant: every branch page keeps room for a root's header");
        ground.sink.finish(root);
    }

    /// Turns a tree of at most one leaf into a single page, if the entries fit without compression.
    fn finish_as_single_page(
        &mut self,
        ground: &mut Ground<'_>,
        root: PageNumber,
        header: [u8; ROOT_HEADER_BYTES],
    ) -> bool {
        let leaf_bytes = self.leaf.map(|leaf| ground.sink.page(leaf.page).to_vec());
        let leaf = leaf_bytes.as_deref().map(PageRef::new);
        let entries = leaf.iter().flat_map(|leaf| {
            (0..leaf.node_count()).map(|line| {
                let node = leaf.node(line).expect("invariant: we built this page");
                (node.key(), node.data)
            })
        });
        if !build_single_page(ground.sink, &self.shape, root, header, entries) {
            return false;
        }
        if let Some(leaf) = self.leaf.take() {
            self.space.give_back_last(leaf.page);
        }
        true
    }

    /// Opens a leaf with `first_key` as the prefix that its keys share.
    fn open_leaf(
        &mut self,
        ground: &mut Ground<'_>,
        previous: PageNumber,
        first_key: &[u8],
    ) -> Leaf {
        let number = self.space.allocate(ground.frontier, ground.sink);
        let mut page = PageMut::new(ground.sink.page(number));
        page.format(self.shape.flags | page_flags::LEAF, self.shape.object);
        page.set_dbtime(DBTIME_OF_FILL);
        if self.shape.compress {
            page.set_external_header(first_key)
                .expect("invariant: an empty page has room for a key");
        }
        Leaf { page: number, previous, entries: 0 }
    }

    /// Adds an entry to a leaf unless that would use the reserve.
    fn put(&mut self, ground: &mut Ground<'_>, leaf: Leaf, key: &[u8], data: &[u8]) -> bool {
        let mut page = PageMut::new(ground.sink.page(leaf.page));
        self.node.clear();
        let prefix = if self.shape.compress { page.as_ref().external_header() } else { &[] };
        let flags = encode_node(prefix, key, data, &mut self.node);
        let needed = self.node.len() + TAG_BYTES;
        let reserve = if leaf.entries == 0 { 0 } else { self.shape.reserve_bytes };
        needed + reserve <= page.as_ref().free_bytes()
            && page.insert(leaf.entries, flags, &self.node).is_ok()
    }

    fn finish_leaf(
        &mut self,
        ground: &mut Ground<'_>,
        leaf: Leaf,
        next: PageNumber,
        separator: Vec<u8>,
    ) {
        PageMut::new(ground.sink.page(leaf.page)).set_links(leaf.previous, next);
        ground.sink.finish(leaf.page);
        self.add_child(ground, 0, separator, leaf.page);
    }

    /// Adds a finished child to a branch level; all its keys are less than `separator`.
    fn add_child(
        &mut self,
        ground: &mut Ground<'_>,
        level: usize,
        separator: Vec<u8>,
        child: PageNumber,
    ) {
        if level == self.levels.len() {
            let image = self.empty_branch(level);
            self.levels.push(Branch { image, last: None });
        }
        if let Some((key, earlier)) = self.levels[level].last.take() {
            // Reserves room for one more entry: the very last one, whose key is empty.
            let needed = 2 * BRANCH_ENTRY_BYTES + key.len() + ROOT_HEADER_BYTES;
            if PageRef::new(&self.levels[level].image).free_bytes() < needed {
                let ending = self.levels[level].last_key();
                let page = self.place_branch(ground, level);
                self.add_child(ground, level + 1, ending, page);
            }
            self.put_branch_entry(level, &key, earlier);
        }
        self.levels[level].last = Some((separator, child));
    }

    fn put_branch_entry(&mut self, level: usize, key: &[u8], child: PageNumber) {
        self.node.clear();
        let flags = encode_node(&[], key, &child.0.to_le_bytes(), &mut self.node);
        let mut page = PageMut::new(&mut self.levels[level].image);
        let line = page.as_ref().node_count();
        page.insert(line, flags, &self.node)
            .expect("invariant: a branch page is closed before it is full");
    }

    /// Assigns the full branch page of a level its place in the file and begins another.
    fn place_branch(&mut self, ground: &mut Ground<'_>, level: usize) -> PageNumber {
        let page = self.space.allocate(ground.frontier, ground.sink);
        let fresh = self.empty_branch(level);
        let full = std::mem::replace(&mut self.levels[level].image, fresh);
        ground.sink.page(page).copy_from_slice(&full);
        ground.sink.finish(page);
        page
    }

    fn empty_branch(&self, level: usize) -> Vec<u8> {
        let mut image = vec![0; self.page_size.bytes()];
        let above_leaves = if level == 0 { page_flags::PARENT_OF_LEAF } else { 0 };
        let mut page = PageMut::new(&mut image);
        page.format(self.shape.flags | above_leaves, self.shape.object);
        page.set_dbtime(DBTIME_OF_FILL);
        image
    }
}

/// Builds a single-page tree, whose page must be in an open unit; returns whether the entries fit.
/// Nodes of a root never borrow from tag 0.
pub(super) fn build_single_page(
    sink: &mut PageSink,
    shape: &TreeShape,
    root: PageNumber,
    header: [u8; ROOT_HEADER_BYTES],
    entries: impl Iterator<Item = (impl AsRef<[u8]>, impl AsRef<[u8]>)>,
) -> bool {
    let mut page = PageMut::new(sink.page(root));
    let flags = shape.flags | page_flags::ROOT | page_flags::LEAF;
    page.format(flags, shape.object);
    page.set_dbtime(DBTIME_OF_FILL);
    page.set_external_header(&header).expect("invariant: an empty page has room");
    let mut node = Vec::new();
    for (line, (key, data)) in entries.enumerate() {
        node.clear();
        let flags = encode_node(&[], key.as_ref(), data.as_ref(), &mut node);
        if page.insert(line, flags, &node).is_err() {
            return false;
        }
    }
    sink.finish(root);
    true
}

/// The shortest prefix of `next` that is greater than `last`.
fn shortest_separator(last: &[u8], next: &[u8]) -> Vec<u8> {
    let shared = last.iter().zip(next).take_while(|(a, b)| a == b).count();
    next[..next.len().min(shared + 1)].to_vec()
}

#[cfg(test)]
mod tests {
    use super::shortest_separator;

    #[test]
    fn separators_are_as_short_as_they_can_be() {
        assert_eq!(shortest_separator(b"abcd", b"abxy"), b"abx");
        assert_eq!(shortest_separator(b"ab", b"abc"), b"abc");
        assert_eq!(shortest_separator(b"a", b"b"), b"b");
    }
}
