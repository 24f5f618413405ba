//! A set of pages of one file, one bit each: 4 MiB for a terabyte of 32 KiB pages.

use units::PageNumber;

/// Pages of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageSet {
    words: Vec<u64>,
}

impl PageSet {
    /// The empty set, for a file with `pages` pages.
    pub fn new(pages: u32) -> Self {
        Self { words: vec![0; pages as usize / 64 + 1] }
    }

    /// Adds a page; false if it is already in the set or past the end of the file.
    pub fn insert(&mut self, page: PageNumber) -> bool {
        let Some(word) = self.words.get_mut(page.0 as usize / 64) else {
            return false;
        };
        let bit = 1 << (page.0 % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// Whether the page is in the set.
    pub fn contains(&self, page: PageNumber) -> bool {
        let word = self.words.get(page.0 as usize / 64);
        word.is_some_and(|word| word >> (page.0 % 64) & 1 == 1)
    }

    /// Adds the pages of another set of the same file.
    pub fn merge(&mut self, other: &Self) {
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            *word |= more;
        }
    }

    /// The pages that are in both sets, ascending.
    pub fn common<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = PageNumber> + 'a {
        let words = self.words.iter().zip(&other.words).map(|(one, two)| one & two);
        (0_u32..).step_by(64).zip(words).flat_map(|(base, word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| PageNumber(base + bit))
        })
    }
}

#[cfg(test)]
mod tests {
    use units::PageNumber;

    use super::PageSet;

    #[test]
    fn common_pages_are_in_both() {
        let (mut one, mut two) = (PageSet::new(200), PageSet::new(200));
        for page in [1, 63, 64, 199] {
            one.insert(PageNumber(page));
        }
        for page in [0, 63, 64, 65, 9_999] {
            two.insert(PageNumber(page));
        }
        let common: Vec<PageNumber> = one.common(&two).collect();
        assert_eq!(common, [PageNumber(63), PageNumber(64)]);
        one.merge(&two);
        assert!(one.contains(PageNumber(65)) && !one.contains(PageNumber(9_999)));
    }
}
