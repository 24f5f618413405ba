//! The pages of a database file for the verbs that walk its trees. They read few pages, repeatedly,
//! so reads go through the operating system's cache and a small cache here.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ese::page::PageSize;
use ese::page_state::{PageDamage, corrected};
use ese::reader::{PageLoss, PageSource, ReadError};
use units::PageNumber;

use crate::error::HostError;
use crate::headers::read_header;
use crate::target::{ByteSource, is_cut_off};

/// Bytes of pages kept.
const CACHE_BYTES: usize = 64 << 20;

/// Pages changed in memory in front of a database file, such as by a replay of its log.
pub trait ChangedPages {
    /// Pages of the database with those changes.
    fn pages(&self) -> u32;
    /// The changed page; `None` if it is unchanged.
    fn page(&self, number: PageNumber) -> Option<io::Result<Vec<u8>>>;
}

/// An open database file.
pub struct FilePages {
    file: ByteSource,
    path: PathBuf,
    page_size: PageSize,
    pages: u32,
    without_checksums: bool,
    /// Pages that a replay of the log has changed.
    overlay: Option<Arc<dyn ChangedPages>>,
    cache: HashMap<PageNumber, Arc<[u8]>>,
    /// Pages that were corrected after reading, and how.
    flips: BTreeMap<PageNumber, PageDamage>,
}

/// Why a page cannot be used.
#[derive(Debug)]
pub enum PageError {
    /// The operating system cannot read it.
    Read {
        /// The file.
        path: PathBuf,
        /// The page.
        page: PageNumber,
        /// The system's error.
        error: io::Error,
    },
    /// The file's storage became unreachable, so that no page can be judged.
    CutOff(io::Error),
    /// Its checksum is wrong.
    Damaged {
        /// The file.
        path: PathBuf,
        /// The page.
        page: PageNumber,
    },
}

impl fmt::Display for PageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { path, page, error } => {
                write!(f, "{}: page {page} cannot be read: {error}", path.display())
            }
            Self::CutOff(error) => error.fmt(f),
            Self::Damaged { path, page } => write!(
                f,
                "{}: page {page} is damaged; `plimsoll check` names everything that is",
                path.display()
            ),
        }
    }
}

impl std::error::Error for PageError {}

impl PageError {
    /// The command's error for a page: damage is the file's fault.
    pub fn into_command(self) -> HostError {
        match self {
            Self::Damaged { .. } => HostError::Damage(self.to_string()),
            Self::Read { .. } | Self::CutOff(_) => HostError::new(self.to_string()),
        }
    }
}

/// The command's error for an unreadable database at `path`.
pub fn unreadable(path: &Path, error: ReadError<PageError>) -> HostError {
    match error.without_source() {
        Err(error) => error.into_command(),
        Ok(error @ ReadError::Lost { .. }) => HostError::Damage(format!(
            "{}: {error}; `plimsoll check` names everything that is damaged",
            path.display()
        )),
        Ok(error) => HostError::Damage(format!("{}: {error}", path.display())),
    }
}

impl FilePages {
    /// Opens the file at `path`, whose pages have this size, for reads only.
    pub fn open(path: &Path, page_size: PageSize) -> Result<Self, HostError> {
        let wrong = HostError::of_file(path, "read");
        let file = ByteSource::open(path).map_err(wrong)?;
        let length = file.length().map_err(wrong)?;
        let pages = page_size.pages_of_file(length);
        Ok(Self {
            file,
            path: path.to_path_buf(),
            page_size,
            pages: u32::try_from(pages).unwrap_or(u32::MAX),
            cache: HashMap::new(),
            flips: BTreeMap::new(),
            without_checksums: false,
            overlay: None,
        })
    }

    /// The last page of the file.
    pub(crate) const fn last_page(&self) -> PageNumber {
        PageNumber(self.pages)
    }

    /// Accepts pages without a checksum, which engines write in temporary databases.
    #[must_use]
    pub const fn without_checksums(mut self, takes: bool) -> Self {
        self.without_checksums = takes;
        self
    }

    /// Reads pages as a replay of the log has left them.
    #[must_use]
    pub fn behind(mut self, overlay: Option<Arc<dyn ChangedPages>>) -> Self {
        self.pages = overlay.as_ref().map_or(self.pages, |overlay| overlay.pages());
        self.overlay = overlay;
        self
    }

    /// The page that the end of the file cuts off.
    pub(crate) fn ends_in_page(&self) -> Option<PageNumber> {
        let length = self.file.length().ok()?;
        let is_whole = length.is_multiple_of(self.page_size.bytes_u64());
        (!is_whole).then(|| PageNumber(self.pages.saturating_add(1)))
    }

    /// Opens a database according to its header.
    pub fn open_database(path: &Path) -> Result<Self, HostError> {
        Self::open(path, read_header(path)?.page_size)
    }

    /// The pages read so far with single flipped bits.
    pub const fn flips(&self) -> &BTreeMap<PageNumber, PageDamage> {
        &self.flips
    }

    /// Turns a flipped bit back and records it. Fails if the page still differs from the sealed
    /// one.
    fn correct(&mut self, bytes: &mut [u8], number: PageNumber) -> Result<(), PageError> {
        match corrected(bytes, number) {
            None => return Err(PageError::Damaged { path: self.path.clone(), page: number }),
            Some(None) => {}
            Some(Some(flip)) => {
                self.flips.insert(number, flip);
            }
        }
        Ok(())
    }

    /// The page as stored in the file, whatever its checksum.
    pub fn raw(&mut self, page: PageNumber) -> Result<Vec<u8>, PageError> {
        let replayed = self.overlay.as_ref().and_then(|overlay| overlay.page(page));
        if let Some(read) = replayed {
            return read.map_err(|error| PageError::Read { path: self.path.clone(), page, error });
        }
        let mut bytes = vec![0; self.page_size.bytes()];
        let offset = SeekFrom::Start(self.page_size.file_offset(page));
        self.file.seek(offset).and_then(|_| self.file.read_exact(&mut bytes)).map_err(|error| {
            if is_cut_off(&error) {
                PageError::CutOff(error)
            } else {
                PageError::Read { path: self.path.clone(), page, error }
            }
        })?;
        Ok(bytes)
    }
}

impl PageSource for FilePages {
    type Error = PageError;

    fn page_size(&self) -> PageSize {
        self.page_size
    }

    fn page_count(&self) -> u32 {
        self.pages
    }

    fn loss(error: &PageError) -> Option<PageLoss> {
        match error {
            PageError::Damaged { .. } => Some(PageLoss::Damaged),
            PageError::Read { .. } => Some(PageLoss::Unreadable),
            PageError::CutOff(_) => None,
        }
    }

    /// A page whose checksum is right, or can be made so by turning single bits.
    fn page(&mut self, number: PageNumber) -> Result<Arc<[u8]>, PageError> {
        if let Some(page) = self.cache.get(&number) {
            return Ok(Arc::clone(page));
        }
        let mut bytes = self.raw(number)?;
        let is_bare = self.without_checksums && bytes[..8].iter().all(|byte| *byte == 0);
        if !is_bare {
            self.correct(&mut bytes, number)?;
        }
        // Clearing the cache costs a few reads now and then; tracking the order of use would slow
        // every lookup.
        if self.cache.len() * self.page_size.bytes() >= CACHE_BYTES {
            self.cache.clear();
        }
        let page: Arc<[u8]> = bytes.into();
        self.cache.insert(number, Arc::clone(&page));
        Ok(page)
    }
}
