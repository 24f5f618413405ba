//! Tracks which pages are in memory, which are needed by records ahead, and which can be evicted.
//! Nothing here touches the device.

use std::collections::{BTreeMap, HashMap};

use device::{Buffer, Completion};
use units::PageNumber;

use super::image::Page;
use crate::hash::QuickHash;

/// State of a page.
pub(super) enum SlotState {
    /// Neither in memory nor being read: the record rebuilds the page, or it is past the end of the
    /// file.
    ToCome,
    /// It is being read.
    Loading(Completion),
    /// It is in memory.
    Here(Page),
}

struct PageSlot {
    state: SlotState,
    /// Number of records ahead that need it.
    wanted: usize,
    /// Its position in the idle list, if listed.
    idle: Option<i64>,
    /// Whether a write of it is in flight. It must stay: a read now could return its old content.
    is_written: bool,
}

/// Pages by their number.
#[derive(Default)]
pub(super) struct Slots {
    pages: HashMap<PageNumber, PageSlot, QuickHash>,
    /// Evictable pages that no record needs, the next to evict first.
    idle: BTreeMap<i64, PageNumber>,
    wanted: usize,
}

const ANNOUNCED: &str = "invariant: redo announces the pages that it uses";

impl Slots {
    /// Number of pages in memory or being read.
    pub(super) fn len(&self) -> usize {
        self.pages.len()
    }

    /// Number of those that records ahead need.
    pub(super) const fn wanted(&self) -> usize {
        self.wanted
    }

    /// Adds one more record that needs a page; false if the page is not in memory.
    pub(super) fn want(&mut self, page: PageNumber) -> bool {
        let Some(slot) = self.pages.get_mut(&page) else {
            return false;
        };
        slot.wanted += 1;
        if slot.wanted == 1 {
            self.wanted += 1;
            if let Some(place) = slot.idle.take() {
                self.idle.remove(&place);
            }
        }
        true
    }

    /// Adds a page that a record needs.
    pub(super) fn admit(&mut self, page: PageNumber, state: SlotState) {
        let slot = PageSlot { state, wanted: 1, idle: None, is_written: false };
        self.pages.insert(page, slot);
        self.wanted += 1;
    }

    /// Releases a page that a record needed and has used.
    pub(super) fn release(&mut self, page: PageNumber) {
        let slot = self.pages.get_mut(&page).expect(ANNOUNCED);
        slot.wanted -= 1;
        if slot.wanted == 0 {
            self.wanted -= 1;
            let last = self.idle.last_key_value().map_or(0, |(place, _)| *place);
            slot.idle = Some(last + 1);
            self.idle.insert(last + 1, page);
        }
    }

    /// State of a wanted page.
    pub(super) fn state(&self, page: PageNumber) -> &SlotState {
        &self.pages.get(&page).expect(ANNOUNCED).state
    }

    /// Takes the state of a needed page that is not in memory, for the caller to turn into a page.
    pub(super) fn take_unless_here(&mut self, page: PageNumber) -> Option<SlotState> {
        let slot = self.pages.get_mut(&page).expect(ANNOUNCED);
        match slot.state {
            SlotState::Here(_) => None,
            _ => Some(std::mem::replace(&mut slot.state, SlotState::ToCome)),
        }
    }

    /// Stores a needed page that has arrived.
    pub(super) fn put(&mut self, number: PageNumber, page: Page) {
        self.pages.get_mut(&number).expect(ANNOUNCED).state = SlotState::Here(page);
    }

    /// A page that is in memory.
    pub(super) fn page(&mut self, number: PageNumber) -> &mut Page {
        match self.pages.get_mut(&number).map(|slot| &mut slot.state) {
            Some(SlotState::Here(page)) => page,
            _ => unreachable!("only pages that are here are asked for"),
        }
    }

    /// Removes the least recently used idle page and returns its memory. A changed page stays, and
    /// its number is returned. `None` if no page is idle.
    pub(super) fn drop_idle(&mut self) -> Option<Result<Buffer, PageNumber>> {
        loop {
            let (_, number) = self.idle.pop_first()?;
            let slot = self.pages.get_mut(&number).expect(ANNOUNCED);
            slot.idle = None;
            match &slot.state {
                // A damaged page stays: its damage must be known until the end.
                SlotState::Here(page) if page.damage.is_some() => {}
                SlotState::Here(page) if page.dirty => return Some(Err(number)),
                // Returned to the idle list once its write completes.
                SlotState::Here(_) if slot.is_written => {}
                _ => {
                    let slot = self.pages.remove(&number);
                    let Some(SlotState::Here(page)) = slot.map(|slot| slot.state) else {
                        unreachable!("a page that was used is here")
                    };
                    return Some(Ok(page.image));
                }
            }
        }
    }

    /// Whether a page may be written now.
    pub(super) fn is_due(&self, page: PageNumber) -> bool {
        self.pages.get(&page).is_some_and(|slot| match &slot.state {
            SlotState::Here(page) => page.is_due() && slot.wanted == 0 && !slot.is_written,
            SlotState::ToCome | SlotState::Loading(_) => false,
        })
    }

    /// Whether a page has changes that may be written, even if records ahead need it.
    pub(super) fn is_changed(&self, page: PageNumber) -> bool {
        self.pages.get(&page).is_some_and(|slot| match &slot.state {
            SlotState::Here(page) => page.is_due() && !slot.is_written,
            SlotState::ToCome | SlotState::Loading(_) => false,
        })
    }

    /// Whether a write of a page is in flight.
    pub(super) fn is_written(&self, page: PageNumber) -> bool {
        self.pages.get(&page).is_some_and(|slot| slot.is_written)
    }

    /// Begins a write of a page and returns the page to be sealed.
    pub(super) fn begin_write(&mut self, number: PageNumber) -> &mut Page {
        self.pages.get_mut(&number).expect(ANNOUNCED).is_written = true;
        self.page(number)
    }

    /// Ends a write of a page. If no record needs it and it did not change meanwhile, it is evicted
    /// next.
    pub(super) fn end_write(&mut self, number: PageNumber) {
        let slot = self.pages.get_mut(&number).expect(ANNOUNCED);
        slot.is_written = false;
        let is_clean = matches!(&slot.state, SlotState::Here(page) if !page.dirty);
        if is_clean && slot.wanted == 0 && slot.idle.is_none() {
            let first = self.idle.first_key_value().map_or(0, |(place, _)| *place);
            slot.idle = Some(first - 1);
            self.idle.insert(first - 1, number);
        }
    }

    /// All pages that must be written, even if a write of them is in flight.
    pub(super) fn changed(&self) -> Vec<PageNumber> {
        self.pages
            .iter()
            .filter_map(|(number, slot)| match &slot.state {
                SlotState::Here(page) if page.is_due() => Some(*number),
                _ => None,
            })
            .collect()
    }
}
