//! Runs of pages and their nodes in space trees.

use units::PageNumber;

use crate::bytes::get_array;

/// A run of pages, identified by its last page as in space trees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Extent {
    /// The last page.
    pub last: PageNumber,
    /// Number of pages.
    pub pages: u32,
}

impl Extent {
    /// The extent of `pages` pages that begins at `first`.
    pub fn starting(first: PageNumber, pages: u32) -> Self {
        Self { last: PageNumber(first.0.saturating_add(pages).saturating_sub(1)), pages }
    }

    /// The first page.
    pub const fn first(&self) -> PageNumber {
        PageNumber(self.last.0.saturating_add(1).saturating_sub(self.pages))
    }

    /// Whether `page` is part of the extent.
    pub fn contains(&self, page: PageNumber) -> bool {
        self.pages > 0 && self.first() <= page && page <= self.last
    }
}

/// Purpose of an available extent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Pool {
    /// Any use.
    #[default]
    General,
    /// Runs that stay contiguous.
    Continuous,
    /// Set aside at the end of the file by a shrink.
    Shelved,
    /// A pool that this project does not know.
    Other(u8),
}

impl Pool {
    const MARK: u8 = 0x80;

    fn from_byte(byte: u8) -> Self {
        match byte & !Self::MARK {
            0 => Self::General,
            1 => Self::Continuous,
            2 => Self::Shelved,
            other => Self::Other(other),
        }
    }
}

/// Page numbers are less than this.
const MOST_PAGES: u32 = 1 << 31;

/// A node of an owned- or available-extents tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpaceNode {
    /// Purpose of the extent; owned extents are all general.
    pub(crate) pool: Pool,
    /// The extent.
    pub extent: Extent,
}

impl SpaceNode {
    /// The key of a node for a general extent: its last page, big-endian.
    pub const fn key(extent: Extent) -> [u8; 4] {
        extent.last.0.to_be_bytes()
    }

    /// The data of a node: the number of pages.
    pub const fn data(extent: Extent) -> [u8; 4] {
        extent.pages.to_le_bytes()
    }

    /// Reads a node.
    pub fn decode(key: &[u8], data: &[u8]) -> Option<Self> {
        let (pool, last) = match key.len() {
            4 => (Pool::General, get_array(key, 0)?),
            5 => (Pool::from_byte(key[0]), get_array(key, 1)?),
            _ => return None,
        };
        let last = PageNumber(u32::from_be_bytes(last));
        let pages = u32::from_le_bytes(get_array(data, 0)?);
        (pages <= last.0 && last.0 < MOST_PAGES)
            .then_some(Self { pool, extent: Extent { last, pages } })
    }
}

/// A set of pages, as extents in ascending order that neither touch nor overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtentSet {
    extents: Vec<Extent>,
}

impl ExtentSet {
    /// The pages of all `extents`, which may come in any order and overlap.
    pub fn new(extents: impl IntoIterator<Item = Extent>) -> Self {
        let mut sorted: Vec<_> = extents.into_iter().filter(|extent| extent.pages > 0).collect();
        sorted.sort_by_key(Extent::first);
        let mut joined: Vec<Extent> = Vec::with_capacity(sorted.len());
        for extent in sorted {
            match joined.last_mut() {
                Some(before) if extent.first().0 <= before.last.0.saturating_add(1) => {
                    let (first, last) = (before.first(), before.last.max(extent.last));
                    let pages = last.0.saturating_add(1).saturating_sub(first.0);
                    *before = Extent { last, pages };
                }
                _ => joined.push(extent),
            }
        }
        Self { extents: joined }
    }

    /// The extents, ascending.
    pub fn extents(&self) -> &[Extent] {
        &self.extents
    }

    /// Number of pages in the set.
    pub fn pages(&self) -> u64 {
        self.extents.iter().map(|extent| u64::from(extent.pages)).sum()
    }

    /// The highest page; `NONE` for an empty set.
    pub fn last(&self) -> PageNumber {
        self.extents.last().map_or(PageNumber::NONE, |extent| extent.last)
    }

    /// Whether all pages of `extent` are in the set.
    pub(crate) fn contains_all(&self, extent: Extent) -> bool {
        // Extents of a set never touch, so a run of pages is within one of them or not contained at
        // all.
        let index = self.extents.partition_point(|own| own.last < extent.last);
        self.extents.get(index).is_some_and(|own| own.first() <= extent.first())
    }

    /// Whether any page of `extent` is in the set.
    pub(crate) fn touches(&self, extent: Extent) -> bool {
        let index = self.extents.partition_point(|own| own.last < extent.first());
        self.extents.get(index).is_some_and(|own| own.first() <= extent.last)
    }

    /// Whether `page` is in the set.
    pub fn contains(&self, page: PageNumber) -> bool {
        let index = self.extents.partition_point(|extent| extent.last < page);
        self.extents.get(index).is_some_and(|extent| extent.contains(page))
    }
}

#[cfg(test)]
mod tests {
    use super::{Extent, ExtentSet, Pool, SpaceNode};
    use proptest::prelude::*;
    use units::PageNumber;

    #[test]
    fn nodes_name_the_last_page_and_the_count() {
        let extent = Extent::starting(PageNumber(100), 16);
        assert_eq!(
            (SpaceNode::key(extent), SpaceNode::data(extent)),
            ([0, 0, 0, 115], [16, 0, 0, 0])
        );
        let node = SpaceNode { pool: Pool::General, extent };
        assert_eq!(SpaceNode::decode(&[0, 0, 0, 115], &[16, 0, 0, 0]), Some(node));
        let shelved = SpaceNode { pool: Pool::Shelved, extent };
        assert_eq!(SpaceNode::decode(&[0x82, 0, 0, 0, 115], &[16, 0, 0, 0]), Some(shelved));
        assert_eq!(SpaceNode::decode(&[0, 0, 0, 3], &[16, 0, 0, 0]), None);
    }

    proptest! {
        #[test]
        fn a_set_holds_the_pages_of_its_extents(
            runs in proptest::collection::vec((1u32..60, 0u32..8), 0..12),
        ) {
            let runs: Vec<_> =
                runs.into_iter().map(|(first, pages)| (PageNumber(first), pages)).collect();
            let set = ExtentSet::new(runs.iter().map(|&(first, n)| Extent::starting(first, n)));
            let is_in = |page: u32| runs.iter().any(|&(f, n)| f.0 <= page && page < f.0 + n);
            for page in 1..80 {
                prop_assert_eq!(set.contains(PageNumber(page)), is_in(page), "page {}", page);
            }
            let count = (1..80).filter(|&page| is_in(page)).count();
            prop_assert_eq!(set.pages(), count as u64);
            let apart = set.extents().windows(2).all(|two| two[0].last.0 + 1 < two[1].first().0);
            prop_assert!(apart);
        }
    }
}
