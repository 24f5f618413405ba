//! Reads closed log files as replication to passive copies does: a separate load on the log
//! storage.
//!
//! The measured engines read each file twice for each copy, the header once and the rest twice, in
//! pieces of 256 KiB: nine reads of 2,093,056 bytes together.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use device::{DeviceError, Notify, OpenMode, Purpose, Request};
use ese::log_file::{LOG_FILE_BYTES, LOG_HEADER_BYTES};
use units::Generation;

use crate::LogFolder;

/// Bytes of one read.
const PIECE_BYTES: u64 = 256 << 10;

/// Closed files that further copies still have to read.
pub(crate) struct Replication {
    folder: LogFolder,
    copies: u32,
    waiting: RefCell<BTreeSet<Generation>>,
    stopped: Cell<bool>,
    changed: Notify,
}

impl Replication {
    /// Queue for `copies` copies besides the database itself.
    pub(crate) fn new(folder: LogFolder, copies: u32) -> Self {
        Self {
            folder,
            copies,
            waiting: RefCell::default(),
            stopped: Cell::new(false),
            changed: Notify::default(),
        }
    }

    /// Queues a closed file; `true` if any copy must read it.
    pub(crate) fn add(&self, generation: Generation) -> bool {
        self.copies > 0 && !self.stopped.get() && self.waiting.borrow_mut().insert(generation)
    }

    /// The first generation that must not be removed yet.
    pub(crate) fn oldest_waiting(&self) -> Option<Generation> {
        self.waiting.borrow().first().copied()
    }

    /// Makes every copy read a closed file. The device's observer reports a failed read; it does
    /// not stop the log.
    pub(crate) async fn read(&self, generation: Generation) {
        for _ in 0..self.copies {
            if self.stopped.get() || self.read_once(generation).await.is_err() {
                break;
            }
        }
        self.waiting.borrow_mut().remove(&generation);
        self.changed.notify_all();
    }

    /// Stops reading; returns once the reads in flight have ended.
    pub(crate) async fn stop(&self) {
        self.stopped.set(true);
        self.changed.wait_until(|| self.waiting.borrow().is_empty()).await;
    }

    async fn read_once(&self, generation: Generation) -> Result<(), DeviceError> {
        let name = self.folder.names.closed(generation);
        let device = self.folder.volume.open(&name, OpenMode::ReadOnly).await?;
        for (offset, bytes) in reads_of_a_copy() {
            if self.stopped.get() {
                break;
            }
            let request = Request::read(Purpose::LogReplication, offset, bytes);
            device.submit(request).await.into_buffer()?;
        }
        Ok(())
    }
}

/// Offset and length of each read of one file for one copy.
fn reads_of_a_copy() -> Vec<(u64, usize)> {
    let header = LOG_HEADER_BYTES as u64;
    let mut reads = vec![(0, LOG_HEADER_BYTES)];
    for _ in 0..2 {
        let mut offset = header;
        while offset < LOG_FILE_BYTES {
            let bytes = PIECE_BYTES.min(LOG_FILE_BYTES - offset);
            reads.push((offset, usize::try_from(bytes).expect("invariant: at most 256 KiB")));
            offset += bytes;
        }
    }
    reads
}

#[cfg(test)]
mod tests {
    use super::reads_of_a_copy;

    #[test]
    fn a_copy_makes_nine_reads_of_a_file_as_published() {
        let reads = reads_of_a_copy();
        assert_eq!(reads.len(), 9);
        assert_eq!(reads.iter().map(|(_, bytes)| bytes).sum::<usize>(), 2_093_056);
        assert_eq!(reads[4], (4_096 + 3 * 262_144, 258_048));
        assert_eq!(reads[1], reads[5]);
    }
}
