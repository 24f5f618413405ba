//! Damaged pages as ranges, with the affected object and the possible cause of each.

use std::fmt;

use ese::page::PageRef;
use ese::page_set::PageSet;
use ese::page_state::PageDamage;
use ese::reader::{Reader, SalvagedSpace, TreeKind};
use integrity::{Damage, DamagedPage};
use units::PageNumber;

use crate::pages::FilePages;
use crate::scan::Scanned;

/// How far a page's database time may exceed the latest sound one and still be plausible.
const MOST_AHEAD: u64 = 1 << 32;
/// Offset of the page number in large pages, in bytes.
const OWN_NUMBER: usize = 64;

/// The object that a damaged page belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PagePlace {
    /// No tree: it was freed or never used.
    Unused,
    /// The tree with this name.
    Tree(String),
    /// Space of a tree that may or may not be in use: the part that would show it is unreadable.
    Perhaps(String),
    /// Unknown: the parts that would show it are unreadable.
    Unknown,
}

impl fmt::Display for PagePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unused => f.write_str("in space that no table uses; no data is touched"),
            Self::Tree(name) => f.write_str(name),
            Self::Perhaps(name) => write!(f, "space of {name}, in use or not"),
            Self::Unknown => f.write_str("what it is part of cannot be read"),
        }
    }
}

/// Possible cause of a page's damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The storage, or the program that wrote the page.
    Damage,
    /// A write that was in flight when the engine stopped; the log rebuilds the page.
    Crash,
    /// An engine that writes pages without checksums.
    NoChecksum,
}

/// Neighbouring pages with the same damage.
#[derive(Clone, Debug)]
pub struct Range {
    /// The first of them.
    pub first: PageNumber,
    /// The last of them.
    pub last: PageNumber,
    /// The object that they belong to.
    pub place: PagePlace,
    /// Their possible cause.
    pub cause: Cause,
    /// Damage of the first page.
    pub finding: DamagedPage,
}

impl Range {
    /// Number of pages.
    pub const fn pages(&self) -> u64 {
        (self.last.0 - self.first.0) as u64 + 1
    }

    fn continues(&self, other: &Self) -> bool {
        let is_same_damage = matches!(
            (&self.finding.damage, &other.finding.damage),
            (Damage::Page(PageDamage::Checksum { .. }), Damage::Page(PageDamage::Checksum { .. }))
                | (Damage::Page(PageDamage::Wiped), Damage::Page(PageDamage::Wiped))
        );
        is_same_damage
            && self.last.0.checked_add(1) == Some(other.first.0)
            && (&self.place, self.cause) == (&other.place, other.cause)
    }
}

/// The damage of a file as ranges, in the order of its pages.
pub fn of(file: &Scanned) -> Vec<Range> {
    if file.tally.findings.is_empty() {
        return Vec::new();
    }
    let places = Places::of(file);
    let causes = Causes::of(file);
    let mut ranges: Vec<Range> = Vec::new();
    for finding in &file.tally.findings {
        let page = finding.page;
        let range = Range {
            first: page,
            last: page,
            place: places.of_page(page),
            cause: causes.of_page(file, finding),
            finding: finding.clone(),
        };
        match ranges.last_mut() {
            Some(last) if last.continues(&range) => last.last = page,
            _ => ranges.push(range),
        }
    }
    ranges
}

/// Maps pages to the trees that own them.
struct Places {
    /// The database was not closed: a table that exists only in the log may use space that the file
    /// marks as free.
    is_open: bool,
    in_use: Option<PageSet>,
    trees: Vec<SalvagedSpace>,
}

impl Places {
    fn of(file: &Scanned) -> Self {
        let target = &file.target;
        let pages = FilePages::open(&target.path, target.page_size).ok();
        let reader = pages.and_then(|pages| Reader::open(pages).ok());
        let trees = reader.and_then(|mut reader| reader.salvaged_space_report().ok());
        let is_open = target.dirty.is_some();
        let in_use = if is_open { None } else { target.pages_in_use() };
        Self { is_open, in_use, trees: trees.unwrap_or_default() }
    }

