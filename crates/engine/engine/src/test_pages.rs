//! In-memory pages for tests of planners, with a walker that verifies a tree and its space.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use device::Buffer;
use ese::page::{PageMut, PageRef, PageSize, page_flags};
use ese::space::{Extent, Extents, RootFields, SpaceHeader, SpaceNode, SplitBuffer};
use units::{ObjectId, PageNumber};
use wal::edit::{self, PageEdit};

use crate::space::DATABASE_ROOT;
use crate::stage::{Halt, PageSource, Stage};
use crate::trail::Trail;
use crate::tree::{Space, Tree, insert};

/// A database with all pages in memory.
pub(crate) struct TestPages {
    size: PageSize,
    pages: HashMap<PageNumber, Buffer>,
    last: PageNumber,
    dbtime: u64,
}

impl PageSource for TestPages {
    fn lookup(&mut self, page: PageNumber) -> Option<&[u8]> {
        self.pages.get(&page).map(|buffer| &**buffer)
    }

    fn take_buffer(&mut self) -> Buffer {
        Buffer::zeroed(self.size.bytes())
    }
}

impl TestPages {
    /// A database root of `pages` pages.
    pub(crate) fn new(size: PageSize, pages: u32) -> Self {
        let last = PageNumber(pages);
        let mut this = Self { size, pages: HashMap::new(), last, dbtime: 0 };
        let whole = Extent::starting(DATABASE_ROOT, pages);
        this.change(|stage| pool(stage, DATABASE_ROOT, (ObjectId(1), 0), PageNumber::NONE, whole));
        this
    }

    /// A pool of `pages` pages from `root` on, which must not be in use.
    pub(crate) fn add_tree(&mut self, root: u32, object: u32, flags: u32, parent: &Tree) -> Tree {
        let (root, object) = (PageNumber(root), ObjectId(object));
        let extent = Extent::starting(root, 8);
        let from = Tree { root: parent.root, ..*parent };
        self.change(|stage| {
            pool(stage, root, (object, flags), from.root, extent)?;
            // The extent is cut out of the middle of the parent's available space.
            let parent_available = space_tree(&from, 2);
            let mut held = None;
            crate::tree::walk(
                stage,
                &parent_available,
                (&root.0.to_be_bytes(), &[]),
                false,
                |node| {
                    held = SpaceNode::decode(&node.key(), node.data).map(|node| node.extent);
                    false
                },
            )?;
            let held = held.expect("the parent has the extent");
            crate::tree::remove(stage, &parent_available, &SpaceNode::key(held), &[])?;
            let front = Extent::starting(held.first(), root.0 - held.first().0);
            let behind = Extent { last: held.last, pages: held.last.0 - extent.last.0 };
            for part in [front, behind].into_iter().filter(|part| part.pages > 0) {
                insert(stage, &parent_available, &SpaceNode::key(part), &SpaceNode::data(part))?;
            }
            Ok(())
        });
        let repeats = flags & page_flags::NON_UNIQUE != 0;
        Tree { root, object, repeats, density_percent: 80, space: Space::Own }
    }

    /// The database's own tree.
    pub(crate) const fn database_tree() -> Tree {
        Tree {
            root: DATABASE_ROOT,
            object: ObjectId(1),
            repeats: false,
            density_percent: 100,
            space: Space::Own,
        }
    }

