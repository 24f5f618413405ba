//! The buffer cache: pages are loaded when an operation needs them, and evicted when they are worth
//! least or when the checkpoint falls behind.
//!
//! A write seals its pages at once, a single one in place and several in a copy. A page may change
//! while its write is in flight; the log is durable up to its last change before that write starts.

mod claims;
mod frames;
mod free_pool;
mod policy;
mod reading;
mod scavenger;
mod verify;

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use device::{Device, Notify, Runtime};
use ese::page::PageSize;
use units::{Bytes, Nanos, PageNumber};
use wal::Log;

pub(crate) use frames::Frames;
pub(crate) use reading::READ_ATTEMPTS;

use claims::Claims;
use free_pool::FreePool;

use crate::counters::{Counters, Mended};
use crate::error::TransactionError;
use crate::flush_map_file::LiveMap;
use crate::hash::QuickHash;
use crate::header_file::HeaderFile;
use crate::poison::Poison;
use crate::settings::{Settings, Verification, whole_pages};
use crate::stage::PageSource;

/// Minimum number of pages a cache can work with.
const FEWEST_PAGES: usize = 128;

/// One in this many pages of the cache may be kept for future uses.
const KEPT_SHARE: usize = 2;

/// Counters kept here rather than in the frame table.
#[derive(Debug, Default)]
struct Counts {
    pages_read: Cell<u64>,
    pages_written: Cell<u64>,
    write_requests: Cell<u64>,
    mended: Cell<Mended>,
    lost_flushes: Cell<u64>,
    stalls: Cell<u64>,
    stall_time: Cell<Nanos>,
    flushes: Cell<u64>,
}

fn count(cell: &Cell<u64>, more: u64) {
    cell.set(cell.get() + more);
}

/// The cache of one database.
pub(crate) struct Cache {
    runtime: Runtime,
    device: Rc<dyn Device>,
    log: Log,
    header: Rc<HeaderFile>,
    poison: Rc<Poison>,
    flush_map: Rc<LiveMap>,
    page_size: PageSize,
    most_pages: usize,
    /// Pages beyond the limit, granted when everything was pinned.
    extra_pages: Cell<usize>,
    free_pool: Cell<FreePool>,
    longest_run_pages: u32,
    verification: Verification,
    frames: RefCell<Frames>,
    loading: RefCell<HashSet<PageNumber, QuickHash>>,
    writes_in_flight: Cell<usize>,
    kept_pages: Cell<usize>,
    /// Signalled when a load or a write ends, or a page is evicted.
    changed: Notify,
    /// Signalled when the scavenger has work.
    wanted: Notify,
    /// Pages being written, or read by the maintenance scan.
    claims: Claims,
    counts: Counts,
}

/// The file that a cache reads, and the constraints on its writes.
pub(crate) struct CacheFiles {
    pub device: Rc<dyn Device>,
    pub log: Log,
    pub header: Rc<HeaderFile>,
    pub flush_map: Rc<LiveMap>,
    pub poison: Rc<Poison>,
}

/// Keeps a page in the cache while it lives.
pub(crate) struct Pinned {
    cache: Rc<Cache>,
    page: PageNumber,
}

impl Drop for Pinned {
    fn drop(&mut self) {
        self.cache.frames.borrow_mut().unpin(self.page);
    }
}

/// Pages kept for a certain future use, though not in use now.
#[derive(Default)]
pub(crate) struct Kept {
    pages: Vec<Pinned>,
}

impl Drop for Kept {
    fn drop(&mut self) {
        if let Some(first) = self.pages.first() {
            let kept = &first.cache.kept_pages;
            kept.set(kept.get() - self.pages.len());
        }
    }
}

/// Marks a page as loading while this lives, regardless of the fate of the loading task.
struct Loading<'a> {
    cache: &'a Cache,
    page: PageNumber,
}

impl Drop for Loading<'_> {
    fn drop(&mut self) {
        self.cache.loading.borrow_mut().remove(&self.page);
        self.cache.changed.notify_all();
    }
}

impl Cache {
    /// An empty cache.
    pub(crate) fn new(
        runtime: &Runtime,
        files: CacheFiles,
        page_size: PageSize,
        settings: &Settings,
    ) -> Rc<Self> {
        let most_bytes = settings.cache_maximum.max(settings.cache_minimum);
        let most_pages = whole_pages(most_bytes, page_size).max(FEWEST_PAGES);
        let (start, stop) = settings.free_pool_marks(page_size);
        let marks = (whole_pages(start, page_size), whole_pages(stop, page_size));
        let longest_run = whole_pages(settings.longest_write, page_size);
        Rc::new(Self {
            runtime: runtime.clone(),
            poison: files.poison,
            device: files.device,
            log: files.log,
            header: files.header,
            flush_map: files.flush_map,
            page_size,
            most_pages,
            extra_pages: Cell::new(0),
            free_pool: Cell::new(FreePool::new(marks, most_pages)),
            longest_run_pages: u32::try_from(longest_run).unwrap_or(1).max(1),
            verification: settings.verification,
            frames: RefCell::new(Frames::new(page_size)),
            loading: RefCell::default(),
            writes_in_flight: Cell::new(0),
            kept_pages: Cell::new(0),
            changed: Notify::default(),
            wanted: Notify::default(),
            claims: Claims::default(),
            counts: Counts::default(),
        })
    }

