//! Finds the end of a database, and detects whether its file is cut off before that, regardless of
//! other damage.

use std::path::Path;

use ese::page::{PageRef, PageSize};
use ese::reader::{PageSource as _, ReadError, Reader, database_reach, database_space};
use units::PageNumber;

use crate::pages::FilePages;
use crate::scan::fault::FileFault;

/// Pages at the end of a file that are searched for links past it.
const LAST_PAGES: u32 = 4_096;

/// Known end of a database.
#[derive(Default)]
pub(super) struct Reach {
    /// The last page that it owns; `None` if its space cannot be read, which the scan then reports.
    pub owned: Option<PageNumber>,
    /// A fault if its file ends before that.
    pub fault: Option<FileFault>,
}

/// Finds the end of the database in the file at `path`, whose last page is `last`.
pub(super) fn reach(path: &Path, size: PageSize, last: PageNumber) -> Reach {
    let Ok(mut pages) = FilePages::open(path, size) else {
        return Reach::default();
    };
    let space = database_space(&mut pages);
    let ends_before = matches!(space, Err(ReadError::BeyondFile { .. }));
    let is_damaged = matches!(
        space,
        Err(ReadError::Lost { .. } | ReadError::Page { .. } | ReadError::SpaceHeader { .. })
    );
    let owned = space.ok().map(|space| space.owned.last());
    let at_least = owned
        .or_else(|| salvaged_end(path, size).filter(|end| *end > last))
        .or_else(|| database_reach(&mut pages).filter(|end| *end > last))
        .or_else(|| followed(&mut pages, last));
    let beyond = at_least.filter(|end| *end > last);
    let is_cut = ends_before || beyond.is_some();
    let fault = match () {
        () if is_cut => Some(FileFault::Truncated { last, owned: beyond }),
        () if is_damaged => Some(FileFault::EndUnknown { last }),
        () => None,
    };
    Reach { owned, fault }
}

/// Returns the faults of the file at `path` if it ends too early: inside a page, or before its
/// database as far as its space tree shows it. None if it cannot be read.
pub fn truncations(path: &Path, size: PageSize) -> Vec<FileFault> {
    let Ok(mut pages) = FilePages::open(path, size) else {
        return Vec::new();
    };
    let torn = pages.ends_in_page().map(|page| FileFault::EndsInPage { page });
    [torn, cut_off(&mut pages)].into_iter().flatten().collect()
}

/// Returns a fault if the file ends before its database, or before the pages that say what the
/// database owns: also `None` if its space tree is damaged, which a scan reveals.
fn cut_off(pages: &mut FilePages) -> Option<FileFault> {
    let last = pages.last_page();
    match database_space(pages) {
        Ok(space) if space.owned.last() > last => {
            Some(FileFault::Truncated { last, owned: Some(space.owned.last()) })
        }
        Err(ReadError::BeyondFile { .. }) => Some(FileFault::Truncated { last, owned: None }),
        _ => None,
    }
}

/// The last page that any tree owns, as far as it can be read from a damaged database: by either
/// copy of its catalog, or by the remains of both.
fn salvaged_end(path: &Path, size: PageSize) -> Option<PageNumber> {
    let pages = [(); 3].map(|()| FilePages::open(path, size).ok());
    let [first, second, third] = pages;
    let mut reader = Reader::open(first?)
        .or_else(|error| Reader::open_shadow(second.ok_or(error)?))
        .or_else(|error| Reader::open_salvaged(third.ok_or(error)?).map(|(rest, _)| rest))
        .ok()?;
    let trees = reader.salvaged_space_report().ok()?;
    let spaces = trees.into_iter().filter_map(|tree| tree.space.ok());
    spaces.map(|space| space.owned.last()).max()
}

/// Returns the last page past the file that a tree page links to. A page no longer in use may have
/// a stale link, so the preceding page must lead to it.
fn followed(pages: &mut FilePages, last: PageNumber) -> Option<PageNumber> {
    let first = last.0.saturating_sub(LAST_PAGES).max(1);
    let numbers = (first..=last.0).map(PageNumber);
    numbers.filter_map(|page| next_of(pages, page, last)).max()
}

fn next_of(pages: &mut FilePages, number: PageNumber, last: PageNumber) -> Option<PageNumber> {
    let bytes = pages.page(number).ok()?;
    let page = PageRef::new(&bytes);
    let before = page.previous();
    if page.next() <= last || before == PageNumber::NONE || before > last {
        return None;
    }
    let bytes = pages.page(before).ok()?;
    let leads_here = PageRef::new(&bytes);
    let is_linked = leads_here.next() == number && leads_here.object() == page.object();
    is_linked.then_some(page.next())
}
