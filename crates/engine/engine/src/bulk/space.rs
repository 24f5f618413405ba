//! Allocates the pages of a new file: a frontier that advances, cut into extents for trees.

use ese::space::Extent;
use units::PageNumber;

use super::sink::PageSink;

/// Pages without an owner yet: everything from the first one on, up to a limit.
#[derive(Debug)]
pub(super) struct Frontier {
    next: PageNumber,
    limit: u32,
}

impl Frontier {
    /// All pages from `next` up to, but not including, `limit`.
    pub(super) const fn new(next: PageNumber, limit: u32) -> Self {
        Self { next, limit }
    }

    /// The first page without an owner.
    pub(super) const fn next(&self) -> PageNumber {
        self.next
    }

    pub(super) const fn left(&self) -> u32 {
        self.limit.saturating_sub(self.next.0)
    }

    /// Takes the next `pages` pages even past the limit: a caller at its limit starts nothing new,
    /// but work in progress must finish.
    pub(super) fn take(&mut self, pages: u32) -> Extent {
        let taken = Extent::starting(self.next, pages);
        assert!(taken.last.0 < MOST_PAGES, "a database has at most 2^31 pages");
        self.next = PageNumber(taken.last.0 + 1);
        taken
    }
}

/// Page numbers are 31 bits.
const MOST_PAGES: u32 = 1 << 31;

/// The space of one tree under construction.
#[derive(Debug)]
pub(super) struct TreeSpace {
    /// Extents taken by the tree in ascending order, adjacent ones merged.
    owned: Vec<Extent>,
    /// The next page, and the number of pages left in the last extent taken.
    next: PageNumber,
    left: u32,
    /// Pages left in the current unit.
    unit_left: u32,
    growth: SpaceGrowth,
}

/// How a tree takes space.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpaceGrowth {
    /// Pages to take at a time.
    pub(super) extent_pages: u32,
    /// Pages of one write.
    pub(super) unit_pages: u32,
}

impl TreeSpace {
    /// The space of a tree that owns `primary`: its root and the pages next to it.
    pub(super) fn new(primary: Extent, growth: SpaceGrowth) -> Self {
        Self { owned: vec![primary], next: PageNumber::NONE, left: 0, unit_left: 0, growth }
    }

    /// Allocates the next page of the tree. Opens its unit in `sink` if it is the first there.
    pub(super) fn allocate(&mut self, frontier: &mut Frontier, sink: &mut PageSink) -> PageNumber {
        if self.left == 0 {
            // Near the limit, trees take less, so that none holds much that others could use.
            let least = self.growth.unit_pages.min(self.growth.extent_pages);
            let pages = self.growth.extent_pages.min(frontier.left() / 16);
            let taken = self.take(frontier, pages.max(least));
            (self.next, self.left, self.unit_left) = (taken.first(), taken.pages, 0);
        }
        if self.unit_left == 0 {
            self.unit_left = self.growth.unit_pages.min(self.left);
            sink.open_unit(Extent::starting(self.next, self.unit_left));
        }
        let page = self.next;
        (self.next, self.left) = (PageNumber(page.0 + 1), self.left - 1);
        self.unit_left -= 1;
        page
    }

    /// Gives back the most recently allocated page, which has not been built.
    pub(super) fn give_back_last(&mut self, page: PageNumber) {
        assert_eq!(page.0 + 1, self.next.0, "only the last page can be given back");
        (self.next, self.left) = (page, self.left + 1);
        self.unit_left += 1;
    }

    /// Takes a separate extent, independent of the one in use by [`TreeSpace::allocate`].
    pub(super) fn take(&mut self, frontier: &mut Frontier, pages: u32) -> Extent {
        let taken = frontier.take(pages);
        match self.owned.last_mut() {
            Some(last) if last.last.0 + 1 == taken.first().0 => {
                *last = Extent::starting(last.first(), last.pages + taken.pages);
            }
            _ => self.owned.push(taken),
        }
        taken
    }

    /// Extents owned by the tree, in ascending order.
    pub(super) fn owned(&self) -> &[Extent] {
        &self.owned
    }

    /// The unused part of the owned extents: at most one extent.
    pub(super) fn available(&self) -> Option<Extent> {
        (self.left > 0).then(|| Extent::starting(self.next, self.left))
    }
}
