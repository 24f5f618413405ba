//! The dirty-region log in operation: a region is marked on flash before the first write to it
//! reaches the backing volume, and stays marked until the end of a checkpoint that began after all
//! its writes were durable.
//!
//! After a crash the cache may hold a version older than such a write, or a newer one that the
//! backing volume has lost, so recovery drops marked regions.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use device::{Device, DeviceError, Durability, Purpose, Request};

use super::dirty_bits::{DirtyPage, PageBits};
use super::geometry::{PAGE_BITS, StoreGeometry};
use crate::signal::Signal;

/// Why a bit cannot be cleared yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct BitUse {
    writes_in_flight: u32,
    /// Volumes with a completed write that no flush has covered.
    volumes_unflushed: u32,
}

struct MarkedPage {
    bits: RefCell<PageBits>,
    /// Bits that are on flash regardless of the outcome of the write in flight.
    durable: RefCell<PageBits>,
    sequence: Cell<u64>,
    is_writing: Cell<bool>,
}

/// See the module. A bit is numbered over all pages.
pub(super) struct DirtyLog {
    flash: Rc<dyn Device>,
    identity: [u8; 16],
    pages: Vec<MarkedPage>,
    uses: RefCell<BTreeMap<u32, BitUse>>,
    /// Number of the last volatile write by volume and bit; [`u64::MAX`] if no flush helps.
    unflushed: RefCell<BTreeMap<(u16, u32), u64>>,
    /// Bits that the checkpoint in progress may clear.
    clearing: RefCell<BTreeSet<u32>>,
    number: Cell<u64>,
    written: Signal,
}

fn split(bit: u32) -> (usize, u32) {
    let bits = u32::try_from(PAGE_BITS).expect("invariant: 31,744");
    ((bit / bits) as usize, bit % bits)
}

/// Reads the pages from flash. A page without a valid copy counts as fully marked.
pub(super) async fn read(
    flash: &Rc<dyn Device>,
    identity: &[u8; 16],
    geometry: StoreGeometry,
) -> Result<Vec<DirtyPage>, DeviceError> {
    let mut pages = Vec::new();
    for page in 0..geometry.dirty_pages {
        let mut copies = Vec::new();
        for copy in 0..2 {
            let at = StoreGeometry::dirty_page_at(page, copy);
            let read = Request::read(Purpose::Header, at, device::ALIGNMENT);
            copies.push(flash.submit(read).await.into_buffer()?);
        }
        pages.push(DirtyPage::decode([&copies[0], &copies[1]], identity, page));
    }
    Ok(pages)
}

impl DirtyLog {
    pub(super) fn new(flash: Rc<dyn Device>, identity: [u8; 16], pages: Vec<DirtyPage>) -> Self {
        let mut kept = Vec::new();
        for page in pages {
            kept.push(MarkedPage {
                durable: RefCell::new(page.bits.clone()),
                bits: RefCell::new(page.bits),
                sequence: Cell::new(page.sequence),
                is_writing: Cell::new(false),
            });
        }
        Self {
            flash,
            identity,
            pages: kept,
            uses: RefCell::default(),
            unflushed: RefCell::default(),
            clearing: RefCell::default(),
            number: Cell::new(0),
            written: Signal::default(),
        }
    }

    pub(super) fn is_marked(&self, bit: u32) -> bool {
        let (page, bit) = split(bit);
        self.pages[page].bits.borrow().get(bit)
    }

    /// Share of all bits that are marked.
    pub(super) fn marked_share(&self) -> f64 {
        let marked: u64 = self.pages.iter().map(|page| page.bits.borrow().count()).sum();
        marked as f64 / (self.pages.len() as f64 * PAGE_BITS as f64)
    }

    /// Marks regions that are about to be written; the marks are on flash when this returns.
    pub(super) async fn begin(&self, bits: &[u32]) -> Result<(), DeviceError> {
        for &bit in bits {
            self.clearing.borrow_mut().remove(&bit);
            self.uses.borrow_mut().entry(bit).or_default().writes_in_flight += 1;
            let (page, bit) = split(bit);
            self.pages[page].bits.borrow_mut().set(bit);
        }
        for &bit in bits {
            let (page, bit) = split(bit);
            while !self.pages[page].durable.borrow().get(bit) {
                self.write_page(page).await?;
            }
        }
        Ok(())
    }

