//! The pages in memory, their unwritten changes, and the order of eviction.
//!
//! Nothing here waits: the table is borrowed for one synchronous stretch at a time.

mod eviction;

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use device::Buffer;
use ese::Lgpos;
use ese::page::{PageMut, PageRef, PageSize};
use units::{Nanos, PageNumber};
use wal::edit::{self, PageEdits};

use super::policy::{History, Pace, Uses, Victims};
use crate::flush_map_file::LiveMap;
use crate::hash::QuickHash;
use crate::stage::PageSource;
use eviction::Turn;

pub(super) use eviction::Eviction;

/// Buffers kept for later reads and copies rather than returned to the allocator.
const MOST_SPARE_BUFFERS: usize = 64;

/// The range of the log that contains a page's unwritten changes.
#[derive(Clone, Copy, Debug)]
struct Dirt {
    /// Start of the first unwritten change.
    first: Lgpos,
    /// End of the last change.
    last: Lgpos,
}

struct PageFrame {
    page: PageNumber,
    image: Buffer,
    pins: u32,
    uses: Uses,
    dirt: Option<Dirt>,
    /// Start of the first change carried by a write in flight.
    writing: Option<Lgpos>,
    turn: Turn,
}

/// Adjacent pages, sealed for one write.
pub(super) struct PageRun {
    /// The first page.
    pub first: PageNumber,
    /// Number of pages.
    pub pages: u32,
    /// The sealed pages.
    pub bytes: Buffer,
    /// The log must be durable up to here before they are written.
    pub log_end: Lgpos,
}

/// Why a page is written, which decides which neighbours are written with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteReason {
    /// Its memory is needed: neighbours that will soon be evicted as well are included.
    Room,
    /// Its first change is old: neighbours changed before this position are included.
    Age(Lgpos),
}

/// Counts of the frame table.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FrameCounts {
    pub requests: u64,
    pub hits: u64,
    pub evictions: u64,
    pub dirty_evictions: u64,
}

/// The frames of a cache.
pub(crate) struct Frames {
    page_size: PageSize,
    pace: Pace,
    now: Nanos,
    /// Whether an access counts as a use.
    notes_uses: bool,
    slots: Vec<Option<PageFrame>>,
    vacant: Vec<u32>,
    spare: Vec<Buffer>,
    by_page: HashMap<PageNumber, u32, QuickHash>,
    dirty: BTreeSet<(Lgpos, PageNumber)>,
    writing: BTreeSet<(Lgpos, PageNumber)>,
    victims: Victims,
    /// Frames whose turn came before the log was durable up to these positions.
    unlogged: BTreeSet<(Lgpos, u32)>,
    history: History,
    pub(super) counts: FrameCounts,
}

impl PageSource for Frames {
    #[inline]
    fn lookup(&mut self, page: PageNumber) -> Option<&[u8]> {
        self.counts.requests += 1;
        let index = *self.by_page.get(&page)?;
        self.counts.hits += 1;
        let frame = self.slots[index as usize].as_mut();
        let frame = frame.expect("invariant: the page map names frames in use");
        if self.notes_uses {
            frame.uses.again(self.now, self.pace);
        }
        Some(&frame.image)
    }

    fn take_buffer(&mut self) -> Buffer {
        let bytes = self.page_size.bytes();
        self.spare.pop().unwrap_or_else(|| Buffer::zeroed(bytes))
    }
}

impl Frames {
    /// An empty frame table.
    pub(crate) fn new(page_size: PageSize) -> Self {
        Self {
            page_size,
            pace: Pace::unknown(),
            now: Nanos::ZERO,
            notes_uses: true,
            slots: Vec::new(),
            vacant: Vec::new(),
            spare: Vec::new(),
            by_page: HashMap::default(),
            dirty: BTreeSet::new(),
            writing: BTreeSet::new(),
            victims: Victims::default(),
            unlogged: BTreeSet::new(),
            history: History::default(),
            counts: FrameCounts::default(),
        }
    }

    /// Sets the time of the uses that follow.
    pub(crate) fn set_now(&mut self, now: Nanos) {
        self.now = now;
        self.notes_uses = true;
    }

    /// Excludes the following accesses from a page's worth: cleanup revisits every page that a
    /// delete has touched.
    pub(crate) fn ignore_uses(&mut self) {
        self.notes_uses = false;
    }

    /// Number of pages in the cache.
    pub(crate) fn resident(&self) -> usize {
        self.by_page.len()
    }

    /// Number of pages with changes that no write carries.
    pub(crate) fn dirty_pages(&self) -> usize {
        self.dirty.len()
    }

