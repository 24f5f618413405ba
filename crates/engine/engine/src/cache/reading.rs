//! Repeats the read of a bad page a few times.
//!
//! A page that arrives damaged is not always damaged on the medium: a cable, a controller or the
//! other half of a mirror may do better the next time. So a read is repeated before its page counts
//! as damaged or as having lost a write, as in ESE; successful repetitions are counted.

use device::{Buffer, Purpose, Request};
use ese::checksum;
use ese::page_state::{self, PageDamage, PageState};
use units::{Nanos, PageNumber};

use super::{Cache, count};
use crate::error::{LostFlush, TransactionError, UnusablePage};
use crate::settings::Verification;

/// Attempts to read a page before damage is accepted.
pub(crate) const READ_ATTEMPTS: u32 = 4;

/// The pause before the second attempt; each later pause is longer by the same amount.
const RETRY_PAUSE: Nanos = Nanos::from_millis(2);

impl Cache {
    /// Reads into `buffer` a page that is not being written. A page that lost its last write stops
    /// the database: a write has failed, whatever the device reported.
    pub(super) async fn read(
        &self,
        page: PageNumber,
        buffer: Buffer,
    ) -> Result<Buffer, TransactionError> {
        let mut read = self.read_once(page, buffer).await;
        let mut was_wrong = false;
        for attempt in 1..READ_ATTEMPTS {
            let Err(error) = &read else {
                break;
            };
            was_wrong |= !matches!(error, TransactionError::Read(_));
            self.pause_before_retry(attempt).await;
            let buffer = Buffer::zeroed(self.page_size.bytes());
            read = self.read_once(page, buffer).await;
            if read.is_ok() {
                self.count_mended(was_wrong);
            }
        }
        if let Err(TransactionError::LostFlush(lost)) = &read {
            self.stop_for(lost);
        }
        read
    }

    /// Waits before a read is repeated for the `attempt`th time.
    pub(super) async fn pause_before_retry(&self, attempt: u32) {
        let pause = RETRY_PAUSE.0 * u64::from(attempt);
        self.runtime.sleep(Nanos(pause)).await;
    }

    /// Counts a read that succeeded when repeated; `was_wrong` if an earlier attempt returned a
    /// wrong page rather than failing.
    pub(super) fn count_mended(&self, was_wrong: bool) {
        let mut mended = self.counts.mended.get();
        mended.note_read(was_wrong);
        self.counts.mended.set(mended);
    }

    /// Counts a corrected bit flip.
    pub(super) fn count_flipped_bit(&self) {
        let mut mended = self.counts.mended.get();
        mended.flipped_bits += 1;
        self.counts.mended.set(mended);
    }

    /// Describes a page whose flush type differs from that of its last write.
    pub(super) fn lost_flush(&self, page: PageNumber, written: u8, found: u8) -> LostFlush {
        LostFlush { file: self.device.name().to_owned(), page, written, found }
    }

    /// Stops the database because a write was lost.
    pub(super) fn stop_for(&self, lost: &LostFlush) {
        count(&self.counts.lost_flushes, 1);
        self.poison.set_lost(lost);
    }

    async fn read_once(
        &self,
        page: PageNumber,
        buffer: Buffer,
    ) -> Result<Buffer, TransactionError> {
        let offset = self.page_size.file_offset(page);
        let request = Request::read_into(Purpose::Database, offset, buffer);
        let outcome = self.device.submit(request).await;
        let image = outcome.into_buffer().map_err(TransactionError::Read)?;
        count(&self.counts.pages_read, 1);
        self.verified(page, image)
    }

    /// A page that was read, with a flipped bit corrected. A tree points to it, so it must have
    /// been written before.
    fn verified(&self, page: PageNumber, mut image: Buffer) -> Result<Buffer, TransactionError> {
        let damage = match self.judge_by_mark(page, &image) {
            PageState::Sound => return Ok(image),
            PageState::Damaged(PageDamage::FlippedBit { bits }) => {
                checksum::flip(&mut image, &bits);
                self.count_flipped_bit();
                return Ok(image);
            }
            PageState::Unwritten => PageDamage::Wiped,
            PageState::Damaged(damage) => damage,
        };
        if let PageDamage::LostFlush { written, found } = damage {
            let lost = self.lost_flush(page, written, found);
            return Err(TransactionError::LostFlush(lost));
        }
        Err(TransactionError::Damaged(UnusablePage {
            file: self.device.name().to_owned(),
            page,
            problem: damage.to_string(),
        }))
    }

    /// Judges a page that an operation waits for. The mark of the last write proves that it is the
    /// sealed page; the scan finds older damage.
    fn judge_by_mark(&self, page: PageNumber, read: &[u8]) -> PageState {
        if self.verification == Verification::Trusted {
            return PageState::Sound;
        }
        page_state::judge_by_mark(read, page, self.flush_map.last_write(page))
    }

    /// Judges a page that was read from the file while no write of it was in flight.
    pub(super) fn judge(&self, page: PageNumber, read: &[u8]) -> PageState {
        if self.verification == Verification::Trusted {
            return PageState::Sound;
        }
        page_state::judge(read, page, self.flush_map.last_write(page))
    }
}
