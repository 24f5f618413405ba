//! The background maintenance scan: reads the whole file over and over, slowly, and verifies every
//! page, so that damage is found before the last good copy is gone.

use std::rc::Rc;

use device::{Purpose, Request};
use ese::page_state::{PageDamage, PageState};
use units::{Nanos, PageNumber};

use crate::cache::READ_ATTEMPTS;
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
            let state = self.cache.judge(number, page);
            let state = self.repeat_until_sound(number, state).await;
            bad += u64::from(self.is_bad(number, &state));
        }
        drop(claim);
        self.count(|counters| {
            counters.maintenance_pages += count;
            counters.maintenance_bad_pages += bad;
        });
    }

    /// What a page is worth after as many reads as a transaction would make of it.
    async fn repeat_until_sound(&self, page: PageNumber, first: PageState) -> PageState {
        let (size, mut state) = (self.cache.page_size(), first);
        for attempt in 1..READ_ATTEMPTS {
            if is_usable(&state) {
                break;
            }
            self.cache.pause_before_retry(attempt).await;
            let offset = size.file_offset(page);
            let again = Request::read(Purpose::Maintenance, offset, size.bytes());
            if let Ok(bytes) = self.cache.device.submit(again).await.into_buffer() {
                state = self.cache.judge(page, &bytes);
                if is_usable(&state) {
                    self.cache.count_mended(true);
                }
            }
        }
        state
    }

    /// Takes note of what a read of the page would put right, and stops the database for a lost
    /// write. True for damage of any other kind.
    fn is_bad(&self, page: PageNumber, state: &PageState) -> bool {
        match *state {
            PageState::Sound | PageState::Unwritten => return false,
            PageState::Damaged(PageDamage::FlippedBit { .. }) => self.cache.count_flipped_bit(),
            PageState::Damaged(PageDamage::LostFlush { written, found }) => {
                self.cache
                    .stop_for(&self.cache.lost_flush(page, written, found));
                self.wake_all();
            }
            PageState::Damaged(_) => return true,
        }
        false
    }
}

/// Whether reading the page again can make nothing better: most pages that were never written
/// belong to no tree.
fn is_usable(state: &PageState) -> bool {
    state.is_readable() || *state == PageState::Unwritten
}
