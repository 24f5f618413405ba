//! The pages that redo works on: read before they are needed, changed in memory, written later.
//!
//! Redo announces the pages of the records ahead of it. These pages are read and pinned until redo
//! has used them. All others are idle; the least recently used is evicted first, after it is
//! written if it changed. Redo only ever waits for the page of its current record.

mod image;
mod slots;
#[cfg(test)]
mod tests;
mod writing;

use std::cell::Cell;
use std::rc::Rc;

use device::{Buffer, Completion, Device, Notify, Purpose, Request};
use ese::flush_map::FlushMap;
use ese::page::PageSize;
use units::PageNumber;

pub(super) use image::Page;
use image::judged;
use slots::{SlotState, Slots};
pub use writing::WRITES_IN_FLIGHT;
use writing::Writing;

use crate::cache::READ_ATTEMPTS;
use crate::counters::Mended;
use crate::recovery::{RecoveryError, RecoverySettings};
use crate::settings::whole_pages;

/// Minimum number of pages in memory, however small the allowed memory.
const LEAST_PAGES: usize = 64;

/// Share of memory for pages prefetched for upcoming records; the rest is for pages being written
/// and for those that may be needed again.
const WANTED_SHARE: (usize, usize) = (3, 4);

/// One in this many pages of memory is kept free, so that reads need not wait for writes.
const FREE_SHARE: usize = 16;

/// The pages of the database file in memory, up to a limit.
pub(super) struct Pages {
    device: Rc<dyn Device>,
    page_size: PageSize,
    slots: Slots,
    reads_in_flight: Rc<Cell<usize>>,
    most_reads: usize,
    most_wanted: usize,
    capacity: usize,
    writing: Writing,
    /// Notified at the end of every request.
    ended: Rc<Notify>,
    /// Memory of evicted pages, reused for new ones.
    spare: Vec<Buffer>,
    read: u64,
    mended: Mended,
}

/// Statistics and flush map of the file after redo.
pub(super) struct Done {
    pub read: u64,
    /// Corrected errors of those reads.
    pub mended: Mended,
    pub written: u64,
    /// The flush types of the written pages.
    pub flush_map: FlushMap,
}

impl Pages {
    pub(super) fn new(
        device: Rc<dyn Device>,
        page_size: PageSize,
        settings: &RecoverySettings,
    ) -> Self {
        let capacity = whole_pages(settings.cache, page_size).max(LEAST_PAGES);
        let longest_write = whole_pages(settings.longest_write, page_size);
        Self {
            device,
            page_size,
            slots: Slots::default(),
            reads_in_flight: Rc::default(),
            most_reads: settings.reads_in_flight.max(1),
            most_wanted: capacity * WANTED_SHARE.0 / WANTED_SHARE.1,
            capacity,
            writing: Writing::new(capacity, longest_write),
            ended: Rc::default(),
            spare: Vec::new(),
            read: 0,
            mended: Mended::default(),
        }
    }

    /// The file's name.
    pub(super) fn file(&self) -> String {
        self.device.name().to_owned()
    }

    /// Notified at the end of every request.
    pub(super) fn ended(&self) -> Rc<Notify> {
        Rc::clone(&self.ended)
    }

    /// Announces a page that a record ahead needs. It is read if it is not in memory, unless the
    /// record rebuilds it. False if that must wait: too many reads are in flight, or memory is
    /// short.
    pub(super) fn announce(&mut self, page: PageNumber, is_made_anew: bool) -> bool {
        if self.slots.want(page) {
            return true;
        }
        let is_full = self.slots.len() >= self.capacity || self.slots.wanted() >= self.most_wanted;
        let reads = !is_made_anew && self.exists(page);
        if is_full || (reads && self.reads_in_flight.get() >= self.most_reads) {
            return false;
        }
        self.admit(page, reads);
        true
    }

    /// Like [`Self::announce`], for the record that redo has reached, which cannot wait.
    pub(super) fn announce_now(&mut self, page: PageNumber, is_made_anew: bool) {
        if !self.slots.want(page) {
            let reads = !is_made_anew && self.exists(page);
            self.admit(page, reads);
        }
    }

    fn admit(&mut self, page: PageNumber, reads: bool) {
        let state =
            if reads { SlotState::Loading(self.submit_read(page)) } else { SlotState::ToCome };
        self.slots.admit(page, state);
    }

    /// Whether an announced page has not arrived from the device yet.
    pub(super) fn is_awaited(&self, page: PageNumber) -> bool {
        match self.slots.state(page) {
            SlotState::Loading(read) => !read.has_arrived(),
            SlotState::ToCome | SlotState::Here(_) => false,
        }
    }

    /// Returns an announced page. If it is past the end of the file, it is all zeros, and the file
    /// grows.
    pub(super) async fn get(&mut self, number: PageNumber) -> Result<&mut Page, RecoveryError> {
        match self.slots.take_unless_here(number) {
            None => {}
            Some(SlotState::Loading(read)) => {
                let page = self.right_page(number, read).await?;
                self.slots.put(number, page);
            }
            Some(SlotState::ToCome | SlotState::Here(_)) => {
                self.extend_to(self.page_size.file_length(number)).await?;
                let mut image = self.memory();
                image.fill(0);
                self.slots.put(number, judged(image, number));
            }
        }
        Ok(self.slots.page(number))
    }

