//! The space trees of a finished tree: its owned extents and the free ones among them.

use ese::catalog::TreePlace;
use ese::page::{PageSize, page_flags};
use ese::space::{Extent, Extents, SpaceHeader, SpaceNode, SplitBuffer};
use units::{ObjectId, PageNumber};

use super::sink::PageSink;
use super::space::{Frontier, SpaceGrowth, TreeSpace};
use super::tree::{Ground, TreeBuilder, TreeShape, build_single_page};

/// Bytes of a space-tree entry with its tag: key size, key, page count, tag.
const ENTRY_BYTES: usize = 2 + 4 + 4 + 4;

/// Identity of a tree: its root (the next two pages are the roots of its space trees), the root of
/// the tree that gave it its space, and the pages it began with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner {
    pub(super) object: ObjectId,
    /// Page flags of the tree itself.
    pub(super) flags: u32,
    pub(super) root: PageNumber,
    pub(super) parent: PageNumber,
    pub(super) primary_pages: u32,
}

impl Owner {
    /// The tree built after this one: the next object id, rooted just past this tree's pages, with
    /// the same parent and size.
    pub(super) fn followed_by(self, flags: u32) -> Self {
        let object = ObjectId(self.object.0 + 1);
        let root = PageNumber(self.root.0 + self.primary_pages);
        Self { object, flags, root, ..self }
    }

    /// The place recorded in the catalog.
    pub(super) const fn place(&self) -> TreePlace {
        TreePlace { object: self.object, root: self.root }
    }

    /// Tag 0 of the tree's root.
    pub(super) fn space_header(&self) -> [u8; SpaceHeader::BYTES] {
        let header = SpaceHeader {
            primary_pages: self.primary_pages,
            parent: self.parent,
            is_non_unique: self.flags & page_flags::NON_UNIQUE != 0,
            extents: Extents::Multiple { owned: self.owned_root() },
        };
        header.encode()
    }

    /// The extent that holds the three roots.
    pub(super) fn primary(&self) -> Extent {
        Extent::starting(self.root, self.primary_pages)
    }

    const fn owned_root(&self) -> PageNumber {
        PageNumber(self.root.0 + 1)
    }

    const fn available_root(&self) -> PageNumber {
        PageNumber(self.root.0 + 2)
    }

    /// Writes both space trees of a tree with few owned extents.
    pub(super) fn write_extents(
        &self,
        sink: &mut PageSink,
        owned: &[Extent],
        available: &[Extent],
    ) {
        for (root, extents) in [(self.owned_root(), owned), (self.available_root(), available)] {
            let fits = self.write_one_page(sink, root, extents);
            assert!(fits, "a tree that grew in one place has few extents");
        }
    }

    /// Writes both space trees of a tree that grew among others. If the owned extents do not fit on
    /// one page, the tree first takes pages for them.
    pub(super) fn write_grown_extents(&self, ground: &mut Ground<'_>, space: &mut TreeSpace) {
        let size = ground.sink.page_size();
        // Taking pages may add one extent to those that are counted here.
        let spare_pages = pages_for(space.owned().len() + 1, size);
        let spare = (spare_pages > 0).then(|| space.take(ground.frontier, spare_pages));
        let owned = space.owned().to_vec();
        let mut unused = None;
        if let Some(spare) = spare {
            unused = self.write_tree(ground.sink, &owned, spare);
        } else {
            let fits = self.write_one_page(ground.sink, self.owned_root(), &owned);
            assert!(fits, "extents that were counted fit");
        }
        let available: Vec<_> = space.available().into_iter().chain(unused).collect();
        let fits = self.write_one_page(ground.sink, self.available_root(), &available);
        assert!(fits, "a fill leaves two extents free at most");
    }

    fn write_one_page(&self, sink: &mut PageSink, root: PageNumber, extents: &[Extent]) -> bool {
        let entries =
            extents.iter().map(|extent| (SpaceNode::key(*extent), SpaceNode::data(*extent)));
        let header = SplitBuffer::default().encode();
        build_single_page(sink, &self.shape(), root, header, entries)
    }

    /// Writes the owned-extents tree over the pages of `spare`; returns those it did not need.
    fn write_tree(&self, sink: &mut PageSink, extents: &[Extent], spare: Extent) -> Option<Extent> {
        let mut frontier = Frontier::new(spare.first(), spare.last.0 + 1);
        let growth = SpaceGrowth { extent_pages: spare.pages, unit_pages: spare.pages };
        let root = Extent::starting(self.owned_root(), 1);
        let size = sink.page_size();
        let mut tree = TreeBuilder::new(self.shape(), size, TreeSpace::new(root, growth));
        let mut ground = Ground { frontier: &mut frontier, sink };
        for extent in extents {
            let added =
                tree.append(&mut ground, &SpaceNode::key(*extent), &SpaceNode::data(*extent));
            assert_eq!(added, Ok(()), "extents are taken in ascending order");
        }
        tree.finish(&mut ground, self.owned_root(), SplitBuffer::default().encode());
        assert!(frontier.next().0 <= spare.last.0 + 1, "the space tree was given enough pages");
        tree.space.available()
    }

    const fn shape(&self) -> TreeShape {
        TreeShape {
            object: self.object,
            flags: self.flags | page_flags::SPACE_TREE,
            reserve_bytes: 0,
            compress: false,
        }
    }
}

/// Pages below the root that a space tree of `extents` extents may need; 0 if the root is enough.
fn pages_for(extents: usize, size: PageSize) -> u32 {
    // Leaves room for the root's own header and, on branch pages, the entry that is held back.
    let per_page = (size.body_bytes() - 2 * SplitBuffer::BYTES) / ENTRY_BYTES - 1;
    let (mut level, mut pages) = (extents, 0);
    while level > per_page {
        level = level.div_ceil(per_page);
        pages += level;
    }
    // Building begins with a leaf and a branch page that may turn out to be the root.
    let pages = if pages > 0 { pages + 2 } else { 0 };
    u32::try_from(pages).expect("invariant: fewer extents than pages")
}
