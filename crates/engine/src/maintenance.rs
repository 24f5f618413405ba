//! The background maintenance scan: reads the whole file over and over, slowly, and verifies every
//! page, so that damage is found before the last good copy is gone.

use std::rc::Rc;

use units::{Nanos, PageNumber};

use crate::core::Core;

impl Core {
    /// Scans the file until the database stops: waits, reads a batch, verifies its pages. Pages
    /// that are in the cache are read from the file all the same.
    pub(crate) async fn scan_forever(self: Rc<Self>, pause: Nanos) {
        let page_bytes = self.cache.page_size().bytes_u64();
        let batch = (self.settings.maintenance_read.0 / page_bytes).max(1);
        let mut next = 1_u64;
        loop {
            self.rest(pause).await;
            if self.is_over() {
                return;
            }
            let count = batch.min((self.file.pages() + 1).saturating_sub(next));
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
        let (Ok(first), Ok(pages)) = (u32::try_from(first), u32::try_from(count)) else {
            return;
        };
        let verified = self.cache.verify(PageNumber(first), pages).await;
        if self.poison.get().is_some() {
            self.wake_all();
        }
        if let Some(bad) = verified {
            self.count(|counters| {
                counters.maintenance_pages += count;
                counters.maintenance_bad_pages += bad;
            });
        }
    }
}
