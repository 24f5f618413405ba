//! State of every page, in two bits each.

use units::PageNumber;

use crate::page_set::PageSet;

/// Two bits for every page of a file.
pub(super) struct PageMap {
    used: PageSet,
    available: PageSet,
}

impl PageMap {
    pub(super) fn new(page_count: u32) -> Self {
        Self { used: PageSet::new(page_count), available: PageSet::new(page_count) }
    }

    /// Marks a page as reached; false if it already was, or does not exist.
    pub(super) fn use_page(&mut self, page: PageNumber) -> bool {
        self.used.insert(page)
    }

    /// Marks a page as available; false if it already was, or does not exist.
    pub(super) fn make_available(&mut self, page: PageNumber) -> bool {
        self.available.insert(page)
    }

    pub(super) fn is_used(&self, page: PageNumber) -> bool {
        self.used.contains(page)
    }

    pub(super) fn is_available(&self, page: PageNumber) -> bool {
        self.available.contains(page)
    }
}
