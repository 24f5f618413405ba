//! Reading a page until it is right, a few times.
//!
//! Not everything that comes in wrong is wrong on the medium: a cable, a controller or the other
//! half of a mirror may do better the next time. So a read is repeated before its page counts as
//! damaged or as having lost a write, as in ESE; that a repetition helped is counted.

use device::{Buffer, Purpose, Request};
use ese::checksum::{self, PageVerdict};
use ese::flush_map::FlushVerdict;
use ese::page::PageRef;
use ese::page_check;
use units::{Nanos, PageNumber};

use super::{Cache, count};
use crate::error::{LostFlush, PageDamage, TransactionError};

/// How often a page is read before what is wrong with it is believed.
pub(crate) const READ_ATTEMPTS: u32 = 4;

/// The pause before the second attempt; the next ones are longer by as much again.
const RETRY_PAUSE: Nanos = Nanos::from_millis(2);

impl Cache {
    /// Reads into `buffer` a page that is not being written. A page that lost its last write stops
    /// the database: a write has failed, whatever the device said of it.
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
    pub(crate) async fn pause_before_retry(&self, attempt: u32) {
        let pause = RETRY_PAUSE.0 * u64::from(attempt);
        self.runtime.sleep(Nanos(pause)).await;
    }

    /// Takes note of a read that did well when it was repeated; `was_wrong` where an attempt before
    /// gave a wrong page instead of failing.
    pub(crate) fn count_mended(&self, was_wrong: bool) {
        let mut mended = self.counts.mended.get();
        mended.note_read(was_wrong);
        self.counts.mended.set(mended);
    }

    fn count_flipped_bit(&self) {
        let mut mended = self.counts.mended.get();
        mended.flipped_bits += 1;
        self.counts.mended.set(mended);
    }

    /// Stops the database because a write was lost.
    pub(crate) fn stop_for(&self, lost: &LostFlush) {
        count(&self.counts.lost_flushes, 1);
        self.latch.set_lost(lost);
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

    /// Judges a page that was read; puts a single flipped bit right.
    fn verified(&self, page: PageNumber, mut image: Buffer) -> Result<Buffer, TransactionError> {
        let problem = self.problem(page, &mut image);
        let read = PageRef::new(&image);
        if (problem.is_none() || read.is_uninitialised())
            && let Some(lost) = self.lost(page, read)
        {
            return Err(TransactionError::LostFlush(lost));
        }
        let Some(problem) = problem else {
            return Ok(image);
        };
        let file = self.device.name().to_owned();
        Err(TransactionError::Damaged(PageDamage {
            file,
            page,
            problem,
        }))
    }

    /// What the page itself says against it, after a single flipped bit has been put right.
    fn problem(&self, page: PageNumber, image: &mut Buffer) -> Option<String> {
        match checksum::verify(image, page) {
            PageVerdict::Good => page_check::check(PageRef::new(image), page)
                .err()
                .map(|fault| fault.to_string()),
            PageVerdict::Correctable { .. }
                if checksum::repair(image, page).is_some()
                    && !self.flush_map.contradicts(page, image) =>
            {
                self.count_flipped_bit();
                None
            }
            PageVerdict::Uninitialised => {
                Some("is all zero though a tree points to it (lost write?)".to_owned())
            }
            PageVerdict::WrongPage { really } => {
                Some(format!("holds page {really} (misdirected write)"))
            }
            PageVerdict::Correctable { .. }
            | PageVerdict::FlippedZero { .. }
            | PageVerdict::FlippedChecksum { .. }
            | PageVerdict::Bad { .. } => Some("checksum mismatch".to_owned()),
        }
    }

    /// The write that a page read from the file has lost, if it has. No write of it may be in
    /// flight.
    pub(crate) fn lost(&self, page: PageNumber, read: PageRef<'_>) -> Option<LostFlush> {
        let FlushVerdict::LostWrite { written, found } = self.flush_map.judge(page, read) else {
            return None;
        };
        Some(LostFlush {
            file: self.device.name().to_owned(),
            page,
            written,
            found,
        })
    }
}
