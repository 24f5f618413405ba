//! State of the pages of a database file: counts, and the damaged ones by name.
//!
//! Pure: it judges blocks that the caller has read. Tallies of parts of one file add up to a tally
//! of the file.

mod finding;
mod references;

use std::sync::Arc;

use device::DeviceError;
use ese::flush_map::{FlushMap, LastWrite};
use ese::page::{PageRef, PageSize};
use ese::page_set::PageSet;
use ese::page_state::{self, PageDamage, PageState};
use units::PageNumber;

pub use finding::{Damage, DamagedPage};

/// Findings so far in the pages of one file.
#[derive(Clone, Debug)]
pub struct Tally {
    /// Pages judged.
    pub seen: u64,
    /// Pages with any damage, the correctable ones included.
    pub bad: u64,
    /// Pages with one flipped bit at a known position.
    pub correctable: u64,
    /// Pages that hold a different page: a misdirected write.
    pub wrong_number: u64,
    /// Pages that are intact but stale: their last write never reached the medium. None are found
    /// without a flush map.
    pub lost_flushes: u64,
    /// Pages of zeros: allocated and never written.
    pub uninitialised: u64,
    /// Pages past the space that the database owns. They are only checked for flipped bits.
    pub foreign: u64,
    /// The damage, page by page; at most `Tally::MOST_FINDINGS`.
    pub findings: Vec<DamagedPage>,
    /// Why the scan ended early, if the device became unreachable.
    pub broken_off: Option<DeviceError>,
    /// Pages of zeros.
    zeros: PageSet,
    /// Pages that the trees point to.
    referenced: PageSet,
    /// The last page of the file.
    last: PageNumber,
    /// The last page that the database owns.
    owned: PageNumber,
    /// Last write of each page, if known.
    flush_map: Option<Arc<FlushMap>>,
}

impl Tally {
    /// Limit on listed findings; further ones are only counted.
    pub(crate) const MOST_FINDINGS: usize = 10_000;

    /// An empty tally of a file of `pages` pages. `owned` is the last page that the database owns,
    /// `flush_map` a trusted one; `None` if unknown.
    pub fn new(pages: u32, owned: Option<PageNumber>, flush_map: Option<Arc<FlushMap>>) -> Self {
        let last = PageNumber(pages);
        let owned = owned.unwrap_or(PageNumber(u32::MAX));
        // Pages past `judged` are not counted as zeros, and no tree points to them.
        let judged = owned.min(last);
        Self {
            flush_map,
            lost_flushes: 0,
            last,
            owned,
            seen: 0,
            bad: 0,
            correctable: 0,
            wrong_number: 0,
            uninitialised: 0,
            foreign: 0,
            findings: Vec::new(),
            broken_off: None,
            zeros: PageSet::new(judged.0),
            referenced: PageSet::new(judged.0),
        }
    }

    /// Adds the findings of another scan of the same file.
    pub fn merge(&mut self, other: Self) {
        self.seen += other.seen;
        self.bad += other.bad;
        self.correctable += other.correctable;
        self.wrong_number += other.wrong_number;
        self.lost_flushes += other.lost_flushes;
        self.uninitialised += other.uninitialised;
        self.foreign += other.foreign;
        self.broken_off = self.broken_off.take().or(other.broken_off);
        self.zeros.merge(&other.zeros);
        self.referenced.merge(&other.referenced);
        self.findings.extend(other.findings);
        self.findings.sort_by_key(|finding| finding.page);
        self.findings.truncate(Self::MOST_FINDINGS);
    }

    /// Judges the pages in `block`, which begins with page `first` and is a whole number of pages.
    pub fn judge(&mut self, block: &[u8], page_size: PageSize, first: PageNumber) {
        let pages = block.chunks_exact(page_size.bytes());
        for (number, bytes) in (first.0..).map(PageNumber).zip(pages) {
            self.seen += 1;
            let state = self.state(bytes, number);
            if number > self.owned {
                self.note_foreign(number, state);
            } else {
                self.note_owned(bytes, number, state);
            }
        }
    }

