//! What must be known of a file before its pages can be judged, and what is wrong with it as a
//! whole.

use std::fmt;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ese::checksum::{PageVerdict, verify};
use ese::flush_map::{FlushMap, FlushMapError, MapRefusal, file_name, longest_file, names_a_map};
use ese::header::{CopyState, DatabaseHeader, HeaderError, MAGIC, PROBE_BYTES, read_copies};
use ese::page::PageSize;
use ese::reader::{ReadError, database_space};
use integrity::Tally;
use units::{Bytes, PageNumber};

use crate::cmd::dirty::Dirty;
use crate::documents;
use crate::error::CommandError;
use crate::locks;
use crate::pages::FilePages;

/// Pages before page 1: the two copies of the header.
const HEADER_PAGES: u64 = 2;
/// How many pages are tried to recognise a database whose header is lost.
const TRIED_PAGES: u32 = 16;

/// A database file to be scanned.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// Its path as given.
    pub path: PathBuf,
    /// Its length.
    pub length: Bytes,
    /// The size of its pages.
    pub page_size: PageSize,
    /// Whole pages behind the header.
    pub pages: u32,
    /// The last page that the database owns; none where its space cannot be read.
    pub owned: Option<PageNumber>,
    /// The flush map beside it, or why none is believed.
    pub flush_map: Result<Arc<FlushMap>, MapRefusal>,
    /// What its header says, where it was not closed.
    pub dirty: Option<Dirty>,
    /// What is wrong with the file as a whole.
    pub faults: Vec<FileFault>,
}

/// What is wrong with a file as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileFault {
    /// One copy of the header is damaged; the other one serves.
    HeaderCopy {
        /// Whether it is the first copy.
        first: bool,
        /// What it is worth: anything but good.
        state: CopyState,
    },
    /// Both copies of the header are damaged; the pages behind them are those of a database.
    HeaderLost,
    /// The flush map beside the file is damaged.
    FlushMap(FlushMapError),
    /// The file ends inside a page.
    EndsInPage {
        /// The page.
        page: PageNumber,
    },
    /// The file ends before the last page that the database owns.
    Truncated {
        /// The last page of the file.
        last: PageNumber,
        /// The last page that the database owns; none where the file ends before the page that
        /// says so.
        owned: Option<PageNumber>,
    },
    /// Pages lie before their places: so much of the beginning of the file is gone.
    BeginningCut {
        /// Pages that are missing.
        pages: u32,
    },
}

impl fmt::Display for FileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HeaderCopy { first, state } => {
                let (bad, good) = if *first {
                    ("first", "second")
                } else {
                    ("second", "first")
                };
                write!(f, "the {bad} copy of the header ")?;
                match state {
                    CopyState::HoldsPage(page) => {
                        write!(f, "holds page {page}: a write went to the wrong place")?;
                    }
                    CopyState::FlippedBit { bit } => {
                        let (byte, bit) = (bit / 8, bit % 8);
                        write!(f, "is damaged: one bit flipped at byte {byte} bit {bit}")?;
                    }
                    CopyState::Missing => f.write_str("is missing")?,
                    CopyState::Good | CopyState::Bad => f.write_str("is damaged")?,
                }
                write!(f, "; the {good} one is good")
            }
            Self::HeaderLost => {
                write!(
                    f,
                    "both copies of the header are damaged; restore the file from a copy"
                )
            }
            Self::FlushMap(error) => write!(
                f,
                "the flush map beside it is damaged, so lost flushes were not looked for: {error}"
            ),
            Self::EndsInPage { page } => write!(f, "truncated: the file ends inside page {page}"),
            Self::Truncated {
                last,
                owned: Some(owned),
            } => write!(
                f,
                "truncated: the file ends with page {last}, the database owns pages up to {owned}"
            ),
            Self::Truncated { last, owned: None } => write!(
                f,
                "truncated: the file ends with page {last}, before the pages that say what the \
                 database owns"
            ),
            Self::BeginningCut { pages } => write!(
                f,
                "cut off at its beginning: every page lies {pages} before its place; restore the \
                 file from a copy"
            ),
        }
    }
}

impl Target {
    /// Reads the header of the file at `path`, or recognises the file without one. An error is one
    /// of the whole undertaking: no such file, not a database.
    pub(crate) fn open(path: &Path) -> Result<Self, CommandError> {
        let mut start = Vec::new();
        let opened = documents::open(path).and_then(|file| {
            let length = file.metadata()?.len();
            file.take(PROBE_BYTES as u64).read_to_end(&mut start)?;
            Ok(Bytes(length))
        });
        let length = opened.map_err(|error| CommandError::file(path, "read", &error))?;
        locks::refuse_held(path, true)?;
        let mut header = None;
        let (page_size, faults) = match read_copies(&start) {
            Ok(copies) => {
                let fault = |state, first| {
                    (state != CopyState::Good).then_some(FileFault::HeaderCopy { first, state })
                };
                let faults = [fault(copies.primary, true), fault(copies.shadow, false)];
                header = Some(copies.header);
                (copies.page_size, faults.into_iter().flatten().collect())
            }
            Err(error) => {
                let page_size = without_header(path, &start, error)?;
                (page_size, vec![FileFault::HeaderLost])
            }
        };
        let mut target = Self {
            path: path.to_path_buf(),
            length,
            page_size,
            pages: 0,
            owned: None,
            flush_map: Err(MapRefusal::Unpaired),
            dirty: header.as_ref().and_then(Dirty::of),
            faults,
        };
        target.count_pages()?;
        if let Some(header) = header {
            target.find_flush_map(&header)?;
        }
        target.find_owned();
        target.find_cut();
        Ok(target)
    }