    /// Plans and applies a change; extends the file as requested. Redo of the edits must reproduce
    /// the images.
    pub(crate) fn try_change<T>(
        &mut self,
        mut plan: impl FnMut(&mut Stage<'_>) -> Result<T, Halt>,
    ) -> Result<T, Halt> {
        let mut trail = Trail::default();
        loop {
            let (size, last) = (self.size, self.last);
            let mut stage = Stage::new(self, size, last, &mut trail);
            match plan(&mut stage) {
                Err(Halt::Extend { last }) => self.last = last,
                Err(stop) => return Err(stop),
                Ok(value) => {
                    let finished = stage.finish();
                    self.carry_out(finished);
                    return Ok(value);
                }
            }
        }
    }

    /// Like [`Self::try_change`], for a plan that must not halt.
    pub(crate) fn change<T>(&mut self, plan: impl FnMut(&mut Stage<'_>) -> Result<T, Halt>) -> T {
        self.try_change(plan).unwrap()
    }

    fn carry_out(&mut self, finished: crate::stage::FinishedPlan) {
        self.dbtime += 1;
        for (change, image) in finished.pages.into_iter().zip(finished.images) {
            let number = change.page;
            let zeroed = Buffer::zeroed(self.size.bytes());
            let mut buffer = self.pages.remove(&number).unwrap_or(zeroed);
            assert_eq!(PageRef::new(&buffer).dbtime(), change.dbtime_before);
            edit::apply_all(&mut PageMut::new(&mut buffer), &change.edits, self.dbtime).unwrap();
            if let Some(mut image) = image {
                PageMut::new(&mut image).set_dbtime(self.dbtime);
                assert!(*image == *buffer, "redo gives the image of page {number}");
            }
            self.pages.insert(number, buffer);
        }
    }

    /// Verifies that a tree is well-formed and returns its nodes and pages.
    pub(crate) fn walk_tree(&self, tree: &Tree) -> (Nodes, BTreeSet<PageNumber>) {
        let mut walker = Walker { pages: self, tree, nodes: Vec::new(), seen: BTreeSet::new() };
        let mut leaves = Vec::new();
        walker.visit(tree.root, None, &mut leaves);
        for pair in leaves.windows(2) {
            assert_eq!(self.page(pair[0]).next(), pair[1], "sibling chain");
            assert_eq!(self.page(pair[1]).previous(), pair[0], "sibling chain");
        }
        (walker.nodes, walker.seen)
    }

    /// Verifies that every page a pool owns is in its tree, its space trees, their buffers,
    /// available, or owned by a child, exactly once. Returns its owned pages.
    pub(crate) fn check_pool(
        &self,
        tree: &Tree,
        children: &[BTreeSet<PageNumber>],
    ) -> BTreeSet<PageNumber> {
        let (mut used, pool) = (self.walk_tree(tree).1, tree.root);
        let parent = self.parent_of(tree);
        let mut owned = BTreeSet::new();
        for which in [1, 2] {
            let space_tree = space_tree(tree, which);
            let (nodes, pages) = self.walk_tree(&space_tree);
            for page in pages {
                assert!(used.insert(page), "page {page} of pool {pool} twice: space tree");
            }
            let buffer = SplitBuffer::decode(self.page(space_tree.root).external_header());
            for extent in buffer.unwrap().extents {
                for page in pages_of(extent) {
                    assert!(used.insert(page), "page {page} of pool {pool} twice: buffer");
                }
            }
            for (key, data) in nodes {
                let extent = SpaceNode::decode(&key, &data).unwrap().extent;
                assert!(extent.pages > 0);
                let holder = if which == 1 { parent } else { Some(*tree) };
                if let Some(holder) = holder {
                    self.assert_in_one_owned_extent(extent, &holder);
                }
                for page in pages_of(extent) {
                    if which == 1 {
                        assert!(owned.insert(page), "page {page} owned twice");
                    } else {
                        assert!(used.insert(page), "page {page} of pool {pool} twice: available");
                    }
                }
            }
        }
        for page in children.iter().flatten() {
            assert!(used.insert(*page), "page {page} of pool {pool} twice: child");
        }
        assert_eq!(used, owned, "pool {pool}");
        owned
    }

    /// The tree from which a pool takes its space.
    fn parent_of(&self, tree: &Tree) -> Option<Tree> {
        let fields = RootFields::decode(self.page(tree.root).external_header()).unwrap();
        let root = fields.space.unwrap().parent;
        root.is_some().then(|| Tree {
            root,
            object: self.page(root).object(),
            ..Self::database_tree()
        })
    }

    /// Asserts that an extent does not straddle two owned extents of `holder`.
    fn assert_in_one_owned_extent(&self, extent: Extent, holder: &Tree) {
        let (nodes, _) = self.walk_tree(&space_tree(holder, 1));
        let mut owned =
            nodes.iter().map(|(key, data)| SpaceNode::decode(key, data).unwrap().extent);
        let lies_in_one =
            owned.any(|owned| owned.contains(extent.first()) && owned.contains(extent.last));
        assert!(
            lies_in_one,
            "extent {}..={} straddles owned extents of pool {}",
            extent.first(),
            extent.last,
            holder.root
        );
    }

    pub(crate) fn page(&self, number: PageNumber) -> PageRef<'_> {
        PageRef::new(&self.pages[&number])
    }
}

/// Keys and data in order.
pub(crate) type Nodes = Vec<(Vec<u8>, Vec<u8>)>;

fn pages_of(extent: Extent) -> impl Iterator<Item = PageNumber> {
    (extent.first().0..extent.first().0 + extent.pages).map(PageNumber)
}

fn space_tree(tree: &Tree, which: u32) -> Tree {
    Tree {
        root: PageNumber(tree.root.0 + which),
        repeats: false,
        density_percent: 100,
        space: Space::Of(tree.root),
        ..*tree
    }
}

fn pool(
    stage: &mut Stage<'_>,
    root: PageNumber,
    (objid, flags): (ObjectId, u32),
    parent: PageNumber,
    extent: Extent,
) -> Result<(), Halt> {
    let header = SpaceHeader {
        primary_pages: extent.pages,
        parent,
        is_non_unique: flags & page_flags::NON_UNIQUE != 0,
        extents: Extents::Multiple { owned: PageNumber(root.0 + 1) },
    };
    let whole = page_flags::ROOT | page_flags::LEAF | flags;
    stage.edit(root, PageEdit::Format { flags: whole, objid })?;
    stage.edit(root, PageEdit::External(header.encode().to_vec()))?;
    let rest = Extent { last: extent.last, pages: extent.pages - 3 };
    for (offset, content) in [(1, extent), (2, rest)] {
        let page = PageNumber(root.0 + offset);
        let flags = (whole | page_flags::SPACE_TREE) & !page_flags::NON_UNIQUE;
        stage.edit(page, PageEdit::Format { flags, objid })?;
        stage.edit(page, PageEdit::External(SplitBuffer::default().encode().to_vec()))?;
        let tree = Tree {
            root: page,
            object: objid,
            repeats: false,
            density_percent: 100,
            space: Space::Of(root),
        };
        insert(stage, &tree, &SpaceNode::key(content), &SpaceNode::data(content))?;
    }
    let fields = RootFields::decode(stage.page(root)?.external_header());
    assert!(fields.is_some_and(|fields| fields.space == Some(header)));
    Ok(())
}

struct Walker<'a> {
    pages: &'a TestPages,
    tree: &'a Tree,
    nodes: Nodes,
    seen: BTreeSet<PageNumber>,
}

