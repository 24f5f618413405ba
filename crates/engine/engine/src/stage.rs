//! Changes that are planned but not yet made, so that an operation is atomic.
//!
//! Planners (`tree`, `space`, `long_value`, `rows`) are synchronous functions over a [`Stage`].
//! They read pages through it and record page edits in it. A page that is not in the cache stops
//! the planner with [`Halt::Missing`]; the driver fetches it and calls the planner again from the
//! start. Only a complete plan is logged and carried out.

use device::Buffer;
use ese::page::{PageMut, PageRef, PageSize};
use units::PageNumber;
use wal::edit::{self, PageEdit, PageEdits};

use crate::error::TransactionError;
use crate::trail::Trail;

/// Source of a stage's pages.
pub(crate) trait PageSource {
    /// The bytes of a page, if available without I/O.
    fn lookup(&mut self, page: PageNumber) -> Option<&[u8]>;

    /// A one-page buffer with undefined content.
    fn take_buffer(&mut self) -> Buffer;
}

/// Why a planner could not complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// Pages must be fetched first; the stage lists them.
    Missing,
    /// The file must reach up to this page first.
    Extend {
        /// The last page that the file must contain.
        last: PageNumber,
    },
    /// A page is unsuitable for the tree.
    Damaged {
        /// The page.
        page: PageNumber,
        /// The problem.
        problem: &'static str,
    },
    /// The operation itself is refused.
    Refused(Refusal),
}

/// Why an operation is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The key exists.
    Duplicate,
    /// The key does not exist.
    NotFound,
    /// Another transaction has changed the row.
    Conflict,
    /// The row cannot be encoded.
    BadRow {
        /// The problem.
        problem: String,
    },
    /// The row does not fit.
    TooLarge {
        /// Bytes needed.
        bytes: usize,
        /// Bytes that fit.
        most: usize,
    },
}

impl From<Refusal> for Halt {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Refusal> for TransactionError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Duplicate => Self::Duplicate,
            Refusal::NotFound => Self::NotFound,
            Refusal::Conflict => Self::Conflict,
            Refusal::BadRow { problem } => Self::BadRow { problem },
            Refusal::TooLarge { bytes, most } => Self::RowTooLarge { bytes, most },
        }
    }
}

struct StagedPage {
    number: PageNumber,
    dbtime_before: u64,
    edits: Vec<PageEdit>,
    /// Number of edits already applied to `image`.
    shown: usize,
    image: Option<Buffer>,
}

/// A finished plan.
pub(crate) struct FinishedPlan {
    /// Edits to log, page by page.
    pub pages: Vec<PageEdits>,
    /// The resulting page for each entry of `pages` (except for its dbtime) if the planner had to
    /// read it; else the edits apply to the cached page.
    pub images: Vec<Option<Buffer>>,
    /// Structure changes.
    pub counts: StageCounts,
}

/// Counts of a planner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StageCounts {
    /// Pages split.
    pub splits: u64,
    /// Pages merged or removed.
    pub merges: u64,
}

/// An overlay over a source of pages.
pub(crate) struct Stage<'a> {
    source: &'a mut dyn PageSource,
    size: PageSize,
    last_file_page: PageNumber,
    pages: Vec<StagedPage>,
    missing: Vec<PageNumber>,
    trail: &'a mut Trail,
    /// Structure changes so far.
    pub counts: StageCounts,
}

impl<'a> Stage<'a> {
    /// An empty overlay. `last_file_page` is the last page the file has room for; `trail` carries
    /// over from the operation's earlier attempts, whatever their outcome.
    pub(crate) fn new(
        source: &'a mut dyn PageSource,
        size: PageSize,
        last_file_page: PageNumber,
        trail: &'a mut Trail,
    ) -> Self {
        Self {
            source,
            size,
            last_file_page,
            pages: Vec::new(),
            missing: Vec::new(),
            trail,
            counts: StageCounts::default(),
        }
    }

    /// The final positions of this operation's searches.
    pub(crate) const fn trail(&mut self) -> &mut Trail {
        self.trail
    }

