//! The background maintenance scan: reads the whole file over and over, slowly, and verifies every
//! page, so that damage is found before the last good copy is gone.

use std::rc::Rc;

use device::{Purpose, Request};
use ese::checksum::{self, PageVerdict};
use ese::page::PageRef;
use units::{Nanos, PageNumber};

use crate::cache::READ_ATTEMPTS;
use crate::core::Core;
use crate::error::LostFlush;

/// What the scan makes of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Verdict {
    Sound,
    Damaged,
    Lost(LostFlush),
}

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
        // Held until the pages are judged; what is written meanwhile waits for a moment.
        let claim = self.cache.claims.claim(first, pages).await;
        let request = Request::read(Purpose::Maintenance, size.file_offset(first), bytes);
        // A read that fails here is seen by the device's observer; the scan goes on behind it.
        let Ok(buffer) = self.cache.device.submit(request).await.into_buffer() else {
            return;
        };
        let mut bad = 0;
        for (number, page) in (first.0..).map(PageNumber).zip(buffer.chunks(size.bytes())) {
            let mut verdict = self.judge(number, page);
            for attempt in 1..READ_ATTEMPTS {
                if verdict == Verdict::Sound {
                    break;
                }
                self.cache.pause_before_retry(attempt).await;
                let offset = size.file_offset(number);
                let again = Request::read(Purpose::Maintenance, offset, size.bytes());
                if let Ok(page) = self.cache.device.submit(again).await.into_buffer() {
                    verdict = self.judge(number, &page);
                    if verdict == Verdict::Sound {
                        self.cache.count_mended(true);
                    }
                }
            }
            bad += u64::from(verdict == Verdict::Damaged);
            if let Verdict::Lost(lost) = verdict {
                self.cache.stop_for(&lost);
                self.wake_all();
            }
        }
        drop(claim);
        self.count(|counters| {
            counters.maintenance_pages += count;
            counters.maintenance_bad_pages += bad;
        });
    }

    /// What a page is worth that is not being written.
    fn judge(&self, number: PageNumber, page: &[u8]) -> Verdict {
        let is_zero = PageRef::new(page).is_uninitialised();
        if !is_zero && checksum::verify(page, number) != PageVerdict::Good {
            return Verdict::Damaged;
        }
        let lost = self.cache.lost(number, PageRef::new(page));
        lost.map_or(Verdict::Sound, Verdict::Lost)
    }
}
