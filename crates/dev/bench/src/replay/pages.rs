//! A database that lies in memory, made of leaves with rows of one length.

use std::convert::Infallible;

use ese::header::DatabaseHeader;
use ese::page::{PageMut, PageSize, page_flags};
use ese::{Signature, checksum};
use eselog::{PageStore, StoredPage};
use units::{ObjectId, PageNumber};

pub(super) const PAGE_SIZE: PageSize = PageSize::KIB_8;
/// Leaves: less than a command keeps in memory.
pub(super) const PAGES: u32 = 4_000;
pub(super) const ROWS: u16 = 16;
pub(super) const ROW_BYTES: usize = 400;
pub(super) const OBJECT: u32 = 7;

/// The header of a database whose log begins with its first generation.
pub(super) fn header() -> DatabaseHeader {
    DatabaseHeader::new(PAGE_SIZE, Signature::default())
}

pub(super) struct MemoryPages {
    pages: Vec<Vec<u8>>,
}

impl MemoryPages {
    pub(super) fn new() -> Self {
        Self { pages: (1..=PAGES).map(|number| leaf(PageNumber(number))).collect() }
    }
}

/// A leaf at database time 1.
fn leaf(number: PageNumber) -> Vec<u8> {
    let mut bytes = vec![0; PAGE_SIZE.bytes()];
    let mut page = PageMut::new(&mut bytes);
    page.format(page_flags::LEAF, ObjectId(OBJECT));
    for row in 0..ROWS {
        let node = [&2_u16.to_le_bytes(), row.to_be_bytes().as_slice(), &[0; ROW_BYTES]].concat();
        page.insert(usize::from(row), 0, &node).expect("a leaf has room for its rows");
    }
    page.set_dbtime(1);
    checksum::store(&mut bytes, number);
    bytes
}

impl PageStore for MemoryPages {
    type Error = Infallible;

    fn page_size(&self) -> PageSize {
        PAGE_SIZE
    }

    fn read(&mut self, number: PageNumber) -> Result<StoredPage, Infallible> {
        let index = (number.0 as usize).wrapping_sub(1);
        Ok(self.pages.get(index).map_or(StoredPage::Absent, |page| StoredPage::Sound(page.clone())))
    }

    fn write(&mut self, number: PageNumber, bytes: &[u8]) -> Result<(), Infallible> {
        if let Some(page) = self.pages.get_mut((number.0 as usize).wrapping_sub(1)) {
            page.copy_from_slice(bytes);
        }
        Ok(())
    }

    fn resize(&mut self, _last: PageNumber) -> Result<(), Infallible> {
        Ok(())
    }

    fn last_page(&self) -> PageNumber {
        PageNumber(PAGES)
    }
}
