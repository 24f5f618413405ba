//! Collects finished pages into large sequential writes.
//!
//! A page is built in place in the buffer that will be written, so its bytes are never copied. A
//! unit is written when its last page is finished; trees that grow side by side fill separate
//! units.

use std::collections::VecDeque;

use device::Buffer;
use ese::flush_map::FlushMap;
use ese::page::{PageMut, PageSize};
use ese::space::Extent;
use units::PageNumber;

/// The flush type of a page that is written for the first time.
const FIRST_FLUSH_TYPE: u8 = 1;

/// Pages on their way to the file.
pub(super) struct PageSink {
    page_size: PageSize,
    open: Vec<SinkUnit>,
    full: VecDeque<Write>,
    spare: Vec<Buffer>,
    finished: u64,
    flush_map: FlushMap,
}

/// One write: offset and bytes.
pub(super) struct Write {
    pub(super) offset: u64,
    pub(super) buffer: Buffer,
}

/// Adjacent pages that are written together.
struct SinkUnit {
    extent: Extent,
    buffer: Buffer,
    finished: Vec<bool>,
}

impl PageSink {
    pub(super) fn new(page_size: PageSize) -> Self {
        Self {
            page_size,
            open: Vec::new(),
            full: VecDeque::new(),
            spare: Vec::new(),
            finished: 0,
            flush_map: FlushMap::new(),
        }
    }

    /// The flush types of all pages finished so far. Valid once they are written.
    pub(super) const fn flush_map(&self) -> &FlushMap {
        &self.flush_map
    }

    pub(super) const fn page_size(&self) -> PageSize {
        self.page_size
    }

    /// Pages finished so far.
    pub(super) const fn finished(&self) -> u64 {
        self.finished
    }

    /// Opens a unit: its pages may be built from now on.
    pub(super) fn open_unit(&mut self, extent: Extent) {
        let bytes = extent.pages as usize * self.page_size.bytes();
        let spare = self
            .spare
            .iter()
            .position(|buffer| buffer.len() == bytes)
            .map(|index| self.spare.swap_remove(index));
        self.open.push(SinkUnit {
            extent,
            buffer: spare.unwrap_or_else(|| Buffer::zeroed(bytes)),
            finished: vec![false; extent.pages as usize],
        });
    }

    /// The bytes of a page in an open unit; undefined until the page is formatted.
    pub(super) fn page(&mut self, page: PageNumber) -> &mut [u8] {
        let bytes = self.page_size.bytes();
        let (unit, index) = self.locate(page);
        &mut self.open[unit].buffer[index * bytes..][..bytes]
    }

    /// Seals a page, and hands its unit over for writing if it was the last one missing.
    pub(super) fn finish(&mut self, page: PageNumber) {
        let mut sealed = PageMut::new(self.page(page));
        sealed.set_flush_type(FIRST_FLUSH_TYPE);
        sealed.seal(page);
        let dbtime = sealed.as_ref().dbtime();
        self.flush_map.remember(page, FIRST_FLUSH_TYPE, dbtime);
        self.finished += 1;
        let (unit, index) = self.locate(page);
        let unit_pages = &mut self.open[unit].finished;
        assert!(!unit_pages[index], "page {page} is finished once");
        unit_pages[index] = true;
        if unit_pages.iter().all(|&finished| finished) {
            let SinkUnit { extent, buffer, .. } = self.open.swap_remove(unit);
            let offset = self.page_size.file_offset(extent.first());
            self.full.push_back(Write { offset, buffer });
        }
    }

    /// Whether a write is ready.
    pub(super) fn has_write(&self) -> bool {
        !self.full.is_empty()
    }

    /// The next write that is ready.
    pub(super) fn take_write(&mut self) -> Option<Write> {
        self.full.pop_front()
    }

    /// Takes a written buffer back for another unit.
    pub(super) fn recycle(&mut self, buffer: Buffer) {
        self.spare.push(buffer);
    }

    /// Turns the contents of the open units into writes. Pages in them that were never built become
    /// zeros, which is allowed for owned and available pages; those at a unit's end are not written
    /// at all.
    pub(super) fn close(&mut self) {
        let bytes = self.page_size.bytes();
        for mut unit in std::mem::take(&mut self.open) {
            let Some(last) = unit.finished.iter().rposition(|&finished| finished) else {
                continue;
            };
            for (index, _) in unit.finished.iter().enumerate().filter(|(_, done)| !**done) {
                unit.buffer[index * bytes..][..bytes].fill(0);
            }
            self.full.push_back(Write {
                offset: self.page_size.file_offset(unit.extent.first()),
                buffer: Buffer::copy_of(&unit.buffer[..(last + 1) * bytes]),
            });
        }
    }

    /// The open unit that holds `page`, and the page's index in it.
    fn locate(&self, page: PageNumber) -> (usize, usize) {
        let found = self
            .open
            .iter()
            .enumerate()
            .find(|(_, unit)| unit.extent.contains(page))
            .map(|(index, unit)| (index, (page.0 - unit.extent.first().0) as usize));
        found.expect("invariant: a page is built while its unit is open")
    }
}
