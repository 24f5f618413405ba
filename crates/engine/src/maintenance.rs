//! The background maintenance scan: reads the whole file over and over, slowly, and verifies every
//! page, so that damage is found before the last good copy is gone.

use std::rc::Rc;

use device::{Purpose, Request};
use ese::checksum::{self, PageVerdict};
use ese::page::PageRef;
use units::{Nanos, PageNumber};

use crate::core::Core;

impl Core {
    /// Scans the file until the database stops: waits, reads a batch, verifies its pages. Pages
    /// that are in the cache are read from the file all the same.
    pub async fn scan_forever(self: Rc<Self>, pause: Nanos) {
        let page_bytes = self.cache.page_size().bytes_u64();
        let batch = (self.settings.maintenance_read.0 / page_bytes).max(1);
        let mut next = 1_u64;
        loop {
            self.rest(pause).await;
            if self.is_over() {
                return;
            }
            let pages = (self.cache.device.length() / page_bytes).saturating_sub(2);
            let count = batch.min((pages + 1).saturating_sub(next));
            if count == 0 {
                self.count(|counters| counters.maintenance_passes += 1);
                next = 1;
                continue;
            }
            self.scan_batch(next, count).await;
            next += count;
        }
    }

    async fn scan_batch(&self, first: u64, count: u64) {
        let size = self.cache.page_size();
        let Ok(first) = u32::try_from(first).map(PageNumber) else {
            return;
        };
        let Ok(pages) = u32::try_from(count) else {
            return;
        };
        let bytes = pages as usize * size.bytes();
        // Held until the bytes are here; what is written meanwhile waits for a moment.
        let claim = self.cache.claims.claim(first, pages).await;
        let request = Request::read(Purpose::Maintenance, size.file_offset(first), bytes);
        // A read that fails here is seen by the device's observer; the scan goes on behind it.
        let Ok(buffer) = self.cache.device.submit(request).await.into_buffer() else {
            return;
        };
        drop(claim);
        let mut bad = 0;
        for (number, page) in (first.0..).map(PageNumber).zip(buffer.chunks(size.bytes())) {
            let is_zero = PageRef::new(page).is_uninitialised();
            let verdict = checksum::verify(page, number);
            bad += u64::from(!is_zero && verdict != PageVerdict::Good);
            if (is_zero || verdict == PageVerdict::Good)
                && let Some(lost) = self.cache.lost(number, PageRef::new(page))
            {
                bad += 1;
                self.cache.latch.set_lost(&lost);
                self.wake_all();
            }
        }
        self.count(|counters| {
            counters.maintenance_pages += count;
            counters.maintenance_bad_pages += bad;
        });
    }
}