    fn of_page(&self, page: PageNumber) -> PagePlace {
        let is_used = self.in_use.as_ref().map(|pages| pages.contains(page));
        // Indexes and long values come after their table, which owns their pages too.
        let owner = self
            .trees
            .iter()
            .rev()
            .find(|tree| tree.space.as_ref().is_ok_and(|space| space.owned.contains(page)));
        let is_available = self
            .trees
            .iter()
            .any(|tree| tree.space.as_ref().is_ok_and(|space| space.available.contains(page)));
        let name = owner.map(name);
        match (is_used, name) {
            (Some(false), Some(_)) => PagePlace::Unused,
            (None, _) if is_available && !self.is_open => PagePlace::Unused,
            (Some(true), Some(name)) => PagePlace::Tree(name),
            (None, Some(name)) => PagePlace::Perhaps(name),
            (_, None) => PagePlace::Unknown,
        }
    }
}

fn name(tree: &SalvagedSpace) -> String {
    match tree.kind {
        TreeKind::Database => "the database's own space".to_owned(),
        TreeKind::Table => format!("table {}", tree.table),
        TreeKind::Index => format!("table {}, index {}", tree.table, tree.index),
        TreeKind::LongValues => format!("table {}, long values", tree.table),
    }
}

/// Distinguishes a crash from damage.
struct Causes {
    /// The header's database time, which pages written since exceed; `None` for a closed database.
    since: Option<u64>,
    without_checksums: bool,
}

impl Causes {
    fn of(file: &Scanned) -> Self {
        let since = file.target.dirty.as_ref().map(|dirty| dirty.dbtime);
        Self { since, without_checksums: file.target.is_just_created }
    }

    fn of_page(&self, file: &Scanned, finding: &DamagedPage) -> Cause {
        let may_be_torn =
            matches!(finding.damage, Damage::Page(PageDamage::Checksum { .. } | PageDamage::Torn));
        if !may_be_torn && !self.without_checksums {
            return Cause::Damage;
        }
        let target = &file.target;
        let pages = FilePages::open(&target.path, target.page_size);
        let Ok(bytes) = pages.and_then(|mut pages| {
            pages.raw(finding.page).map_err(crate::pages::PageError::into_command)
        }) else {
            return Cause::Damage;
        };
        if self.without_checksums && bytes[..8].iter().all(|byte| *byte == 0) {
            return Cause::NoChecksum;
        }
        match self.since {
            Some(since) if may_be_torn && is_torn(&bytes, finding.page, since) => Cause::Crash,
            _ => Cause::Damage,
        }
    }
}

/// Whether a page with a wrong checksum begins like one written after the header.
pub fn is_torn(bytes: &[u8], page: PageNumber, since: u64) -> bool {
    let view = PageRef::new(bytes);
    let own = bytes.get(OWN_NUMBER..OWN_NUMBER + 4);
    let is_in_place = view.size().is_small() || own == Some(&page.0.to_le_bytes()[..]);
    is_in_place && view.dbtime() > since && view.dbtime() - since < MOST_AHEAD
}

#[cfg(test)]
mod tests {
    use units::PageNumber;

    use super::is_torn;

    #[test]
    fn only_a_page_that_begins_as_a_later_one_of_its_place_is_torn() {
        let mut page = vec![0; 16 << 10];
        page[8..16].copy_from_slice(&900_u64.to_le_bytes());
        page[64..68].copy_from_slice(&7_u32.to_le_bytes());
        assert!(is_torn(&page, PageNumber(7), 300));
        assert!(!is_torn(&page, PageNumber(7), 900));
        assert!(!is_torn(&page, PageNumber(8), 300));
        page[8..16].fill(0xA5);
        assert!(!is_torn(&page, PageNumber(7), 300));
    }
}
