//! A database in memory, made of leaves with rows of equal length.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use ese::header::DatabaseHeader;
use ese::page::{PageMut, PageRef, PageSize, page_flags};
use ese::{Signature, checksum};
use eselog::{PageStore, StoredPage};
use units::{ObjectId, PageNumber};

pub(super) const PAGE_SIZE: PageSize = PageSize::KIB_8;
/// Number of leaves: fewer than a command keeps in memory.
pub(super) const PAGES: u32 = 4_000;
pub(super) const ROWS: u16 = 16;
pub(super) const ROW_BYTES: usize = 400;
pub(super) const OBJECT: u32 = 7;

/// The header of a database that has no signature.
pub(super) fn header() -> DatabaseHeader {
    DatabaseHeader::new(PAGE_SIZE, Signature::default())
}

pub(super) struct MemoryPages {
    pages: Vec<Vec<u8>>,
    aside: File,
}

impl MemoryPages {
    /// Creates the pages at database time 1. Undo data that does not fit in memory goes to a file
    /// in `folder`.
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        let pages = (1..=PAGES).map(|number| leaf(PageNumber(number))).collect();
        let mut options = File::options();
        let options = options.read(true).write(true).create(true).truncate(true);
        Ok(Self { pages, aside: options.open(folder.join("aside"))? })
    }

    /// Whether every page has its initial rows.
    pub(super) fn are_first(&self) -> bool {
        let mut numbered = (1..).map(PageNumber).zip(&self.pages);
        numbered.all(|(number, page)| {
            let first = leaf(number);
            let rows = PageRef::new(page).nodes().map(|node| node.data);
            rows.eq(PageRef::new(&first).nodes().map(|node| node.data))
        })
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
    type Error = io::Error;

    fn page_size(&self) -> PageSize {
        PAGE_SIZE
    }

    fn read(&mut self, number: PageNumber) -> Result<StoredPage, io::Error> {
        let index = (number.0 as usize).wrapping_sub(1);
        Ok(self.pages.get(index).map_or(StoredPage::Absent, |page| StoredPage::Sound(page.clone())))
    }

    fn write(&mut self, number: PageNumber, bytes: &[u8]) -> Result<(), io::Error> {
        if let Some(page) = self.pages.get_mut((number.0 as usize).wrapping_sub(1)) {
            page.copy_from_slice(bytes);
        }
        Ok(())
    }

    fn resize(&mut self, _last: PageNumber) -> Result<(), io::Error> {
        Ok(())
    }

    fn last_page(&self) -> PageNumber {
        PageNumber(PAGES)
    }

    fn set_aside(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.aside.write_all_at(bytes, at)
    }

    fn bring_back(&mut self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.aside.read_exact_at(bytes, at)
    }
}
