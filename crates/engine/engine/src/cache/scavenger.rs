//! Writing pages back: eviction when free pages run short, and the checkpoint's oldest changes.

use std::rc::Rc;

use device::{Durability, Purpose, Request};
use ese::Lgpos;
use units::PageNumber;

use super::frames::{Eviction, PageRun, WriteReason};
use super::{Cache, count};
use crate::error::TransactionError;

/// How many eviction writes may be in flight.
const MOST_EVICTION_WRITES: usize = 32;

/// Evicted pages remembered per page that the cache can hold. With one, the mail-like mix of single
/// operations reads 3 % more; four does not reduce reads further.
const REMEMBERED_SHARE: usize = 2;

/// Bytes sealed for writes before completions and other tasks get a turn: copying, marking and
/// checksumming them takes some 200 us, while the writes in flight keep the device busy for much
/// longer.
const BYTES_PER_TURN: usize = 256 << 10;

impl Cache {
    /// Keeps pages free until `stopping` returns true.
    pub(crate) async fn scavenge(self: Rc<Self>, stopping: impl Fn() -> bool) {
        while !stopping() && self.poison.get().is_none() {
            let woken = self.wanted.notified();
            let pool = self.free_pool.get();
            if self.free_pages() < pool.start {
                let stalls = self.counts.stalls.get();
                self.free_some().await;
                if self.counts.stalls.get() > stalls && self.extra_pages.get() == 0 {
                    self.free_pool.set(pool.raised());
                }
            } else {
                self.extra_pages.set(0);
                woken.await;
            }
        }
        // No more pages will be freed: wake the waiting tasks, so that they learn the reason.
        self.changed.notify_all();
    }

    /// Wakes the scavenger, so that it notices that it should stop.
    pub(crate) fn wake_scavenger(&self) {
        self.wanted.notify_all();
        self.changed.notify_all();
    }

    /// Evicts pages until the stop mark is reached.
    async fn free_some(self: &Rc<Self>) {
        let mut evicted = 0;
        let mut sealed = 0;
        while self.free_pages() < self.free_pool.get().stop && self.poison.get().is_none() {
            if self.writes_in_flight.get() >= MOST_EVICTION_WRITES {
                self.changed.notified().await;
                continue;
            }
            let durable = self.log.durable();
            let remembered = self.most_pages * REMEMBERED_SHARE;
            let next = self.frames().evict(remembered, durable);
            match next {
                Eviction::Done => {
                    evicted += 1;
                    self.changed.notify_all();
                    if evicted % 64 == 0 {
                        self.runtime.yield_now().await;
                    }
                }
                Eviction::Write(page) => {
                    sealed += self.start_write(page, WriteReason::Room);
                    self.take_turns(&mut sealed).await;
                }
                Eviction::Stuck | Eviction::Log(_) if self.writes_in_flight.get() > 0 => {
                    self.changed.notified().await;
                }
                Eviction::Log(place) => {
                    if let Err(error) = self.log.flush_to(place).await {
                        self.poison.set(&error.to_string());
                    }
                }
                Eviction::Stuck => {
                    // Operations hold every page and end only if they get the pages they wait for.
                    self.extra_pages.set(self.extra_pages.get() + self.free_pool.get().stop);
                    self.changed.notify_all();
                    self.runtime.yield_now().await;
                    return;
                }
            }
        }
    }

    /// Yields if enough bytes have been sealed since the last yield.
    async fn take_turns(&self, sealed: &mut usize) {
        if *sealed >= BYTES_PER_TURN {
            *sealed = 0;
            self.runtime.yield_now().await;
        }
    }

    /// Writes a page, and changed neighbours that are also due, in a separate task. Returns the
    /// number of bytes; 0 if the page is clean, gone or already being written.
    fn start_write(self: &Rc<Self>, page: PageNumber, due: WriteReason) -> usize {
        let bounds = (self.longest_run_pages, self.log.durable());
        let run = self.frames().collect_run(page, due, bounds, &self.flush_map);
        let Some(run) = run else {
            return 0;
        };
        let sealed = run.bytes.len();
        self.writes_in_flight.set(self.writes_in_flight.get() + 1);
        let cache = Rc::clone(self);
        // The handle is dropped: the task reports through the poison flag.
        drop(self.runtime.spawn(async move {
            if let Err(error) = cache.write_run(run).await {
                cache.poison.set(&error);
            }
            cache.writes_in_flight.set(cache.writes_in_flight.get() - 1);
            cache.changed.notify_all();
        }));
        sealed
    }

    async fn write_run(&self, run: PageRun) -> Result<(), String> {
        let PageRun { first, pages, bytes, log_end } = run;
        self.log.flush_to(log_end).await.map_err(|error| error.to_string())?;
        let durable = self.log.durable().generation;
        self.header.require(log_end.generation, durable).await?;
        let claim = self.claims.claim(first, pages).await;
        let offset = self.page_size.file_offset(first);
        let request = Request::write(Purpose::Database, offset, bytes, Durability::Volatile);
        let written = self.device.submit(request).await.into_buffer();
        let written = written.map_err(|error| error.to_string())?;
        self.flush_map.written(first, &written);
        drop(claim);
        count(&self.counts.pages_written, u64::from(pages));
        count(&self.counts.write_requests, 1);
        self.frames.borrow_mut().written(first, pages);
        Ok(())
    }

    /// Writes changes, the oldest first, until none is older than `bound`, with at most `in_flight`
    /// writes at a time. Neighbours changed before `along` are included.
    pub(crate) async fn write_older_than(
        self: &Rc<Self>,
        (bound, along): (Lgpos, Lgpos),
        in_flight: usize,
    ) -> Result<(), TransactionError> {
        let mut sealed = 0;
        loop {
            self.poison.check()?;
            let changed = self.changed.notified();
            let oldest = self.frames.borrow().oldest_dirty_page();
            match oldest.filter(|(place, _)| *place < bound) {
                Some((_, page)) if self.writes_in_flight.get() < in_flight => {
                    match self.start_write(page, WriteReason::Age(along)) {
                        // An older change of the page is already being written.
                        0 => changed.await,
                        bytes => {
                            sealed += bytes;
                            self.take_turns(&mut sealed).await;
                        }
                    }
                }
                Some(_) => changed.await,
                None => break,
            }
        }
        loop {
            self.poison.check()?;
            let changed = self.changed.notified();
            let oldest = self.frames.borrow().oldest_dirt();
            if oldest.is_none_or(|place| place >= bound) {
                return Ok(());
            }
            changed.await;
        }
    }

    /// Makes every write that has completed durable.
    pub(crate) async fn flush_file(&self) -> Result<(), TransactionError> {
        let outcome = self.device.submit(Request::flush(Purpose::Database)).await;
        if let Err(error) = outcome.result {
            self.poison.set(&error.to_string());
        }
        count(&self.counts.flushes, 1);
        self.poison.check()
    }

    /// Waits until no write is in flight.
    pub(crate) async fn wait_for_writes(&self) {
        self.changed.wait_until(|| self.writes_in_flight.get() == 0).await;
    }
}
