//! Verifies pages as stored in the file, for the background maintenance scan.

use device::{Purpose, Request};
use ese::page_state::{PageDamage, PageState};
use units::PageNumber;

use super::{Cache, READ_ATTEMPTS};

impl Cache {
    /// Reads `pages` pages from `first` on from the file, even if they are cached, and judges them.
    /// Returns the number of bad ones; `None` if they cannot be read.
    pub(crate) async fn verify(&self, first: PageNumber, pages: u32) -> Option<u64> {
        let size = self.page_size;
        let bytes = pages as usize * size.bytes();
        // Held until the pages are judged; writes to them wait briefly.
        let claim = self.claims.claim(first, pages).await;
        let request = Request::read(Purpose::Maintenance, size.file_offset(first), bytes);
        // The device's observer sees a failed read; the scan continues after it.
        let buffer = self.device.submit(request).await.into_buffer().ok()?;
        let mut bad = 0;
        for (number, page) in (first.0..).map(PageNumber).zip(buffer.chunks(size.bytes())) {
            let state = self.judge(number, page);
            let state = self.repeat_until_sound(number, state).await;
            bad += u64::from(self.is_bad(number, &state));
        }
        drop(claim);
        Some(bad)
    }

    /// Judges a page after as many reads as a transaction would make of it.
    async fn repeat_until_sound(&self, page: PageNumber, first: PageState) -> PageState {
        let (size, mut state) = (self.page_size, first);
        for attempt in 1..READ_ATTEMPTS {
            if is_usable(&state) {
                break;
            }
            self.pause_before_retry(attempt).await;
            let offset = size.file_offset(page);
            let again = Request::read(Purpose::Maintenance, offset, size.bytes());
            if let Ok(bytes) = self.device.submit(again).await.into_buffer() {
                state = self.judge(page, &bytes);
                if is_usable(&state) {
                    self.count_mended(true);
                }
            }
        }
        state
    }

    /// Records the repairs that a read of the page would make, and stops the database for a lost
    /// write. True for damage of any other kind.
    fn is_bad(&self, page: PageNumber, state: &PageState) -> bool {
        match *state {
            PageState::Sound | PageState::Unwritten => return false,
            PageState::Damaged(PageDamage::FlippedBit { .. }) => self.count_flipped_bit(),
            PageState::Damaged(PageDamage::LostFlush { written, found }) => {
                self.stop_for(&self.lost_flush(page, written, found));
                self.wake_scavenger();
            }
            PageState::Damaged(_) => return true,
        }
        false
    }
}

/// Whether another read cannot improve the result. This includes pages never written, most of which
/// belong to no tree.
fn is_usable(state: &PageState) -> bool {
    state.is_readable() || *state == PageState::Unwritten
}