    /// The page returned by a read. A read that fails or returns a damaged page is repeated: a torn
    /// page stays torn, but a transfer error may succeed. There is no pause between the attempts,
    /// since torn pages are common here.
    async fn right_page(
        &mut self,
        number: PageNumber,
        read: Completion,
    ) -> Result<Page, RecoveryError> {
        let mut page = read.await.into_buffer().map(|image| judged(image, number));
        let mut was_wrong = false;
        for _ in 1..READ_ATTEMPTS {
            if page.as_ref().is_ok_and(Page::is_sound) {
                break;
            }
            was_wrong |= page.is_ok();
            let image = self.submit_read(number).await.into_buffer();
            page = image.map(|image| judged(image, number));
            if page.as_ref().is_ok_and(Page::is_sound) {
                self.mended.note_read(was_wrong);
            }
        }
        let page = page?;
        // A page that was read is marked changed only if a flipped bit in it was corrected.
        self.mended.flipped_bits += u64::from(page.is_due());
        Ok(page)
    }

    /// Releases an announced page after a record has used it.
    pub(super) fn release(&mut self, page: PageNumber) {
        self.slots.release(page);
    }

    /// Schedules a write of a page that has long been dirty, even if records ahead need it.
    pub(super) fn write_soon(&mut self, page: PageNumber) {
        self.writing.add_old(page);
    }

    /// Makes the file at least `length` bytes long.
    pub(super) async fn extend_to(&mut self, length: u64) -> Result<(), RecoveryError> {
        if self.device.length() < length {
            let request = Request::set_length(Purpose::Database, length);
            self.device.submit(request).await.result?;
        }
        Ok(())
    }

    /// Processes completed writes and evicts idle pages until there is memory for more reads;
    /// changed pages are written first.
    pub(super) fn make_room(&mut self) -> Result<(), RecoveryError> {
        self.writing.end(&mut self.slots, &mut self.spare, self.page_size)?;
        while self.slots.len() + self.capacity / FREE_SHARE > self.capacity
            && !self.writing.has_enough()
        {
            match self.slots.drop_idle() {
                Some(Ok(image)) => self.spare.push(image),
                Some(Err(changed)) => self.writing.add(changed),
                None => break,
            }
        }
        self.write(self.slots.len() >= self.capacity);
        Ok(())
    }

    /// Writes every changed page and makes the file durable.
    pub(super) async fn finish(mut self) -> Result<Done, RecoveryError> {
        for page in self.slots.changed() {
            self.writing.add(page);
        }
        let ended = self.ended();
        loop {
            let change = ended.notified();
            self.writing.end(&mut self.slots, &mut self.spare, self.page_size)?;
            self.write(true);
            if self.writing.is_idle() {
                break;
            }
            change.await;
        }
        let flush = Request::flush(Purpose::Database);
        self.device.submit(flush).await.result?;
        Ok(Done {
            read: self.read,
            mended: self.mended,
            written: self.writing.written,
            flush_map: self.writing.flush_map,
        })
    }

    /// Starts writes of pages to evict, up to the in-flight limit. Unless `presses`, only while
    /// enough are waiting for neighbours to be found among them.
    fn write(&mut self, presses: bool) {
        while let Some(run) = self.writing.next(&self.slots, presses) {
            let bytes = run.pages().len() * self.page_size.bytes();
            let buffer = match run.pages().len() {
                1 => self.memory(),
                _ => Buffer::zeroed(bytes),
            };
            let offset = self.page_size.file_offset(run.first);
            let sealed = self.writing.seal(run, &mut self.slots, buffer);
            let write =
                Request::write(Purpose::Database, offset, sealed, device::Durability::Volatile);
            let ended = Rc::clone(&self.ended);
            let write = self.device.submit(write);
            self.writing.begin(run, write.on_complete(move |_| ended.notify_all()));
        }
    }

    fn exists(&self, page: PageNumber) -> bool {
        self.page_size.file_length(page) <= self.device.length()
    }

    /// Memory for a page, with undefined content.
    fn memory(&mut self) -> Buffer {
        let spare = self.spare.pop();
        spare.unwrap_or_else(|| Buffer::zeroed(self.page_size.bytes()))
    }

    fn submit_read(&mut self, page: PageNumber) -> Completion {
        self.read += 1;
        self.reads_in_flight.set(self.reads_in_flight.get() + 1);
        let (in_flight, ended) = (Rc::clone(&self.reads_in_flight), Rc::clone(&self.ended));
        let offset = self.page_size.file_offset(page);
        let request = Request::read_into(Purpose::Database, offset, self.memory());
        self.device.submit(request).on_complete(move |_| {
            in_flight.set(in_flight.get() - 1);
            ended.notify_all();
        })
    }
}