    /// The frame table, with the current time set. Must not be held across an await.
    pub(crate) fn frames(&self) -> std::cell::RefMut<'_, Frames> {
        let mut frames = self.frames.borrow_mut();
        frames.set_now(self.runtime.now());
        frames
    }

    /// The page size.
    pub(crate) const fn page_size(&self) -> PageSize {
        self.page_size
    }

    /// Loads several pages concurrently and pins them.
    pub(crate) async fn fetch_all(
        self: &Rc<Self>,
        pages: Vec<PageNumber>,
    ) -> Result<Vec<Pinned>, TransactionError> {
        type Fetch = Pin<Box<dyn Future<Output = Result<Pinned, TransactionError>>>>;
        if let [page] = pages[..] {
            return Ok(vec![Rc::clone(self).fetch(page).await?]);
        }
        let mut fetches: Vec<(Fetch, Option<Pinned>)> = pages
            .into_iter()
            .map(|page| -> (Fetch, _) { (Box::pin(Rc::clone(self).fetch(page)), None) })
            .collect();
        std::future::poll_fn(|context| {
            let mut all_done = true;
            for (fetch, pinned) in fetches.iter_mut().filter(|(_, pinned)| pinned.is_none()) {
                match fetch.as_mut().poll(context) {
                    Poll::Pending => all_done = false,
                    Poll::Ready(Ok(page)) => *pinned = Some(page),
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                }
            }
            if all_done { Poll::Ready(Ok(())) } else { Poll::Pending }
        })
        .await?;
        Ok(fetches.into_iter().filter_map(|(_, pinned)| pinned).collect())
    }

    /// Loads a page unless it is cached, and pins it.
    pub(crate) async fn fetch(
        self: Rc<Self>,
        page: PageNumber,
    ) -> Result<Pinned, TransactionError> {
        loop {
            self.poison.check()?;
            if self.frames.borrow_mut().pin(page) {
                return Ok(Pinned { cache: Rc::clone(&self), page });
            }
            if self.loading.borrow().contains(&page) {
                self.changed.wait_until(|| !self.loading.borrow().contains(&page)).await;
                continue;
            }
            self.load(page).await?;
        }
    }

    /// Keeps cached pages for a certain future use, as long as the kept ones do not exceed a share
    /// of the cache.
    pub(crate) fn keep(self: &Rc<Self>, pages: &[PageNumber]) -> Kept {
        let room = (self.most_pages / KEPT_SHARE).saturating_sub(self.kept_pages.get());
        let mut frames = self.frames.borrow_mut();
        let here = pages.iter().filter(|page| frames.pin(**page)).take(room);
        let pages: Vec<Pinned> =
            here.map(|&page| Pinned { cache: Rc::clone(self), page }).collect();
        self.kept_pages.set(self.kept_pages.get() + pages.len());
        Kept { pages }
    }

    async fn load(&self, page: PageNumber) -> Result<(), TransactionError> {
        self.loading.borrow_mut().insert(page);
        let loading = Loading { cache: self, page };
        self.wait_for_room().await?;
        let buffer = self.frames.borrow_mut().take_buffer();
        let image = self.read(page, buffer).await?;
        self.frames().admit(page, image);
        drop(loading);
        Ok(())
    }

    /// Number of pages that still fit, besides those cached or being loaded.
    fn free_pages(&self) -> usize {
        let used = self.frames.borrow().resident() + self.loading.borrow().len();
        (self.most_pages + self.extra_pages.get()).saturating_sub(used)
    }

    /// Waits while the cache exceeds its limit, counting pages that are loading.
    pub(crate) async fn wait_for_room(&self) -> Result<(), TransactionError> {
        if self.free_pages() < self.free_pool.get().start {
            self.wanted.notify_all();
        }
        if self.has_room() {
            return Ok(());
        }
        let begun = self.runtime.now();
        count(&self.counts.stalls, 1);
        self.changed
            .wait_until(|| {
                let may_go_on = self.has_room() || self.poison.get().is_some();
                if !may_go_on {
                    // Others may have taken the freed space: more must be requested.
                    self.wanted.notify_all();
                }
                may_go_on
            })
            .await;
        let waited = self.runtime.now().since(begun);
        self.counts.stall_time.set(self.counts.stall_time.get() + waited);
        self.poison.check()
    }

    fn has_room(&self) -> bool {
        let used = self.frames.borrow().resident() + self.loading.borrow().len();
        used <= self.most_pages + self.extra_pages.get()
    }

    /// Adds the cache's counts.
    pub(crate) fn count_into(&self, counters: &mut Counters) {
        let frames = self.frames.borrow();
        counters.page_requests = frames.counts.requests;
        counters.page_hits = frames.counts.hits;
        counters.evictions = frames.counts.evictions;
        counters.dirty_evictions = frames.counts.dirty_evictions;
        counters.cache_bytes = Bytes(frames.resident() as u64 * self.page_size.bytes_u64());
        counters.dirty_pages = frames.dirty_pages() as u64;
        counters.pages_read = self.counts.pages_read.get();
        counters.pages_written = self.counts.pages_written.get();
        counters.page_write_requests = self.counts.write_requests.get();
        counters.mended = self.counts.mended.get();
        counters.lost_flushes = self.counts.lost_flushes.get();
        counters.page_fault_stalls = self.counts.stalls.get();
        counters.page_fault_stall_time = self.counts.stall_time.get();
        counters.database_flushes = self.counts.flushes.get();
    }
}