    fn note_owned(&mut self, bytes: &[u8], number: PageNumber, state: PageState) {
        match state {
            PageState::Sound => {
                references::each(PageRef::new(bytes), |used| _ = self.referenced.insert(used));
            }
            PageState::Unwritten => {
                self.uninitialised += 1;
                self.zeros.insert(number);
            }
            PageState::Damaged(damage) => self.note(number, Damage::Page(damage)),
        }
    }

    /// Notes a page past the database. It may hold anything, so only a flip proves that the medium
    /// changed it. Zeros are space that the engine allocated ahead.
    fn note_foreign(&mut self, number: PageNumber, state: PageState) {
        match state {
            PageState::Unwritten => self.uninitialised += 1,
            PageState::Damaged(damage) if damage.is_flip() => {
                self.foreign += 1;
                self.note(number, Damage::Page(damage));
            }
            PageState::Sound | PageState::Damaged(_) => self.foreign += 1,
        }
    }

    /// State of a page in a file of this length.
    fn state(&self, bytes: &[u8], number: PageNumber) -> PageState {
        let map = self.flush_map.as_ref();
        let last_write = map.map_or(LastWrite::Unknown, |map| map.last_write(number));
        let state = page_state::judge(bytes, number, last_write);
        let PageState::Damaged(PageDamage::WrongNumber { really }) = state else {
            return state;
        };
        let flipped = self.flipped_number(PageRef::new(bytes).size(), number, really);
        flipped.map_or(state, |bit| PageState::Damaged(PageDamage::FlippedChecksum { bit }))
    }

    /// Records a page that the device could not read.
    pub(crate) fn unreadable(&mut self, page: PageNumber, error: DeviceError) {
        self.seen += 1;
        self.note(page, Damage::Unreadable(error));
    }

    /// Reports pages of zeros that a tree points to as wiped. Call it once, after merging all
    /// parts. A freed page may still point to zeros; so if anything does, `in_use` is called for
    /// the pages that the trees use, and returns `None` if it cannot determine them.
    pub fn find_wiped_pages(&mut self, in_use: impl FnOnce() -> Option<PageSet>) {
        if self.points_to_zeros()
            && let Some(in_use) = in_use()
        {
            self.referenced = in_use;
        }
        let wiped: Vec<PageNumber> = self.zeros.common(&self.referenced).collect();
        for page in wiped {
            self.uninitialised -= 1;
            self.note(page, Damage::Page(PageDamage::Wiped));
        }
        for finding in &mut self.findings {
            if finding.damage.is_flipped_zero() && self.referenced.contains(finding.page) {
                self.correctable -= 1;
                finding.damage = Damage::Page(PageDamage::Wiped);
            }
        }
        self.findings.sort_by_key(|finding| finding.page);
    }

    /// Whether any reference leads to a page of zeros, so that the pages in use must be known.
    pub(crate) fn points_to_zeros(&mut self) -> bool {
        for root in references::FIXED_ROOTS {
            self.referenced.insert(root);
        }
        let mut findings = self.findings.iter();
        self.zeros.common(&self.referenced).next().is_some()
            || findings.any(|finding| {
                finding.damage.is_flipped_zero() && self.referenced.contains(finding.page)
            })
    }

    /// The checksum bit whose flip explains why a small page claims the number `really`, one that
    /// the file does not have. Large pages have further checksums that settle this.
    fn flipped_number(
        &self,
        size: PageSize,
        number: PageNumber,
        really: PageNumber,
    ) -> Option<u32> {
        let difference = number.0 ^ really.0;
        let is_absent = really > self.last || !really.is_some();
        let is_flip = size.is_small() && is_absent && difference.is_power_of_two();
        is_flip.then(|| difference.trailing_zeros())
    }

    fn note(&mut self, page: PageNumber, damage: Damage) {
        self.bad += 1;
        match damage {
            Damage::Page(ref damage) if damage.is_flip() => self.correctable += 1,
            Damage::Page(PageDamage::LostFlush { .. }) => self.lost_flushes += 1,
            Damage::Page(PageDamage::WrongNumber { .. }) => self.wrong_number += 1,
            _ => {}
        }
        if self.findings.len() < Self::MOST_FINDINGS {
            self.findings.push(DamagedPage { page, damage });
        }
    }
}

#[cfg(test)]
mod tests;
