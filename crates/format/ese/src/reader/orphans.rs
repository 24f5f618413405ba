//! Leaves of a tree found by their own contents, because the pages above them are lost.

use units::PageNumber;

use crate::catalog::TreePlace;
use crate::page::{PageRef, page_flags};
use crate::page_check;
use crate::reader::cursor::load;
use crate::reader::extents::{TreePages, pages_of};
use crate::reader::{PageSource, ReadError};
use crate::space::ExtentSet;

/// A leaf, its first and last key, and its links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Orphan {
    pub page: PageNumber,
    pub first: Vec<u8>,
    pub last: Vec<u8>,
    pub previous: PageNumber,
    pub next: PageNumber,
    dbtime: u64,
}

/// All leaves of a tree in key order, whatever its upper pages say: searches the tree's space
/// except available pages, or the whole file if its space cannot be read. Of two leaves whose keys
/// overlap, the most recently changed one counts.
pub(super) fn leaves<S: PageSource>(
    source: &mut S,
    place: TreePlace,
    kind: u32,
) -> Result<Vec<Orphan>, S::Error> {
    let last = source.page_count();
    let (spans, available) = match pages_of(source, place) {
        Ok(TreePages { owned, available }) => (spans(&owned, last), available),
        Err(ReadError::Source(error)) => return Err(error),
        Err(_) => (vec![(1, last)], ExtentSet::default()),
    };
    let mut found = Vec::new();
    for number in spans.into_iter().flat_map(|(first, last)| first..=last) {
        let number = PageNumber(number);
        if available.contains(number) {
            continue;
        }
        match load(source, number) {
            Ok(page) => found.extend(orphan(PageRef::new(&page), number, place, kind)),
            Err(ReadError::Source(error)) => return Err(error),
            Err(_) => {}
        }
    }
    Ok(newest(found))
}

/// The first and last pages of the runs of a set, clipped to the file.
fn spans(set: &ExtentSet, last: u32) -> Vec<(u32, u32)> {
    set.extents().iter().map(|extent| (extent.first().0.max(1), extent.last.0.min(last))).collect()
}

/// The page, if it is a leaf of the tree below its root.
fn orphan(page: PageRef<'_>, number: PageNumber, place: TreePlace, kind: u32) -> Option<Orphan> {
    let is_of_tree = page.object() == place.object
        && page.flags() & page_flags::KIND == kind
        && page.is_leaf()
        && !page.has(page_flags::ROOT | page_flags::EMPTY)
        && page_check::check(page, number).is_ok();
    let last_line = page.node_count().checked_sub(1).filter(|_| is_of_tree)?;
    Some(Orphan {
        page: number,
        first: page.node(0)?.key(),
        last: page.node(last_line)?.key(),
        previous: page.previous(),
        next: page.next(),
        dbtime: page.dbtime(),
    })
}

fn newest(mut found: Vec<Orphan>) -> Vec<Orphan> {
    found.sort_by(|one, other| {
        let keys = one.first.cmp(&other.first);
        keys.then_with(|| other.dbtime.cmp(&one.dbtime))
    });
    let mut kept: Vec<Orphan> = Vec::new();
    for orphan in found {
        match kept.last_mut() {
            Some(before) if orphan.first <= before.last => {
                if orphan.dbtime > before.dbtime {
                    *before = orphan;
                }
            }
            _ => kept.push(orphan),
        }
    }
    kept
}
