//! The pages of a database file, each proved by its checksum before a reader sees it.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

use ese::page::PageSize;
use ese::page_state::{PageDamage, corrected};
use ese::reader::{PageLoss, PageSource};
use units::PageNumber;

/// Bytes of cached pages. Upper pages of trees are read repeatedly.
const CACHE_BYTES: usize = 64 << 20;

/// Seekable bytes.
pub(crate) trait Image: Read + Seek + Send {}

impl<T: Read + Seek + Send> Image for T {}

/// An open database file.
pub(crate) struct DatabasePages {
    image: Box<dyn Image>,
    page_size: PageSize,
    count: u32,
    cache: HashMap<PageNumber, Arc<[u8]>>,
    /// Pages whose single flipped bits were corrected when they were read.
    pub(crate) flips: BTreeMap<PageNumber, PageDamage>,
}

impl DatabasePages {
    pub(crate) fn new(mut image: Box<dyn Image>, page_size: PageSize) -> io::Result<Self> {
        let pages = page_size.pages_of_file(image.seek(SeekFrom::End(0))?);
        let count = u32::try_from(pages).unwrap_or(u32::MAX);
        Ok(Self { image, page_size, count, cache: HashMap::new(), flips: BTreeMap::new() })
    }

    /// Returns the page as stored in the file.
    fn stored(&mut self, number: PageNumber) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; self.page_size.bytes()];
        self.image.seek(SeekFrom::Start(self.page_size.file_offset(number)))?;
        self.image.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn remember(&mut self, number: PageNumber, page: &Arc<[u8]>) {
        if self.cache.len() * self.page_size.bytes() >= CACHE_BYTES {
            self.cache.clear();
        }
        self.cache.insert(number, Arc::clone(page));
    }
}

/// Why a page is withheld.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Withheld(pub(crate) PageLoss);

impl PageSource for DatabasePages {
    type Error = Withheld;

    fn page_size(&self) -> PageSize {
        self.page_size
    }

    fn page_count(&self) -> u32 {
        self.count
    }

    fn loss(error: &Withheld) -> Option<PageLoss> {
        Some(error.0)
    }

    fn page(&mut self, number: PageNumber) -> Result<Arc<[u8]>, Withheld> {
        if let Some(page) = self.cache.get(&number) {
            return Ok(Arc::clone(page));
        }
        let mut bytes = self.stored(number).map_err(|_| Withheld(PageLoss::Unreadable))?;
        let flip = corrected(&mut bytes, number).ok_or(Withheld(PageLoss::Damaged))?;
        if let Some(flip) = flip {
            self.flips.insert(number, flip);
        }
        let page: Arc<[u8]> = bytes.into();
        self.remember(number, &page);
        Ok(page)
    }
}