    fn count_pages(&mut self) -> Result<(), CommandError> {
        let size = self.page_size.bytes_u64();
        let pages = (self.length.0 / size).saturating_sub(HEADER_PAGES);
        self.pages = u32::try_from(pages).map_err(|_| {
            let path = self.path.display();
            CommandError::new(format!(
                "{path}: has more pages than page numbers; not a database"
            ))
        })?;
        if !self.length.0.is_multiple_of(size) {
            let page = PageNumber(self.pages.saturating_add(1));
            self.faults.push(FileFault::EndsInPage { page });
        }
        Ok(())
    }
}

impl Target {
    /// A tally of nothing yet.
    pub(crate) fn empty_tally(&self) -> Tally {
        Tally::new(self.pages, self.owned, self.flush_map.clone().ok())
    }

    /// Looks for the map that the header names. A missing or foreign one is no damage: files are
    /// copied without it.
    fn find_flush_map(&mut self, header: &DatabaseHeader) -> Result<(), CommandError> {
        if !names_a_map(header) {
            return Ok(());
        }
        let name = self.path.file_name().and_then(|name| name.to_str());
        let path = self
            .path
            .with_file_name(file_name(name.unwrap_or_default()));
        let longest = longest_file(self.pages);
        let mut bytes = Vec::new();
        let read =
            documents::open(&path).and_then(|file| file.take(longest + 1).read_to_end(&mut bytes));
        self.flush_map = match read {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(MapRefusal::Missing),
            Err(error) => return Err(CommandError::file(&path, "read", &error)),
            Ok(read) if read as u64 > longest => Err(MapRefusal::Foreign),
            Ok(_) => FlushMap::believed(&bytes, header).map(Arc::new),
        };
        if let Err(MapRefusal::Damaged(error)) = self.flush_map {
            self.faults.push(FileFault::FlushMap(error));
        }
        Ok(())
    }

    /// Where the space tree is damaged, the scan will say so; then no page is called foreign.
    fn find_owned(&mut self) {
        let Ok(mut pages) = FilePages::open(&self.path, self.page_size) else {
            return;
        };
        let space = database_space(&mut pages);
        let ends_before = matches!(space, Err(ReadError::BeyondFile { .. }));
        self.owned = space.ok().map(|space| space.owned.last());
        let last = PageNumber(self.pages);
        let owned = self.owned.filter(|owned| *owned > last);
        if ends_before || owned.is_some() {
            self.faults.push(FileFault::Truncated { last, owned });
        }
    }

    fn find_cut(&mut self) {
        let found = shift(&self.path, self.page_size);
        if let Some(pages) = found.ok().flatten().filter(|shift| *shift > 0) {
            self.faults.push(FileFault::BeginningCut { pages });
        }
    }
}

/// The page size of a file whose header is lost, from its pages; an error where they are none.
fn without_header(path: &Path, start: &[u8], error: HeaderError) -> Result<PageSize, CommandError> {
    let refusal = || CommandError::new(format!("{}: {error}", path.display()));
    if matches!(error, HeaderError::NotADatabase { .. }) {
        return Err(refusal());
    }
    let by_pages = PageSize::ALL
        .into_iter()
        .find(|size| shift(path, *size).is_ok_and(|shift| shift.is_some()));
    let magic = start
        .get(4..8)
        .is_some_and(|bytes| bytes == MAGIC.to_le_bytes());
    // Cut off inside its header: the size hardly matters, for there are no pages.
    by_pages
        .or(magic.then_some(PageSize::KIB_4))
        .ok_or_else(refusal)
}

/// By how many pages the first pages of a file lie before their places; none where they do not
/// agree or there are none.
fn shift(path: &Path, size: PageSize) -> io::Result<Option<u32>> {
    use std::io::{Seek as _, SeekFrom};
    let mut file = documents::open(path)?;
    file.seek(SeekFrom::Start(size.file_offset(PageNumber(1))))?;
    let mut page = vec![0; size.bytes()];
    let (mut found, mut agree) = (None, 0);
    for number in 1..=TRIED_PAGES {
        if file.read_exact(&mut page).is_err() {
            break; // The file ends here.
        }
        let really = match verify(&page, PageNumber(number)) {
            PageVerdict::Good => number,
            PageVerdict::WrongPage { really } => really.0,
            _ => continue,
        };
        let Some(shift) = really.checked_sub(number) else {
            return Ok(None);
        };
        if found.is_some_and(|found| found != shift) {
            return Ok(None);
        }
        (found, agree) = (Some(shift), agree + 1);
    }
    // One or two pages may have been written to a wrong place.
    Ok(found.filter(|shift| *shift == 0 || agree > 2))
}
