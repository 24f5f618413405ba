//! Chooses which changed pages are written next and in which runs, and tracks the writes in flight.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use device::{Buffer, Completed, Completion};
use ese::flush_map::FlushMap;
use ese::page::{PageMut, PageRef, PageSize};
use units::PageNumber;

use super::slots::Slots;
use crate::recovery::RecoveryError;

/// Maximum number of page runs that recovery writes at the same time.
pub const WRITES_IN_FLIGHT: usize = 16;

/// Writing starts when one in this many pages of memory waits: neighbours gather, and the device
/// gets them in file order.
const GATHERED_SHARE: usize = 16;

/// Maximum number of pages gathered before they are written.
const MOST_GATHERED: usize = 256;

/// Adjacent pages written with one request.
#[derive(Clone, Copy, Debug)]
pub(super) struct WriteRun {
    pub first: PageNumber,
    length: u32,
}

impl WriteRun {
    /// The pages.
    pub(super) fn pages(self) -> impl ExactSizeIterator<Item = PageNumber> + use<> {
        (0..self.length).map(move |index| PageNumber(self.first.0 + index))
    }
}

/// Pages to evict, and writes in flight.
pub(super) struct Writing {
    /// Changed pages to evict.
    gathered: BTreeSet<PageNumber>,
    /// The subset to write even if records ahead need them.
    old: BTreeSet<PageNumber>,
    gather: usize,
    longest_run: u32,
    /// The page around which the last run was formed: the search for the next continues from here.
    hand: PageNumber,
    in_flight: Vec<(WriteRun, Completion)>,
    /// Pages written so far.
    pub written: u64,
    /// Their flush types.
    pub flush_map: FlushMap,
}

impl Writing {
    /// The empty state, for a memory of `capacity` pages.
    pub(super) fn new(capacity: usize, longest_run: usize) -> Self {
        Self {
            gathered: BTreeSet::new(),
            old: BTreeSet::new(),
            gather: (capacity / GATHERED_SHARE).min(MOST_GATHERED),
            longest_run: u32::try_from(longest_run).unwrap_or(u32::MAX).max(1),
            hand: PageNumber(0),
            in_flight: Vec::new(),
            written: 0,
            flush_map: FlushMap::default(),
        }
    }

    /// Adds a changed page to evict.
    pub(super) fn add(&mut self, page: PageNumber) {
        self.gathered.insert(page);
    }

    /// Adds a page that was changed long ago; it must be written unless it has been meanwhile.
    pub(super) fn add_old(&mut self, page: PageNumber) {
        self.old.insert(page);
        self.gathered.insert(page);
    }

    /// Whether twice as many pages have gathered as writing needs to start.
    pub(super) fn has_enough(&self) -> bool {
        self.gathered.len() >= 2 * self.gather.max(1)
    }

    /// Whether nothing waits and nothing is in flight.
    pub(super) fn is_idle(&self) -> bool {
        self.gathered.is_empty() && self.in_flight.is_empty()
    }

    /// The next run to write. `None` if enough are in flight, if too few pages have gathered
    /// (unless `presses`), or if every gathered page has a write in flight.
    pub(super) fn next(&mut self, slots: &Slots, presses: bool) -> Option<WriteRun> {
        while self.in_flight.len() < WRITES_IN_FLIGHT
            && (presses || self.gathered.len() >= self.gather)
        {
            let behind = self.gathered.range(self.hand..);
            let mut in_order = behind.chain(self.gathered.range(..self.hand));
            let page = in_order.find(|page| !slots.is_written(**page)).copied()?;
            self.gathered.remove(&page);
            self.hand = page;
            let is_old = self.old.remove(&page);
            // It may have been used again, or written as a neighbour.
            if slots.is_due(page) || is_old && slots.is_changed(page) {
                return Some(self.run_around(page, slots));
            }
        }
        None
    }

    fn run_around(&mut self, page: PageNumber, slots: &Slots) -> WriteRun {
        let mut run = WriteRun { first: page, length: 1 };
        while run.length < self.longest_run && slots.is_due(PageNumber(run.first.0 + run.length)) {
            run.length += 1;
        }
        while run.length < self.longest_run
            && run.first.0 > 1
            && slots.is_due(PageNumber(run.first.0 - 1))
        {
            run.first.0 -= 1;
            run.length += 1;
        }
        for page in run.pages() {
            self.gathered.remove(&page);
            self.old.remove(&page);
        }
        run
    }

    /// Seals the pages of a run in `buffer`; they count as unchanged from now on.
    pub(super) fn seal(&self, run: WriteRun, slots: &mut Slots, mut buffer: Buffer) -> Buffer {
        let bytes = buffer.len() / run.pages().len();
        for (number, sealed) in run.pages().zip(buffer.chunks_mut(bytes)) {
            let page = slots.begin_write(number);
            let flush_type = self.flush_map.next(number, PageRef::new(&page.image));
            let mut image = PageMut::new(&mut page.image);
            image.set_flush_type(flush_type);
            image.seal(number);
            page.dirty = false;
            sealed.copy_from_slice(&page.image);
        }
        buffer
    }

    /// Records that a write of a run is in flight.
    pub(super) fn begin(&mut self, run: WriteRun, write: Completion) {
        self.written += u64::from(run.length);
        self.in_flight.push((run, write));
    }

    /// Processes the writes that have ended; the memory of single-page writes is reused.
    pub(super) fn end(
        &mut self,
        slots: &mut Slots,
        spare: &mut Vec<Buffer>,
        page_size: PageSize,
    ) -> Result<(), RecoveryError> {
        let mut index = 0;
        while let Some((run, write)) = self.in_flight.get_mut(index) {
            let Some(outcome) = arrived(write) else {
                index += 1;
                continue;
            };
            let run = *run;
            drop(self.in_flight.swap_remove(index));
            let written = outcome.into_buffer()?;
            self.flush_map.remember_all(run.first, &written, page_size);
            for page in run.pages() {
                slots.end_write(page);
            }
            if run.length == 1 {
                spare.push(written);
            }
        }
        Ok(())
    }
}

/// The outcome, if it has arrived.
fn arrived(completion: &mut Completion) -> Option<Completed> {
    let mut context = Context::from_waker(Waker::noop());
    match Pin::new(completion).poll(&mut context) {
        Poll::Ready(outcome) => Some(outcome),
        Poll::Pending => None,
    }
}
