//! What the pages of a database file are worth: counts, and the damaged ones by name.
//!
//! Pure: it looks at blocks that others have read. Tallies of parts of one file add up to a
//! tally of the file.

mod judge;
mod page_set;
mod references;

use std::sync::Arc;

use device::DeviceError;
use ese::flush_map::{FlushMap, FlushVerdict};
use ese::page::{PageRef, PageSize};
use units::PageNumber;

pub use judge::{Damage, Finding};
pub use page_set::PageSet;

/// What has been found so far in the pages of one file.
#[derive(Clone, Debug)]
pub struct Tally {
    /// Pages looked at.
    pub seen: u64,
    /// Pages with any damage, the correctable ones included.
    pub bad: u64,
    /// Pages with one flipped bit, whose place is known.
    pub correctable: u64,
    /// Pages that hold another page: a write went to the wrong place.
    pub wrong_number: u64,
    /// Pages that are whole and old: their last write never reached the medium. None are found
    /// without a flush map.
    pub lost_flushes: u64,
    /// Pages of zeros: allocated and never written.
    pub uninitialised: u64,
    /// Pages behind the space that the database owns. Of damage only flipped bits are looked for.
    pub foreign: u64,
    /// The damage, page by page; at most [`Tally::MOST_FINDINGS`].
    pub findings: Vec<Finding>,
    /// Which pages are zeros.
    pub zeros: PageSet,
    /// Which pages the trees point to.
    pub referenced: PageSet,
    /// The last page of the file.
    last: PageNumber,
    /// The last page that the database owns.
    owned: PageNumber,
    /// What each page's last write was, where that is known.
    flush_map: Option<Arc<FlushMap>>,
}

impl Tally {
    /// More findings than this are counted, but not listed.
    pub const MOST_FINDINGS: usize = 10_000;

    /// Nothing looked at yet, in a file of `pages` pages. `owned` is the last page that the
    /// database owns, `flush_map` one that is believed; none where that is not known.
    pub fn new(pages: u32, owned: Option<PageNumber>, flush_map: Option<Arc<FlushMap>>) -> Self {
        Self {
            flush_map,
            lost_flushes: 0,
            last: PageNumber(pages),
            owned: owned.unwrap_or(PageNumber(u32::MAX)),
            seen: 0,
            bad: 0,
            correctable: 0,
            wrong_number: 0,
            uninitialised: 0,
            foreign: 0,
            findings: Vec::new(),
            zeros: PageSet::new(pages),
            referenced: PageSet::new(pages),
        }
    }

    /// Adds what another scan found in the same file.
    pub fn merge(&mut self, other: Self) {
        self.seen += other.seen;
        self.bad += other.bad;
        self.correctable += other.correctable;
        self.wrong_number += other.wrong_number;
        self.lost_flushes += other.lost_flushes;
        self.uninitialised += other.uninitialised;
        self.foreign += other.foreign;
        self.zeros.merge(&other.zeros);
        self.referenced.merge(&other.referenced);
        self.findings.extend(other.findings);
        self.findings.sort_by_key(|finding| finding.page);
        self.findings.truncate(Self::MOST_FINDINGS);
    }

    /// Judges the pages in `block`, which begins with page `first` and is a whole number of pages.
    pub fn judge(&mut self, block: &[u8], page_size: PageSize, first: PageNumber) {
        judge::judge(block, page_size, first, self);
    }

    /// Notes a page that the device does not give.
    pub fn unreadable(&mut self, page: PageNumber, error: DeviceError) {
        self.seen += 1;
        self.note(page, Damage::Unreadable(error));
    }

    /// Turns zeros that a tree points to into findings. Call it once, when all parts are merged.
    pub fn find_wiped_pages(&mut self) {
        for root in references::FIXED_ROOTS {
            self.referenced.insert(root);
        }
        let wiped: Vec<PageNumber> = self.zeros.common(&self.referenced).collect();
        for page in wiped {
            self.uninitialised -= 1;
            self.note(page, Damage::Wiped);
        }
        for finding in &mut self.findings {
            let is_flip = matches!(finding.damage, Damage::FlippedZero { .. });
            if is_flip && self.referenced.contains(finding.page) {
                self.correctable -= 1;
                finding.damage = Damage::Wiped;
            }
        }
        self.findings.sort_by_key(|finding| finding.page);
    }

    /// The flipped bit of a small page's checksum that makes it look like page `really`, where the
    /// file has no such page. Large pages have more blocks to tell.
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

    /// The write that a page without other damage has lost.
    fn lost(&self, number: PageNumber, page: PageRef<'_>) -> Option<Damage> {
        match self.flush_map.as_ref()?.judge(number, page) {
            FlushVerdict::LostWrite { written, found } => {
                Some(Damage::LostFlush { written, found })
            }
            FlushVerdict::Agrees | FlushVerdict::Unknown => None,
        }
    }

    /// Whether a page whose checksum is right is not what was sealed.
    fn is_torn(&self, number: PageNumber, bytes: &[u8]) -> bool {
        let map = self.flush_map.as_ref();
        map.is_some_and(|map| map.contradicts(number, bytes))
    }

    fn note(&mut self, page: PageNumber, damage: Damage) {
        self.bad += 1;
        match damage {
            _ if damage.is_flip() => self.correctable += 1,
            Damage::LostFlush { .. } => self.lost_flushes += 1,
            Damage::WrongNumber { .. } => self.wrong_number += 1,
            _ => {}
        }
        if self.findings.len() < Self::MOST_FINDINGS {
            self.findings.push(Finding { page, damage });
        }
    }
}

#[cfg(test)]
mod tests;
