//! Facts needed before a file's pages can be judged, and its faults as a whole.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ese::flush_map::{FlushMap, MapRefusal, file_name, longest_file, names_a_map};
use ese::header::{DatabaseHeader, DatabaseState, PROBE_BYTES};
use ese::page::PageSize;
use ese::page_set::PageSet;
use ese::reader::Reader;
use integrity::Tally;
use units::{Bytes, PageNumber};

use crate::dirty::Dirty;
use crate::error::HostError;
use crate::headers::{header_or_pages, shift};
use crate::locks;
use crate::observer::HostObserver;
use crate::pages::FilePages;
use crate::scan::fault::FileFault;
use crate::scan::reach::{Reach, reach};
use crate::target::ByteSource;

/// Bytes read past the end of the database: more than engines preallocate, yet quick to read.
const READ_BEHIND_BYTES: u64 = 64 << 20;

/// A database file to be scanned.
#[derive(Clone, Debug)]
pub struct ScanTarget {
    /// Its path as given.
    pub path: PathBuf,
    /// Its length.
    pub length: Bytes,
    /// The size of its pages.
    pub page_size: PageSize,
    /// Whole pages after the header.
    pub pages: u32,
    /// The last page that the database owns; `None` if its space cannot be read.
    pub owned: Option<PageNumber>,
    /// The last page to read; a file may continue past its database for terabytes.
    pub last_read: PageNumber,
    /// The flush map beside it, or why it is not trusted.
    pub flush_map: Result<Arc<FlushMap>, MapRefusal>,
    /// State of a database that was not closed, from its header.
    pub dirty: Option<Dirty>,
    /// Whether its header says that it was created but never attached, as with temporary databases.
    pub(crate) is_just_created: bool,
    /// Faults of the file as a whole.
    pub faults: Vec<FileFault>,
}

impl ScanTarget {
    /// Reads the header of the file at `path`, or recognises the file without one. Reads little of
    /// the space beyond the database, or all `with_foreign`. An error concerns the whole operation:
    /// no such file, not a database.
    pub fn open(path: &Path, with_foreign: bool) -> Result<Self, HostError> {
        let mut start = Vec::new();
        let opened = ByteSource::open(path).and_then(|file| {
            let length = file.length()?;
            file.take(PROBE_BYTES as u64).read_to_end(&mut start)?;
            Ok(Bytes(length))
        });
        let length = opened.map_err(|error| HostError::file(path, "read", &error))?;
        locks::refuse_held(path, &HostObserver::none())?;
        let (page_size, copies) = header_or_pages(path, &start)?;
        let faults = FileFault::of_header(copies.as_ref());
        let header = copies.map(|copies| copies.header);
        let mut target = Self {
            path: path.to_path_buf(),
            length,
            page_size,
            pages: 0,
            owned: None,
            last_read: PageNumber::NONE,
            flush_map: Err(MapRefusal::Unpaired),
            dirty: header.as_ref().and_then(|header| Dirty::of(path, header)),
            is_just_created: header
                .as_ref()
                .is_some_and(|header| header.state == DatabaseState::JustCreated),
            faults,
        };
        target.count_pages()?;
        if let Some(header) = header {
            target.find_flush_map(&header)?;
        }
        target.find_owned();
        target.last_read = match target.owned {
            Some(owned) if !with_foreign => last_read(target.pages, owned, target.page_size),
            _ => PageNumber(target.pages),
        };
        target.find_cut();
        Ok(target)
    }

    fn count_pages(&mut self) -> Result<(), HostError> {
        let size = self.page_size.bytes_u64();
        let pages = self.page_size.pages_of_file(self.length.0);
        self.pages = u32::try_from(pages).map_err(|_| {
            let path = self.path.display();
            HostError::new(format!("{path}: has more pages than page numbers; not a database"))
        })?;
        if !self.length.0.is_multiple_of(size) {
            let page = PageNumber(self.pages.saturating_add(1));
            self.faults.push(FileFault::EndsInPage { page });
        }
        Ok(())
    }
}

/// The last page to read of a file of `pages` pages, of which the database owns those up to
/// `owned`.
fn last_read(pages: u32, owned: PageNumber, size: PageSize) -> PageNumber {
    let behind = u32::try_from(READ_BEHIND_BYTES / size.bytes_u64()).unwrap_or(u32::MAX);
    PageNumber(owned.0.saturating_add(behind).min(pages))
}

impl ScanTarget {
    /// Returns the number of unread pages past the database.
    pub const fn skipped_pages(&self) -> u32 {
        self.pages - self.last_read.0
    }

    /// Returns the pages of all trees; `None` if a part of them cannot be read.
    pub(crate) fn pages_in_use(&self) -> Option<PageSet> {
        let pages = FilePages::open(&self.path, self.page_size).ok()?;
        Reader::open(pages).ok()?.pages_in_use().ok()?
    }

    /// An empty tally for this file.
    pub(crate) fn empty_tally(&self) -> Tally {
        Tally::new(self.pages, self.owned, self.flush_map.clone().ok())
    }

    /// Finds the map that the header names. A missing or foreign one is not damage: files are
    /// copied without it.
    fn find_flush_map(&mut self, header: &DatabaseHeader) -> Result<(), HostError> {
        if !names_a_map(header) {
            return Ok(());
        }
        let name = self.path.file_name().and_then(|name| name.to_str());
        let path = self.path.with_file_name(file_name(name.unwrap_or_default()));
        let longest = longest_file(self.pages);
        let mut bytes = Vec::new();
        let read =
            ByteSource::open(&path).and_then(|file| file.take(longest + 1).read_to_end(&mut bytes));
        self.flush_map = match read {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(MapRefusal::Missing),
            Err(error) => return Err(HostError::file(&path, "read", &error)),
            Ok(read) if read as u64 > longest => Err(MapRefusal::Foreign),
            Ok(_) => FlushMap::believed(&bytes, header).map(Arc::new),
        };
        if let Err(MapRefusal::Damaged(error)) = self.flush_map {
            self.faults.push(FileFault::FlushMap(error));
        }
        Ok(())
    }

    fn find_owned(&mut self) {
        let Reach { owned, fault } = reach(&self.path, self.page_size, PageNumber(self.pages));
        self.owned = owned;
        // The pages of a temporary database carry no checksums, so they seem damaged.
        let is_bare = self.is_just_created && matches!(fault, Some(FileFault::EndUnknown { .. }));
        self.faults.extend(fault.filter(|_| !is_bare));
    }

    fn find_cut(&mut self) {
        let found = shift(&self.path, self.page_size);
        if let Some(pages) = found.ok().flatten().filter(|shift| *shift > 0) {
            self.faults.push(FileFault::BeginningCut { pages });
        }
    }
}
