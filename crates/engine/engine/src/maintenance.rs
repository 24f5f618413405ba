//! The background maintenance scan: reads the whole file over and over, slowly, and verifies every
//! page, so that damage is found before the last good copy is gone. Its progress is stored in the
//! header whenever that is written, so that a pass resumes where the last opening of the database
//! left it: otherwise slow storage and large files would never complete a pass.

pub(crate) mod progress;

use std::rc::Rc;

use ese::LogTime;
use units::{Nanos, PageNumber};

use progress::ScanProgress;

use crate::core::Core;
use crate::header_file::HeaderFile;

impl Core {
    /// Scans the file until the database stops: waits, reads a batch, verifies its pages. Cached
    /// pages are read from the file as well.
    pub(crate) async fn scan_forever(self: Rc<Self>, pause: Nanos, header: Rc<HeaderFile>) {
        let page_bytes = self.cache.page_size().bytes_u64();
        let batch = (self.settings.maintenance_read.0 / page_bytes).max(1);
        let mut progress = ScanProgress::of(&header.current());
        loop {
            self.rest(pause).await;
            if self.is_over() {
                return;
            }
            let next = progress.next_page();
            let count = batch.min((self.file.pages() + 1).saturating_sub(next));
            if count == 0 {
                self.count(|counters| counters.maintenance_passes += 1);
                progress.end(self.calendar());
            } else if let Some(last) = self.scan_batch(next, count).await {
                progress.read_to(last, self.calendar());
            } else {
                return;
            }
            header.note_scan(progress);
        }
    }

    /// Verifies `count` pages from page `first` on; returns the last one, or `None` if no page has
    /// that number.
    async fn scan_batch(&self, first: u64, count: u64) -> Option<PageNumber> {
        let last = u32::try_from(first + count - 1).ok()?;
        let (first, pages) = (u32::try_from(first).ok()?, u32::try_from(count).ok()?);
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
        Some(PageNumber(last))
    }

    fn calendar(&self) -> LogTime {
        let clock = self.runtime.clock();
        LogTime::from_unix_millis((clock.epoch() + clock.now()).0 / 1_000_000)
    }
}
