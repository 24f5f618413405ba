//! Source of a reader's pages.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use units::PageNumber;

use crate::page::PageSize;

/// Provides the pages of one database.
///
/// A source that caches makes index walks fast: upper pages of a tree are requested again and
/// again. The source decides whether it verifies checksums.
pub trait PageSource {
    /// Why a page could not be read.
    type Error;

    /// The size of the pages.
    fn page_size(&self) -> PageSize;

    /// Number of pages in the file, excluding its two header pages.
    fn page_count(&self) -> u32;

    /// Page `number`, from 1 to [`PageSource::page_count`].
    fn page(&mut self, number: PageNumber) -> Result<Arc<[u8]>, Self::Error>;

    /// Converts an error that concerns one page only, so that the others can still be read; `None`
    /// if the error ends all work.
    fn loss(_error: &Self::Error) -> Option<PageLoss> {
        None
    }
}

/// Lends a source to a reader.
impl<S: PageSource> PageSource for &mut S {
    type Error = S::Error;

    fn page_size(&self) -> PageSize {
        (**self).page_size()
    }

    fn page_count(&self) -> u32 {
        (**self).page_count()
    }

    fn page(&mut self, number: PageNumber) -> Result<Arc<[u8]>, S::Error> {
        (**self).page(number)
    }

    fn loss(error: &S::Error) -> Option<PageLoss> {
        S::loss(error)
    }
}

/// Why a page is lost to a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageLoss {
    /// Its checksum is wrong.
    Damaged,
    /// The storage does not return it.
    Unreadable,
}

impl fmt::Display for PageLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Damaged => "is damaged",
            Self::Unreadable => "cannot be read",
        })
    }
}

/// A database held entirely in memory, for small files and tests.
pub struct FileImage<'a> {
    bytes: &'a [u8],
    page_size: PageSize,
}

impl<'a> FileImage<'a> {
    /// The file in `bytes`, header pages included.
    pub const fn new(bytes: &'a [u8], page_size: PageSize) -> Self {
        Self { bytes, page_size }
    }
}

impl PageSource for FileImage<'_> {
    type Error = Infallible;

    fn page_size(&self) -> PageSize {
        self.page_size
    }

    fn page_count(&self) -> u32 {
        let pages = self.page_size.pages_of_file(self.bytes.len() as u64);
        u32::try_from(pages).unwrap_or(u32::MAX)
    }

    fn page(&mut self, number: PageNumber) -> Result<Arc<[u8]>, Infallible> {
        let start = usize::try_from(self.page_size.file_offset(number));
        let start = start.expect("invariant: the file lies in memory");
        Ok(self.bytes[start..start + self.page_size.bytes()].into())
    }
}