impl Walker<'_> {
    /// Visits a subtree whose keys must be below `upper`; returns its height.
    fn visit(
        &mut self,
        number: PageNumber,
        upper: Option<&[u8]>,
        leaves: &mut Vec<PageNumber>,
    ) -> usize {
        assert!(self.seen.insert(number), "page {number} reached twice");
        let page = self.pages.page(number);
        assert_eq!(page.object(), self.tree.object);
        assert_eq!(page.is_root(), number == self.tree.root);
        let sizes: usize =
            (0..page.tag_count()).map(|tag| page.tag_bytes(tag).unwrap().len()).sum();
        assert_eq!(sizes + page.free_bytes() + 4 * page.tag_count(), page.size().body_bytes());
        if page.is_leaf() {
            leaves.push(number);
            assert!(number == self.tree.root || page.node_count() > 0, "an empty leaf");
            for node in page.nodes() {
                let joined = if self.tree.repeats {
                    [&node.key()[..], node.data].concat()
                } else {
                    node.key()
                };
                assert!(upper.is_none_or(|upper| joined[..] < *upper), "a key above its separator");
                let ascends = self.nodes.last().is_none_or(|(key, data)| {
                    (key, data) < (&node.key(), &node.data.to_vec())
                        && (self.tree.repeats || *key < node.key())
                });
                assert!(ascends, "keys out of order");
                self.nodes.push((node.key(), node.data.to_vec()));
            }
            return 0;
        }
        let count = page.node_count();
        assert!(count > 0, "an empty branch page");
        let mut heights = BTreeSet::new();
        for line in 0..count {
            let key = page.node(line).unwrap().key();
            let below = if line + 1 == count {
                assert_eq!(
                    key,
                    upper.unwrap_or_default(),
                    "page {number} ends with the key that its parent has for it"
                );
                upper
            } else {
                assert!(!key.is_empty(), "only the last key may be empty");
                Some(&key[..])
            };
            let child = page.child(line).unwrap();
            heights.insert(self.visit(child, below, leaves));
            if !key.is_empty() {
                let last = self.nodes.last();
                assert!(last.is_none_or(|(last, _)| *last < key || self.tree.repeats));
            }
        }
        assert_eq!(heights.len(), 1, "leaves at one depth");
        let height = heights.into_iter().next().unwrap();
        assert_eq!(page.has(page_flags::PARENT_OF_LEAF), height == 0);
        height + 1
    }
}

/// Contents of a model, in walk order.
pub(crate) fn model_nodes(model: &BTreeMap<Vec<u8>, Vec<u8>>) -> Nodes {
    model.iter().map(|(key, data)| (key.clone(), data.clone())).collect()
}