    /// Records the end of the write; `lasting` is the durability of its result.
    pub(super) fn end(&self, volume: u16, bits: &[u32], lasting: Lasting) {
        for &bit in bits {
            let mut uses = self.uses.borrow_mut();
            let entry = uses.entry(bit).or_default();
            entry.writes_in_flight = entry.writes_in_flight.saturating_sub(1);
            if lasting != Lasting::Durable {
                let number =
                    if lasting == Lasting::Unknown { u64::MAX } else { self.next_number() };
                let mut unflushed = self.unflushed.borrow_mut();
                let known = unflushed.insert((volume, bit), number);
                if let Some(known) = known {
                    unflushed.insert((volume, bit), number.max(known));
                } else {
                    entry.volumes_unflushed += 1;
                }
            }
            if *entry == BitUse::default() {
                uses.remove(&bit);
            }
        }
    }

    /// Called before a flush of a volume is submitted; returns the number to pass to
    /// [`Self::flushed`].
    pub(super) fn flush_begins(&self) -> u64 {
        self.next_number()
    }

    /// Records that the flush of `volume` that began at `number` succeeded.
    pub(super) fn flushed(&self, volume: u16, number: u64) {
        let mut uses = self.uses.borrow_mut();
        self.unflushed.borrow_mut().retain(|&(of, bit), &mut last| {
            let stays = of != volume || last > number;
            if !stays && let Some(entry) = uses.get_mut(&bit) {
                entry.volumes_unflushed -= 1;
                if *entry == BitUse::default() {
                    uses.remove(&bit);
                }
            }
            stays
        });
    }

    /// Records that a flush of `volume` failed: later flushes cannot rule out the loss of the
    /// writes it covered.
    pub(super) fn flush_failed(&self, volume: u16) {
        let mut unflushed = self.unflushed.borrow_mut();
        for (_, last) in unflushed.iter_mut().filter(|((of, _), _)| *of == volume) {
            *last = u64::MAX;
        }
    }

    /// Begins a checkpoint: bits without writes in progress may be cleared once it is complete,
    /// unless they are written to meanwhile.
    pub(super) fn begin_clearing(&self) {
        let uses = self.uses.borrow();
        let mut clearing = self.clearing.borrow_mut();
        clearing.clear();
        for (page, first) in self.pages.iter().zip((0..).step_by(31_744)) {
            let bits = page.bits.borrow();
            clearing.extend(bits.bits().map(|bit| first + bit).filter(|b| !uses.contains_key(b)));
        }
    }

    /// Clears bits after the checkpoint is complete.
    pub(super) async fn finish_clearing(&self) -> Result<(), DeviceError> {
        let clearing = std::mem::take(&mut *self.clearing.borrow_mut());
        let mut pages = BTreeSet::new();
        for bit in clearing {
            let (page, bit) = split(bit);
            self.pages[page].bits.borrow_mut().clear(bit);
            pages.insert(page);
        }
        for page in pages {
            self.write_page(page).await?;
        }
        Ok(())
    }

    fn next_number(&self) -> u64 {
        self.number.set(self.number.get() + 1);
        self.number.get()
    }

    /// Writes the current page, or waits for the write in flight. Always durable: the copy that the
    /// next write replaces must not be the only sound one.
    async fn write_page(&self, at: usize) -> Result<(), DeviceError> {
        let page = &self.pages[at];
        if page.is_writing.get() {
            self.written.until(|| !page.is_writing.get()).await;
            return Ok(());
        }
        page.is_writing.set(true);
        let bits = page.bits.borrow().clone();
        page.durable.borrow_mut().intersect(&bits);
        let sequence = page.sequence.get() + 1;
        page.sequence.set(sequence);
        let number = u32::try_from(at).expect("invariant: at most 64 pages");
        let block = DirtyPage { page: number, sequence, bits: bits.clone() };
        let place = StoreGeometry::dirty_page_at(number, sequence % 2);
        let block = block.encode(&self.identity);
        let write = Request::write(Purpose::Header, place, block, Durability::Durable);
        let result = self.flash.submit(write).await.result;
        if result.is_ok() {
            page.durable.replace(bits);
        }
        page.is_writing.set(false);
        self.written.notify();
        result
    }
}

/// Durability of a write's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lasting {
    /// It is on stable storage.
    Durable,
    /// The next flush makes it durable.
    UntilFlush,
    /// It failed: the volume's content is unknown.
    Unknown,
}
