//! Finds a line on a page by binary search over its nodes.

use std::cmp::Ordering;

use crate::fetch::fetch_ahead;
use crate::page::parts::compare_bytes;
use crate::page::reference::TAG_BYTES;
use crate::page::{Node, PageRef};

/// With fewer nodes left to search, earlier steps have already fetched them.
const LEAST_TO_FETCH: usize = 2;

impl PageRef<'_> {
    /// The first node with key `key`, or else the line at which such a node would be inserted.
    /// `near` is the result of an earlier search, if any: it saves comparisons but does not change
    /// the result.
    #[inline]
    pub fn search(&self, key: &[u8], near: Option<usize>) -> Result<usize, usize> {
        let sought = SoughtKey::new(key, self.external_header());
        self.search_by(self.node_count(), near, |node| sought.compare(node))
    }

    /// The first node with this `key` and `data`, or else the line where such a node would be
    /// inserted: the order of trees whose keys may repeat. `near` as in [`PageRef::search`].
    #[inline]
    pub fn search_pair(
        &self,
        key: &[u8],
        data: &[u8],
        near: Option<usize>,
    ) -> Result<usize, usize> {
        let sought = SoughtKey::new(key, self.external_header());
        self.search_by(self.node_count(), near, |node| {
            sought.compare(node).then_with(|| node.data.cmp(data))
        })
    }

    /// On a branch page, the line of the child that holds `key`, or in a tree whose keys may
    /// repeat, `key` with `data`. Pass empty `data` for trees with unique keys. `near` as in
    /// [`PageRef::search`].
    ///
    /// A separator is greater than everything below its own child; the last one is empty and means
    /// "greater than any key".
    #[inline]
    pub fn child_line(&self, key: &[u8], data: &[u8], near: Option<usize>) -> usize {
        let separators = self.node_count().saturating_sub(1);
        let sought = SoughtKey::new(key, self.external_header());
        let found = if data.is_empty() {
            self.search_by(separators, near, |node| sought.compare(node))
        } else {
            self.search_by(separators, near, |node| node.compare_joined(key, data))
        };
        match found {
            Ok(equal) => equal + 1,
            Err(greater) => greater,
        }
    }

    /// Binary search of the first `count` nodes for the first one that `compare` calls equal,
    /// starting from the node `near` and the one before it, if given. A node that cannot be read
    /// counts as less, so that a search always ends.
    #[inline]
    fn search_by(
        &self,
        count: usize,
        near: Option<usize>,
        compare: impl Fn(&Node<'_>) -> Ordering,
    ) -> Result<usize, usize> {
        let external_header = self.external_header();
        let (mut low, mut high, mut found) = (0, count, false);
        let mut narrow = |low: &mut usize, high: &mut usize, at| {
            let node = self.node_under(external_header, at);
            match node.map_or(Ordering::Less, |node| compare(&node)) {
                Ordering::Less => *low = at + 1,
                order => {
                    *high = at;
                    found = order == Ordering::Equal;
                }
            }
        };
        if let Some(near) = near {
            for at in [Some(near), near.checked_sub(1)].into_iter().flatten() {
                if (low..high).contains(&at) {
                    narrow(&mut low, &mut high, at);
                }
            }
        }
        while low < high {
            let middle = low.midpoint(high);
            self.fetch_middle_ahead(low, middle);
            self.fetch_middle_ahead(middle + 1, high);
            narrow(&mut low, &mut high, middle);
        }
        if found { Ok(low) } else { Err(low) }
    }

    /// Prefetches the node in the middle of `low..high`, and the tags that the next two steps may
    /// need: on a page that is in no processor cache, a search spends more time waiting for memory
    /// than comparing.
    #[inline]
    fn fetch_middle_ahead(&self, low: usize, high: usize) {
        if high.saturating_sub(low) < LEAST_TO_FETCH {
            return;
        }
        let middle = low.midpoint(high);
        let first_tag = self.reserved_tags();
        if let Some(tag) = self.tag(middle + first_tag) {
            fetch_ahead(self.bytes(), self.size().header_bytes() + tag.offset);
        }
        for next in [low.midpoint(middle), middle.midpoint(high)] {
            let end = (next + first_tag + 1) * TAG_BYTES;
            fetch_ahead(self.bytes(), self.size().bytes().saturating_sub(end));
        }
    }
}

/// The key to find on a page, and the length of the prefix it shares with the page's tag 0: the
/// bytes that nodes borrow from there need not be compared again for each node.
#[derive(Clone, Copy)]
pub(super) struct SoughtKey<'a> {
    key: &'a [u8],
    external_header: &'a [u8],
    shared: usize,
}

impl<'a> SoughtKey<'a> {
    #[inline]
    pub(super) fn new(key: &'a [u8], external_header: &'a [u8]) -> Self {
        let pairs = external_header.iter().zip(key);
        let shared = pairs.take_while(|(borrowed, own)| borrowed == own).count();
        Self { key, external_header, shared }
    }

    /// How the key of a node of the page compares with this one.
    #[inline]
    pub(super) fn compare(&self, node: &Node<'_>) -> Ordering {
        let borrowed = node.prefix.len();
        if borrowed <= self.shared {
            return compare_bytes(node.suffix, &self.key[borrowed..]);
        }
        match self.key.get(self.shared) {
            Some(own) => self.external_header[self.shared].cmp(own),
            None => Ordering::Greater,
        }
    }
}