    /// Whether a page is cached.
    pub(crate) fn contains(&self, page: PageNumber) -> bool {
        self.by_page.contains_key(&page)
    }

    /// The bytes of a page, if it is cached and has not changed since it was read or its last write
    /// began.
    pub(crate) fn unchanged(&self, page: PageNumber) -> Option<&[u8]> {
        let frame = self.frame(*self.by_page.get(&page)?);
        frame.dirt.is_none().then_some(&frame.image[..])
    }

    /// Protects a page from eviction until each pin is undone; false if it is not cached.
    pub(crate) fn pin(&mut self, page: PageNumber) -> bool {
        let Some(&index) = self.by_page.get(&page) else {
            return false;
        };
        self.frame_mut(index).pins += 1;
        true
    }

    /// Undoes one [`Frames::pin`].
    pub(crate) fn unpin(&mut self, page: PageNumber) {
        let index = self.by_page[&page];
        let frame = self.frame_mut(index);
        assert!(frame.pins > 0, "a page is unpinned as often as it was pinned");
        frame.pins -= 1;
        if frame.pins == 0 && frame.turn == Turn::InUse {
            self.queue(index);
        }
    }

    /// Takes a buffer back.
    pub(crate) fn give_buffer(&mut self, buffer: Buffer) {
        if self.spare.len() < MOST_SPARE_BUFFERS {
            self.spare.push(buffer);
        }
    }

    /// Adds a page that was read. If the page was created meanwhile, the cached copy is newer and
    /// stays.
    pub(crate) fn admit(&mut self, page: PageNumber, image: Buffer) {
        if self.contains(page) {
            self.give_buffer(image);
        } else {
            self.add(page, image);
        }
    }

    fn add(&mut self, page: PageNumber, image: Buffer) -> u32 {
        let mut uses = self.history.recall(page).unwrap_or(Uses::first(self.now, self.pace));
        uses.again(self.now, self.pace);
        let turn = Turn::Queued;
        let frame = PageFrame { page, image, pins: 0, uses, dirt: None, writing: None, turn };
        let index = self.vacant.pop().unwrap_or_else(|| {
            self.slots.push(None);
            u32::try_from(self.slots.len() - 1).expect("invariant: fewer than 2^31 pages")
        });
        self.victims.push(index, frame.uses.rank());
        self.slots[index as usize] = Some(frame);
        self.by_page.insert(page, index);
        index
    }

    /// Applies a plan that was logged at `start..end`, as `dbtime`.
    pub(crate) fn install(
        &mut self,
        pages: &[PageEdits],
        images: Vec<Option<Buffer>>,
        dbtime: u64,
        (start, end): (Lgpos, Lgpos),
    ) {
        for (change, image) in pages.iter().zip(images) {
            let index = match (self.by_page.get(&change.page), image) {
                (Some(&index), None) => {
                    let image = &mut self.frame_mut(index).image;
                    edit::apply_all(&mut PageMut::new(image), &change.edits, dbtime)
                        .expect("invariant: planners know that their edits fit");
                    index
                }
                (Some(&index), Some(mut image)) => {
                    PageMut::new(&mut image).set_dbtime(dbtime);
                    let old = std::mem::replace(&mut self.frame_mut(index).image, image);
                    self.give_buffer(old);
                    index
                }
                (None, image) => {
                    let image = image.unwrap_or_else(|| self.build(&change.edits));
                    let index = self.add(change.page, image);
                    PageMut::new(&mut self.frame_mut(index).image).set_dbtime(dbtime);
                    index
                }
            };
            self.mark_dirty(index, start, end);
        }
    }

    /// Builds a new page from its edits alone.
    fn build(&self, edits: &[edit::PageEdit]) -> Buffer {
        let mut image = Buffer::zeroed(self.page_size.bytes());
        edit::apply_all(&mut PageMut::new(&mut image), edits, 0)
            .expect("invariant: planners know that their edits fit");
        image
    }

    fn mark_dirty(&mut self, index: u32, start: Lgpos, end: Lgpos) {
        let frame = self.frame_mut(index);
        let page = frame.page;
        if let Some(dirt) = &mut frame.dirt {
            dirt.last = end;
        } else {
            frame.dirt = Some(Dirt { first: start, last: end });
            self.dirty.insert((start, page));
        }
    }

    /// Position of the oldest change that is not yet in the file.
    pub(crate) fn oldest_dirt(&self) -> Option<Lgpos> {
        let oldest = self.dirty.first().into_iter().chain(self.writing.first());
        oldest.map(|(place, _)| *place).min()
    }

