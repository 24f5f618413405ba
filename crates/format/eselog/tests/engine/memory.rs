//! A database held entirely in memory.

use std::convert::Infallible;

use ese::checksum::{PageVerdict, verify};
use ese::page::PageSize;
use eselog::{PageStore, StoredPage};
use units::PageNumber;

/// No test lets a file grow further, whatever a damaged record says.
const MOST_BYTES: u64 = 64 << 20;

/// A database in memory.
pub(crate) struct MemoryStore {
    pub bytes: Vec<u8>,
    pub size: PageSize,
    pub aside: Vec<u8>,
}

impl MemoryStore {
    pub(crate) const fn new(bytes: Vec<u8>, size: PageSize) -> Self {
        Self { bytes, size, aside: Vec::new() }
    }

    fn range(&self, number: PageNumber) -> std::ops::Range<usize> {
        let start = usize::try_from(self.size.file_offset(number)).expect("in memory");
        start..start + self.size.bytes()
    }

    pub(crate) fn page(&self, number: PageNumber) -> Option<&[u8]> {
        self.bytes.get(self.range(number))
    }

    /// Puts these bytes in place of a page; the file grows if it ends before it.
    pub(crate) fn set(&mut self, number: PageNumber, bytes: &[u8]) {
        let Ok(()) = self.write(number, bytes);
    }
}

impl PageStore for MemoryStore {
    type Error = Infallible;

    fn page_size(&self) -> PageSize {
        self.size
    }

    fn read(&mut self, number: PageNumber) -> Result<StoredPage, Infallible> {
        let Some(bytes) = self.page(number) else {
            return Ok(StoredPage::Absent);
        };
        Ok(match verify(bytes, number) {
            PageVerdict::Good => StoredPage::Sound(bytes.to_vec()),
            PageVerdict::Uninitialised => StoredPage::Absent,
            _ => StoredPage::Damaged,
        })
    }

    fn write(&mut self, number: PageNumber, bytes: &[u8]) -> Result<(), Infallible> {
        let range = self.range(number);
        if range.end as u64 > MOST_BYTES {
            return Ok(());
        }
        if self.bytes.len() < range.end {
            self.bytes.resize(range.end, 0);
        }
        self.bytes[range].copy_from_slice(bytes);
        Ok(())
    }

    fn resize(&mut self, last: PageNumber) -> Result<(), Infallible> {
        let length = self.size.file_length(last).min(MOST_BYTES);
        self.bytes.resize(usize::try_from(length).expect("in memory"), 0);
        Ok(())
    }

    fn last_page(&self) -> PageNumber {
        let pages = self.size.pages_of_file(self.bytes.len() as u64);
        PageNumber(u32::try_from(pages).expect("a small file"))
    }

    fn set_aside(&mut self, at: u64, bytes: &[u8]) -> Result<(), Infallible> {
        let start = usize::try_from(at).expect("in memory");
        self.aside.resize(self.aside.len().max(start + bytes.len()), 0);
        self.aside[start..start + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn bring_back(&mut self, at: u64, bytes: &mut [u8]) -> Result<(), Infallible> {
        let start = usize::try_from(at).expect("in memory");
        bytes.copy_from_slice(&self.aside[start..start + bytes.len()]);
        Ok(())
    }
}
