//! Progress of the maintenance scan, as stored in the header.

use ese::LogTime;
use ese::header::DatabaseHeader;
use units::PageNumber;

/// Progress of the scan, as stored in the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScanProgress {
    finished: LogTime,
    started: LogTime,
    /// The last page of those read so far in the current pass.
    scanned_to: PageNumber,
    highest: PageNumber,
}

impl ScanProgress {
    pub(crate) const fn of(header: &DatabaseHeader) -> Self {
        Self {
            finished: header.scan_finished_time,
            started: header.scan_started_time,
            scanned_to: header.scanned_to,
            highest: header.highest_page_scanned,
        }
    }

    pub(crate) const fn put(self, header: &mut DatabaseHeader) {
        header.scan_finished_time = self.finished;
        header.scan_started_time = self.started;
        header.scanned_to = self.scanned_to;
        header.highest_page_scanned = self.highest;
    }

    /// The page to be read next.
    pub(super) fn next_page(&self) -> u64 {
        u64::from(self.scanned_to.0) + 1
    }

    /// Records that a batch ending with `page` has been read.
    pub(super) fn read_to(&mut self, page: PageNumber, now: LogTime) {
        if !self.scanned_to.is_some() {
            self.started = now;
        }
        self.scanned_to = page;
        self.highest = self.highest.max(page);
    }

    /// Ends the pass at the end of the file; the next one starts at its first page.
    pub(super) const fn end(&mut self, now: LogTime) {
        self.finished = now;
        self.scanned_to = PageNumber(0);
    }
}
