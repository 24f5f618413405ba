//! Redo of tree creation, and of growing and shrinking the file.

use ese::page::{PageError, PageMut, PageRef, page_flags};
use ese::space::{Extents, SpaceHeader};
use units::PageNumber;

use super::edit::{self, NodeCopy};
use super::session::UNIQUE;
use super::{BehindCause, LogReplay, PageStore};
use crate::layout::{Field, types};
use crate::record::LogRecord;

/// Pages that the bits of a space header cover.
const MOST_SINGLE_PAGES: u32 = 32;
/// Bytes of an empty split buffer, tag 0 of a space tree's root.
const SPLIT_BUFFER_BYTES: usize = 16;
/// Pages of a new tree that its root and the roots of its space take.
const ROOTS: u32 = 3;

/// A run of pages in a space tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Run {
    last: u32,
    pages: u32,
}

impl Run {
    fn node(self) -> NodeCopy {
        let (key, data) = (self.last.to_be_bytes(), self.pages.to_le_bytes());
        NodeCopy { flags: 0, key: key.to_vec(), data: data.to_vec() }
    }
}

/// The space of a new tree, as a record describes it.
struct NewTree {
    root: u32,
    first_pages: u32,
    parent: PageNumber,
    is_non_unique: bool,
    flags: u32,
}

impl NewTree {
    fn of(record: &LogRecord<'_>) -> Self {
        Self {
            root: record.page(Field::Page).0,
            first_pages: record.word(Field::FirstExtentPages),
            parent: record.page(Field::ParentRoot),
            is_non_unique: record.number(Field::Flags) & UNIQUE == 0,
            flags: record.word(Field::NewPageFlags),
        }
    }

    const fn header(&self, extents: Extents) -> SpaceHeader {
        SpaceHeader {
            primary_pages: self.first_pages,
            parent: self.parent,
            is_non_unique: self.is_non_unique,
            extents,
        }
    }

    const fn last(&self) -> u32 {
        self.root.saturating_add(self.first_pages).saturating_sub(1)
    }
}

impl<S: PageStore> LogReplay<S> {
    pub(super) fn redo_create_tree(&mut self, record: &LogRecord<'_>) -> Result<(), S::Error> {
        let tree = NewTree::of(record);
        let (root, after) = (record.page(Field::Page), record.number(Field::Dbtime));
        let is_large = record.kind() == types::CREATE_LARGE_TREE;
        let owned = record.page(Field::OwnedRoot);
        let extents = if is_large {
            Extents::Multiple { owned }
        } else {
            Extents::Single { available: free_bits(tree.first_pages) }
        };
        if self.is_to_renew(root, after)? {
            let flags = tree.flags | page_flags::ROOT | page_flags::LEAF;
            let mut bytes = edit::fresh(self.pages.page_size(), flags, record.object());
            let done = PageMut::new(&mut bytes).set_external_header(&tree.header(extents).encode());
            self.renew_or_leave(root, bytes, record, done)?;
        }
        if !is_large {
            return Ok(());
        }
        let all = Run { last: tree.last(), pages: tree.first_pages };
        let rest = Run { last: tree.last(), pages: tree.first_pages.saturating_sub(ROOTS) };
        self.renew_space_root(owned, tree.flags, record, &[all])?;
        let available: &[Run] = if rest.pages == 0 { &[] } else { &[rest] };
        self.renew_space_root(record.page(Field::AvailableRoot), tree.flags, record, available)
    }

    /// Makes the root of a space tree.
    fn renew_space_root(
        &mut self,
        page: PageNumber,
        flags: u32,
        record: &LogRecord<'_>,
        runs: &[Run],
    ) -> Result<(), S::Error> {
        if !self.is_to_renew(page, record.number(Field::Dbtime))? {
            return Ok(());
        }
        let flags = flags | page_flags::ROOT | page_flags::LEAF | page_flags::SPACE_TREE;
        let mut bytes = edit::fresh(self.pages.page_size(), flags, record.object());
        let nodes: Vec<NodeCopy> = runs.iter().map(|run| run.node()).collect();
        let done = PageMut::new(&mut bytes)
            .set_external_header(&[0; SPLIT_BUFFER_BYTES])
            .and_then(|()| edit::rebuild(&mut bytes, None, &nodes));
        self.renew_or_leave(page, bytes, record, done)
    }

    pub(super) fn renew_or_leave(
        &mut self,
        page: PageNumber,
        bytes: Vec<u8>,
        record: &LogRecord<'_>,
        done: Result<(), PageError>,
    ) -> Result<(), S::Error> {
        match done {
            Ok(()) => self.renew(page, bytes, record.number(Field::Dbtime), record.place()),
            Err(error) => {
                let cause = BehindCause::Impossible(error);
                self.leave_behind(page, record.place(), cause);
                Ok(())
            }
        }
    }

