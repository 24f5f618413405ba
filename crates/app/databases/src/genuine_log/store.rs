//! The two destinations for a replay's pages: a copy of the database, or a scratch file in front of
//! a database that is not copied.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write as _};

use ese::checksum::{PageVerdict, repair, verify};
use ese::page::{PageRef, PageSize};
use eselog::{PageStore, StoredPage};
use units::PageNumber;

use host::target::ByteSource;

use super::scratch::Aside;

/// Judges the page in `bytes`, after correcting a flipped bit.
fn judged(mut bytes: Vec<u8>, number: PageNumber) -> StoredPage {
    match verify(&bytes, number) {
        PageVerdict::Good | PageVerdict::FlippedChecksum { .. } => StoredPage::Sound(bytes),
        PageVerdict::Uninitialised => StoredPage::Absent,
        PageVerdict::Correctable { .. } if repair(&mut bytes, number).is_some() => {
            StoredPage::Sound(bytes)
        }
        _ => StoredPage::Damaged,
    }
}

fn read_at(
    file: &mut (impl io::Read + io::Seek),
    offset: u64,
    bytes: usize,
) -> io::Result<Vec<u8>> {
    let mut page = vec![0; bytes];
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(&mut page)?;
    Ok(page)
}

/// The last page of a file of `length` bytes.
fn last_page(size: PageSize, length: u64) -> PageNumber {
    PageNumber(u32::try_from(size.pages_of_file(length)).unwrap_or(u32::MAX))
}

/// Copy of a database that receives the replayed pages.
pub(super) struct CopyStore {
    file: File,
    size: PageSize,
    last: PageNumber,
    aside: Aside,
}

impl CopyStore {
    /// Creates the store for the copy in `file`, of `length` bytes.
    pub(super) fn new(file: File, size: PageSize, length: u64) -> Self {
        Self { file, size, last: last_page(size, length), aside: Aside::default() }
    }

    /// Writes `page` as both copies of the header.
    pub(super) fn write_header(&mut self, page: &[u8]) -> io::Result<()> {
        for copy in 0..2 {
            self.file.seek(SeekFrom::Start(copy * self.size.bytes_u64()))?;
            self.file.write_all(page)?;
        }
        self.file.sync_all()
    }

    /// Finds sound pages with a database time later than `dbtime`, each with that time.
    pub(super) fn pages_beyond(&mut self, dbtime: u64) -> io::Result<Vec<(PageNumber, u64)>> {
        /// Database times above this mark pages without content.
        const LATEST: u64 = u64::MAX - 0x100;
        let mut found = Vec::new();
        for number in (1..=self.last.0).map(PageNumber) {
            if let StoredPage::Sound(bytes) = self.read(number)? {
                let stated = PageRef::new(&bytes).dbtime();
                if (dbtime.saturating_add(1)..=LATEST).contains(&stated) {
                    found.push((number, stated));
                }
            }
        }
        Ok(found)
    }
}

impl PageStore for CopyStore {
    type Error = io::Error;

    fn page_size(&self) -> PageSize {
        self.size
    }

    fn set_aside(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.aside.write(at, bytes)
    }

    fn read(&mut self, number: PageNumber) -> io::Result<StoredPage> {
        if !number.is_some() || number > self.last {
            return Ok(StoredPage::Absent);
        }
        let offset = self.size.file_offset(number);
        Ok(judged(read_at(&mut self.file, offset, self.size.bytes())?, number))
    }

    fn write(&mut self, number: PageNumber, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.size.file_offset(number)))?;
        self.file.write_all(bytes)?;
        self.last = self.last.max(number);
        Ok(())
    }

    fn resize(&mut self, last: PageNumber) -> io::Result<()> {
        self.file.set_len(self.size.file_length(last))?;
        self.last = last;
        Ok(())
    }

    fn last_page(&self) -> PageNumber {
        self.last
    }

    fn bring_back(&mut self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.aside.read(at, bytes)
    }
}

/// Changed pages in a scratch file; all others come from the database.
pub(super) struct OverlayStore {
    source: ByteSource,
    pub(super) scratch: File,
    /// Position of each page in the scratch file, counted in pages.
    pub(super) places: HashMap<PageNumber, u64>,
    size: PageSize,
    source_last: PageNumber,
    last: PageNumber,
    aside: Aside,
}

impl OverlayStore {
    pub(super) fn new(source: ByteSource, scratch: File, size: PageSize) -> io::Result<Self> {
        let last = last_page(size, source.length()?);
        let (places, aside) = (HashMap::new(), Aside::default());
        Ok(Self { source, scratch, places, size, source_last: last, last, aside })
    }
}

impl PageStore for OverlayStore {
    type Error = io::Error;

    fn page_size(&self) -> PageSize {
        self.size
    }

    fn read(&mut self, number: PageNumber) -> io::Result<StoredPage> {
        let bytes = self.size.bytes();
        if let Some(place) = self.places.get(&number) {
            let page = read_at(&mut self.scratch, place * self.size.bytes_u64(), bytes)?;
            return Ok(judged(page, number));
        }
        if !number.is_some() || number > self.source_last || number > self.last {
            return Ok(StoredPage::Absent);
        }
        let offset = self.size.file_offset(number);
        Ok(judged(read_at(&mut self.source, offset, bytes)?, number))
    }

    fn write(&mut self, number: PageNumber, bytes: &[u8]) -> io::Result<()> {
        let next = self.places.len() as u64;
        let place = *self.places.entry(number).or_insert(next);
        self.scratch.seek(SeekFrom::Start(place * self.size.bytes_u64()))?;
        self.last = self.last.max(number);
        self.scratch.write_all(bytes)
    }

    fn resize(&mut self, last: PageNumber) -> io::Result<()> {
        self.last = last;
        Ok(())
    }

    fn last_page(&self) -> PageNumber {
        self.last
    }

    fn set_aside(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.aside.write(at, bytes)
    }

    fn bring_back(&mut self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.aside.read(at, bytes)
    }
}
