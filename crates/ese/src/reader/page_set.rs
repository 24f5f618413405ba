//! Which pages of a file a walk has met, in one bit each.

use units::PageNumber;

/// A set of pages of one file.
pub(crate) struct PageSet {
    words: Vec<u64>,
}

impl PageSet {
    /// An empty set for a file of so many pages.
    pub(crate) fn new(page_count: u32) -> Self {
        let words = vec![0; page_count as usize / 64 + 1];
        Self { words }
    }

    /// Adds a page; false where it already is in the set, or does not exist.
    pub(crate) fn insert(&mut self, page: PageNumber) -> bool {
        let Some(word) = self.words.get_mut(page.0 as usize / 64) else {
            return false;
        };
        let bit = 1 << (page.0 % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    pub(crate) fn contains(&self, page: PageNumber) -> bool {
        let word = self.words.get(page.0 as usize / 64);
        word.is_some_and(|word| word >> (page.0 % 64) & 1 == 1)
    }
}