    /// Gives a tree of one extent its own space trees, in a second extent.
    pub(super) fn redo_convert_tree(&mut self, record: &LogRecord<'_>) -> Result<(), S::Error> {
        let tree = NewTree::of(record);
        let (root, place) = (record.page(Field::Page), record.place());
        let (before, after) = (record.number(Field::DbtimeBefore), record.number(Field::Dbtime));
        let second_first = record.word(Field::SecondExtentFirst);
        let second = Run {
            last: second_first
                .saturating_add(record.word(Field::SecondExtentPages))
                .saturating_sub(1),
            pages: record.word(Field::SecondExtentPages),
        };
        let mut owned = [second, Run { last: tree.last(), pages: tree.first_pages }];
        owned.sort_unstable();
        let mut available = free_runs(&tree, record.word(Field::AvailableBits));
        if second.pages > 2 {
            available.push(Run { last: second.last, pages: second.pages - 2 });
        }
        available.sort_unstable();
        self.renew_space_root(record.page(Field::OwnedRoot), tree.flags, record, &owned)?;
        self.renew_space_root(record.page(Field::AvailableRoot), tree.flags, record, &available)?;
        if let Some(mut bytes) = self.open(root, before, after, place)? {
            let extents = Extents::Multiple { owned: PageNumber(second_first) };
            let done = put_space_header(&mut bytes, &tree.header(extents));
            self.close(root, bytes, after, place, done)?;
        }
        Ok(())
    }

    pub(super) fn extend(&mut self, record: &LogRecord<'_>) -> Result<(), S::Error> {
        let last = record.page(Field::LastPage);
        if record.place() < self.target.resized_at || last <= self.pages.store().last_page() {
            return Ok(());
        }
        if !self.may_reach(last) {
            self.leave_behind(last, record.place(), BehindCause::BeyondFile);
            return Ok(());
        }
        self.pages.store().resize(last)
    }

    /// Truncates the file, unless it may hold pages added after this record.
    pub(super) fn shrink(&mut self, record: &LogRecord<'_>) -> Result<(), S::Error> {
        let last = record.page(Field::LastPage);
        self.behind.retain(|page, _| *page <= last);
        let is_known = self.target.resized_at.is_some();
        let is_seen = is_known && record.place() < self.target.resized_at;
        let may_be_ahead = !is_known && record.place().generation.0 <= self.target.last_required;
        if is_seen || may_be_ahead || last >= self.pages.store().last_page() {
            return Ok(());
        }
        self.pages.forget_behind(last);
        self.pages.store().resize(last)
    }

    /// Clears trimmed pages from the pages left behind, as they hold nothing. Their bytes are left
    /// alone: no tree reads them before a record makes them anew.
    pub(super) fn trim(&mut self, record: &LogRecord<'_>) {
        let first = record.word(Field::FirstPage);
        let end = first.saturating_add(record.word(Field::Pages));
        self.behind.retain(|page, _| !(first..end).contains(&page.0));
    }
}

/// Replaces the space header of a root, which may be one of several fields of its tag 0.
pub(super) fn put_space_header(bytes: &mut [u8], header: &SpaceHeader) -> Result<(), PageError> {
    /// In the first byte of several fields: there is a space header.
    const HAS_SPACE: u8 = 1;
    let old = PageRef::new(bytes).external_header().to_vec();
    let space = header.encode();
    let new = match old.split_first() {
        Some((fields, rest)) if old.len() > SpaceHeader::BYTES => {
            let others = if fields & HAS_SPACE != 0 { &rest[SpaceHeader::BYTES..] } else { rest };
            [&[fields | HAS_SPACE], space.as_slice(), others].concat()
        }
        _ => space.to_vec(),
    };
    PageMut::new(bytes).set_external_header(&new)
}

/// Returns the bits of a new tree's header: all pages after its root are free.
const fn free_bits(pages: u32) -> u32 {
    match pages {
        0 | 1 => 0,
        _ if pages > MOST_SINGLE_PAGES => u32::MAX,
        _ => (1_u32 << (pages - 1)) - 1,
    }
}

/// The free pages of a single-extent tree, as ascending runs.
fn free_runs(tree: &NewTree, bits: u32) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for bit in (0..MOST_SINGLE_PAGES).filter(|bit| bits >> bit & 1 != 0) {
        let page = tree.root.saturating_add(1 + bit);
        match runs.last_mut().filter(|run| run.last + 1 == page) {
            Some(run) => *run = Run { last: page, pages: run.pages + 1 },
            None => runs.push(Run { last: page, pages: 1 }),
        }
    }
    let uncovered = tree.first_pages.saturating_sub(MOST_SINGLE_PAGES + 1);
    if uncovered > 0 {
        let covered_last = tree.root.saturating_add(MOST_SINGLE_PAGES);
        match runs.last_mut().filter(|run| run.last == covered_last) {
            Some(run) => *run = Run { last: tree.last(), pages: run.pages + uncovered },
            None => runs.push(Run { last: tree.last(), pages: uncovered }),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use units::PageNumber;

    use super::{NewTree, Run, free_bits, free_runs};

    #[test]
    fn bits_of_a_new_tree_count_its_free_pages() {
        assert_eq!([1, 2, 4, 32, 33].map(free_bits), [0, 1, 7, 0x7FFF_FFFF, u32::MAX]);
    }

    const fn tree(first_pages: u32) -> NewTree {
        NewTree { root: 100, first_pages, parent: PageNumber(1), is_non_unique: false, flags: 0 }
    }

    #[test]
    fn free_bits_become_runs() {
        let runs = free_runs(&tree(16), 0b110_0001);
        assert_eq!(runs, [Run { last: 101, pages: 1 }, Run { last: 107, pages: 2 }]);
        let runs = free_runs(&tree(40), 0x8000_0000);
        assert_eq!(runs, [Run { last: 139, pages: 8 }]);
    }
}