    /// The page with the oldest change that no write carries yet.
    pub(crate) fn oldest_dirty_page(&self) -> Option<(Lgpos, PageNumber)> {
        self.dirty.first().copied()
    }

    /// Whether `neighbour` is included in the write of a page with the history `uses`.
    fn joins(&self, neighbour: u32, due: WriteReason, uses: &Uses, durable: Lgpos) -> bool {
        let Some((frame, dirt)) = self.writable(PageNumber(neighbour)) else {
            return false;
        };
        let is_due = match due {
            WriteReason::Room => frame.uses.is_nearly_as_old(uses, self.now),
            WriteReason::Age(bound) => dirt.first < bound,
        };
        is_due && dirt.last <= durable
    }

    /// Seals `page` and changed neighbours, at most `most` pages in all, for a write. Neighbours
    /// that are nearly due are included, but not a page that is still in use, which would soon be
    /// written again, nor one changed beyond the `durable` end of the log, which would make the
    /// write wait. `None` if the page is clean, gone or being written.
    pub(super) fn collect_run(
        &mut self,
        page: PageNumber,
        due: WriteReason,
        (most, durable): (u32, Lgpos),
        flush_map: &LiveMap,
    ) -> Option<PageRun> {
        let uses = self.writable(page)?.0.uses;
        let mut first = page.0;
        while page.0 - first < most / 2 && self.joins(first - 1, due, &uses, durable) {
            first -= 1;
        }
        let mut end = page.0 + 1;
        while end - first < most && self.joins(end, due, &uses, durable) {
            end += 1;
        }
        let pages = end - first;
        let mut log_end = Lgpos::NONE;
        for number in (first..end).map(PageNumber) {
            log_end = log_end.max(self.begin_write(number, flush_map));
        }
        let sealed = match pages {
            1 => self.seal_in_place(page),
            _ => self.sealed_copies(first..end),
        };
        Some(PageRun { first: PageNumber(first), pages, bytes: sealed, log_end })
    }

    /// Seals a page in place and lends its bytes to the write: a page being evicted rarely changes
    /// meanwhile, and is no longer in the processor's cache, so copying it would cost more than
    /// sealing it.
    fn seal_in_place(&mut self, page: PageNumber) -> Buffer {
        let index = self.by_page[&page];
        let image = &mut self.frame_mut(index).image;
        PageMut::new(image).seal(page);
        image.share()
    }

    /// Copies pages from scattered memory into one buffer and seals them there.
    fn sealed_copies(&self, pages: Range<u32>) -> Buffer {
        let bytes = self.page_size.bytes();
        let images =
            pages.clone().map(|number| &self.frame(self.by_page[&PageNumber(number)]).image);
        let mut copies = Buffer::joined(bytes * pages.len(), images);
        for (number, copy) in pages.map(PageNumber).zip(copies.chunks_mut(bytes)) {
            PageMut::new(copy).seal(number);
        }
        copies
    }

    /// A page with changes that no write carries yet.
    fn writable(&self, page: PageNumber) -> Option<(&PageFrame, Dirt)> {
        let frame = self.frame(*self.by_page.get(&page)?);
        let dirt = frame.dirt.filter(|_| frame.writing.is_none())?;
        Some((frame, dirt))
    }

    /// Marks a page as being written; returns the position up to which the log must be durable
    /// first.
    fn begin_write(&mut self, page: PageNumber, map: &LiveMap) -> Lgpos {
        let index = self.by_page[&page];
        let frame = self.frame_mut(index);
        let dirt = frame.dirt.take().expect("invariant: only changed pages are collected");
        let flush_type = map.next(page, PageRef::new(&frame.image));
        PageMut::new(&mut frame.image).set_flush_type(flush_type);
        frame.writing = Some(dirt.first);
        self.dirty.remove(&(dirt.first, page));
        self.writing.insert((dirt.first, page));
        dirt.last
    }

    /// Records that the write of a run has succeeded.
    pub(crate) fn written(&mut self, first: PageNumber, pages: u32) {
        for page in (first.0..first.0 + pages).map(PageNumber) {
            let index = self.by_page[&page];
            let frame = self.frame_mut(index);
            let place = frame.writing.take().expect("invariant: the page was being written");
            let turn = frame.turn;
            self.writing.remove(&(place, page));
            if turn == Turn::InUse {
                self.queue(index);
            }
        }
    }

    fn frame(&self, index: u32) -> &PageFrame {
        self.slots[index as usize].as_ref().expect("invariant: the page map names frames in use")
    }

    fn frame_mut(&mut self, index: u32) -> &mut PageFrame {
        self.slots[index as usize].as_mut().expect("invariant: the page map names frames in use")
    }
}
