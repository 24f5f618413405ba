//! What is known of every page, in two bits each.

use units::PageNumber;

/// Two bits for every page of a file.
pub(super) struct PageMap {
    used: Vec<u64>,
    available: Vec<u64>,
}

impl PageMap {
    pub(super) fn new(page_count: u32) -> Self {
        let words = page_count as usize / 64 + 1;
        Self {
            used: vec![0; words],
            available: vec![0; words],
        }
    }

    /// Marks a page as reached; false where it already was, or does not exist.
    pub(super) fn use_page(&mut self, page: PageNumber) -> bool {
        set(&mut self.used, page)
    }

    /// Marks a page as available; false where it already was, or does not exist.
    pub(super) fn make_available(&mut self, page: PageNumber) -> bool {
        set(&mut self.available, page)
    }

    pub(super) fn is_used(&self, page: PageNumber) -> bool {
        is_set(&self.used, page)
    }

    pub(super) fn is_available(&self, page: PageNumber) -> bool {
        is_set(&self.available, page)
    }
}

fn set(bits: &mut [u64], page: PageNumber) -> bool {
    let Some(word) = bits.get_mut(page.0 as usize / 64) else {
        return false;
    };
    let bit = 1 << (page.0 % 64);
    let was_clear = *word & bit == 0;
    *word |= bit;
    was_clear
}

fn is_set(bits: &[u64], page: PageNumber) -> bool {
    bits.get(page.0 as usize / 64)
        .is_some_and(|word| word >> (page.0 % 64) & 1 == 1)
}