    /// The database's page size.
    pub(crate) const fn page_size(&self) -> PageSize {
        self.size
    }

    /// The last page the file has room for.
    pub(crate) const fn last_file_page(&self) -> PageNumber {
        self.last_file_page
    }

    /// The pages that stopped the planner.
    pub(crate) fn take_missing(&mut self) -> Vec<PageNumber> {
        std::mem::take(&mut self.missing)
    }

    /// A page with the edits so far applied.
    pub(crate) fn page(&mut self, number: PageNumber) -> Result<PageRef<'_>, Halt> {
        if let Some(index) = self.staged(number) {
            self.show(index)?;
            let image = self.pages[index].image.as_ref();
            return Ok(PageRef::new(image.expect("invariant: the image was just made")));
        }
        if let Some(bytes) = self.source.lookup(number) {
            Ok(PageRef::new(bytes))
        } else {
            self.missing.push(number);
            Err(Halt::Missing)
        }
    }

    /// The pages that have edits.
    pub(crate) fn edited(&self) -> Vec<PageNumber> {
        self.pages.iter().map(|page| page.number).collect()
    }

    /// Records an edit. The caller has read the page and knows that the edit fits, or formats the
    /// page.
    pub(crate) fn edit(&mut self, number: PageNumber, edit: PageEdit) -> Result<(), Halt> {
        let index = match self.staged(number) {
            Some(index) => index,
            None => self.begin_page(number, matches!(edit, PageEdit::Format { .. }))?,
        };
        self.pages[index].edits.push(edit);
        Ok(())
    }

    /// Ends planning: returns the edits to log and to apply.
    pub(crate) fn finish(self) -> FinishedPlan {
        let mut finished = FinishedPlan {
            pages: Vec::with_capacity(self.pages.len()),
            images: Vec::with_capacity(self.pages.len()),
            counts: self.counts,
        };
        for mut page in self.pages {
            if page.image.is_some() {
                apply_rest(&mut page).expect("invariant: planners know that their edits fit");
            }
            finished.images.push(page.image);
            finished.pages.push(PageEdits {
                page: page.number,
                dbtime_before: page.dbtime_before,
                edits: page.edits,
            });
        }
        finished
    }

    /// Whether pages are already missing: further steps only serve to find more of them.
    pub(crate) fn lacks_pages(&self) -> bool {
        !self.missing.is_empty()
    }

    fn staged(&self, number: PageNumber) -> Option<usize> {
        self.pages.iter().position(|page| page.number == number)
    }

    fn begin_page(&mut self, number: PageNumber, formats: bool) -> Result<usize, Halt> {
        let dbtime_before = match self.source.lookup(number) {
            Some(bytes) => PageRef::new(bytes).dbtime(),
            None if formats => 0,
            None => {
                self.missing.push(number);
                return Err(Halt::Missing);
            }
        };
        self.pages.push(StagedPage {
            number,
            dbtime_before,
            edits: Vec::new(),
            shown: 0,
            image: None,
        });
        Ok(self.pages.len() - 1)
    }

    /// Applies outstanding edits to the image of a staged page.
    fn show(&mut self, index: usize) -> Result<(), Halt> {
        let page = &mut self.pages[index];
        if page.image.is_none() {
            let mut image = self.source.take_buffer();
            match self.source.lookup(page.number) {
                Some(bytes) => image.copy_from_slice(bytes),
                None => image.fill(0),
            }
            page.image = Some(image);
        }
        apply_rest(page).map_err(|problem| Halt::Damaged { page: page.number, problem })
    }
}

fn apply_rest(page: &mut StagedPage) -> Result<(), &'static str> {
    let image = page.image.as_mut().expect("invariant: the image was made before");
    let mut target = PageMut::new(image);
    for edit in &page.edits[page.shown..] {
        edit::apply(&mut target, edit).map_err(|_| "an edit that must fit does not")?;
        page.shown += 1;
    }
    Ok(())
}
