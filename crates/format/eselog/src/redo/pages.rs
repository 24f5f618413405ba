//! The pages that a replay works on: read when they are first needed, written when memory is full.

use ese::page::{PageRef, PageSize};
use units::PageNumber;

use super::edit;
use super::number_map::NumberMap;

/// A page in the store.
pub enum StoredPage {
    /// Never written, or past the end of the file.
    Absent,
    /// Its checksum is wrong.
    Damaged,
    /// Its checksum is right.
    Sound(Vec<u8>),
}

/// Storage of the pages that a replay changes.
pub trait PageStore {
    /// Why the store fails.
    type Error;

    /// The size of the pages.
    fn page_size(&self) -> PageSize;

    /// The current content of page `number`.
    fn read(&mut self, number: PageNumber) -> Result<StoredPage, Self::Error>;

    /// Stores page `number`, whose checksum is right.
    fn write(&mut self, number: PageNumber, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Resizes the file to end after page `last`.
    fn resize(&mut self, last: PageNumber) -> Result<(), Self::Error>;

    /// The last page of the file.
    fn last_page(&self) -> PageNumber;

    /// Keeps `bytes`, undo information that does not fit in memory, outside the database: at
    /// offset `at` of a side area that grows as needed.
    fn set_aside(&mut self, at: u64, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Reads bytes that were set aside at `at`.
    fn bring_back(&mut self, at: u64, bytes: &mut [u8]) -> Result<(), Self::Error>;
}

/// Database times from here on mark pages that hold nothing, as shrinking and reverting leave
/// them: engines compare times as signed numbers, so such a page is older than any record.
pub(super) const FIRST_SPECIAL_DBTIME: u64 = u64::MAX - 0xFF;

/// The state in which a replay finds a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageSeen {
    /// Never written, past the end of the file, or marked as empty.
    Absent,
    Damaged,
    /// Sound, and last changed at this database time.
    At(u64),
}

struct Cached {
    /// Empty while the page is being modified.
    bytes: Vec<u8>,
    /// Database time of the page.
    dbtime: u64,
    is_dirty: bool,
}

/// Page cache in memory, backed by a store.
pub(super) struct PageCache<S> {
    store: S,
    size: PageSize,
    most_pages: usize,
    cached: NumberMap<PageNumber, Cached>,
}

impl<S: PageStore> PageCache<S> {
    pub(super) fn new(store: S, bytes: usize) -> Self {
        let size = store.page_size();
        let most_pages = (bytes / size.bytes()).max(16);
        Self { store, size, most_pages, cached: NumberMap::default() }
    }

    pub(super) const fn page_size(&self) -> PageSize {
        self.size
    }

    pub(super) const fn store(&mut self) -> &mut S {
        &mut self.store
    }

    pub(super) fn into_store(self) -> S {
        self.store
    }

    /// Loads a page into memory and returns its state.
    pub(super) fn seen(&mut self, number: PageNumber) -> Result<PageSeen, S::Error> {
        if let Some(cached) = self.cached.get(&number).filter(|cached| !cached.bytes.is_empty()) {
            return Ok(PageSeen::At(cached.dbtime));
        }
        Ok(match self.store.read(number)? {
            StoredPage::Absent => PageSeen::Absent,
            StoredPage::Damaged => PageSeen::Damaged,
            StoredPage::Sound(bytes) => {
                let dbtime = PageRef::new(&bytes).dbtime();
                if dbtime >= FIRST_SPECIAL_DBTIME {
                    return Ok(PageSeen::Absent);
                }
                self.make_room()?;
                self.cached.insert(number, Cached { bytes, dbtime, is_dirty: false });
                PageSeen::At(dbtime)
            }
        })
    }

    /// Returns the bytes of a cached page, for reading.
    pub(super) fn bytes(&self, number: PageNumber) -> Option<&[u8]> {
        let cached = self.cached.get(&number)?;
        Some(cached.bytes.as_slice()).filter(|bytes| !bytes.is_empty())
    }

    /// Takes a page that is in memory out of it, to be changed and put back.
    pub(super) fn take(&mut self, number: PageNumber) -> Option<Vec<u8>> {
        let cached = self.cached.get_mut(&number)?;
        Some(std::mem::take(&mut cached.bytes)).filter(|bytes| !bytes.is_empty())
    }

    /// Puts a changed page into memory.
    pub(super) fn put(&mut self, number: PageNumber, bytes: Vec<u8>) -> Result<(), S::Error> {
        let dbtime = PageRef::new(&bytes).dbtime();
        let page = Cached { bytes, dbtime, is_dirty: true };
        if let Some(cached) = self.cached.get_mut(&number) {
            *cached = page;
            return Ok(());
        }
        self.make_room()?;
        self.cached.insert(number, page);
        Ok(())
    }

    fn make_room(&mut self) -> Result<(), S::Error> {
        if self.cached.len() >= self.most_pages {
            self.flush()?;
            self.cached.clear();
        }
        Ok(())
    }

    /// Writes all changed pages in the order of the file.
    pub(super) fn flush(&mut self) -> Result<(), S::Error> {
        let mut dirty: Vec<PageNumber> = self
            .cached
            .iter()
            .filter(|(_, page)| page.is_dirty && !page.bytes.is_empty())
            .map(|(number, _)| *number)
            .collect();
        dirty.sort_unstable();
        for number in dirty {
            if let Some(cached) = self.cached.get_mut(&number) {
                edit::seal(&mut cached.bytes, number);
                cached.is_dirty = false;
                self.store.write(number, &cached.bytes)?;
            }
        }
        Ok(())
    }

    /// Drops pages past `last`.
    pub(super) fn forget_behind(&mut self, last: PageNumber) {
        self.cached.retain(|number, _| *number <= last);
    }
}
