//! Reads closed log files back during the load and compares them with the data written.
//!
//! The expected content of a generation is known without a copy of it: the writer accumulates the
//! checksums of its segments as it hands them to the device. A file is read at the pace at which
//! the current one is written, so the reads neither burst nor come late, and never exceed the log
//! volume.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use device::{Device, DeviceError, Notify, OpenMode, Purpose, Request};
use ese::log_file::{
    LOG_FILE_BYTES, LogHeader, SegmentHeader, SegmentSize, accumulate, header_share,
    stored_checksum,
};
use units::Generation;

use crate::LogFolder;
use crate::not_as_written::{NotAsWritten, Written};

/// Bytes of one read.
const PIECE_BYTES: u64 = 256 << 10;

/// Expected content of a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogWitness {
    /// The generation.
    pub generation: Generation,
    /// Its last acknowledged segment; that of the header if none after it was acknowledged.
    pub last_segment: u16,
    /// The accumulated checksum up to there.
    pub sum: u64,
}

/// Files waiting to be read back, and the mismatches found.
pub(crate) struct ReadBack {
    folder: LogFolder,
    /// The stream number in every segment.
    stream: u32,
    segment_size: SegmentSize,
    waiting: RefCell<VecDeque<LogWitness>>,
    /// Files that proved intact and still exist.
    verified: RefCell<VecDeque<LogWitness>>,
    /// Bytes of the current file written so far.
    progress: Cell<u64>,
    hurry: Cell<bool>,
    running: Cell<bool>,
    found: RefCell<Vec<NotAsWritten>>,
    changed: Notify,
}

impl ReadBack {
    /// An empty queue for the log in `folder`.
    pub(crate) fn new(folder: LogFolder, stream: u32, segment_size: SegmentSize) -> Self {
        Self {
            folder,
            stream,
            segment_size,
            waiting: RefCell::default(),
            verified: RefCell::default(),
            progress: Cell::new(0),
            hurry: Cell::new(false),
            running: Cell::new(false),
            found: RefCell::default(),
            changed: Notify::default(),
        }
    }

    /// Queues a closed file; `true` if the caller must start a task that calls [`Self::next`].
    pub(crate) fn add(&self, witness: LogWitness) -> bool {
        self.progress.set(0);
        self.waiting.borrow_mut().push_back(witness);
        self.changed.notify_all();
        !self.running.replace(true)
    }

    /// Reports the bytes of the current file written so far.
    pub(crate) fn advance(&self, bytes: u64) {
        self.progress.set(bytes);
        self.changed.notify_all();
    }

    /// The first generation that must not be removed yet.
    pub(crate) fn oldest_waiting(&self) -> Option<Generation> {
        self.waiting.borrow().front().map(|next| next.generation)
    }

    /// Forgets files that have been removed.
    pub(crate) fn removed_below(&self, generation: Generation) {
        self.verified.borrow_mut().retain(|witness| witness.generation >= generation);
    }

    /// Reads the oldest waiting file; false if there is none, which ends the task.
    pub(crate) async fn next(&self) -> bool {
        let Some(witness) = self.waiting.borrow().front().copied() else {
            self.running.set(false);
            self.changed.notify_all();
            return false;
        };
        let name = self.folder.names.closed(witness.generation);
        let is_sound = self.compare(&name, witness).await;
        self.waiting.borrow_mut().pop_front();
        if is_sound {
            self.verified.borrow_mut().push_back(witness);
        }
        true
    }

    /// Waits until no files are queued, reading them without pacing.
    pub(crate) async fn finish(&self) {
        self.hurry.set(true);
        self.changed.notify_all();
        self.changed.wait_until(|| !self.running.get()).await;
    }

    /// Compares every verified file once more, and the current one, which was never closed.
    pub(crate) async fn compare_rest(&self, last: LogWitness) {
        let rest: Vec<_> = self.verified.borrow().iter().copied().collect();
        for witness in rest {
            let name = self.folder.names.closed(witness.generation);
            self.compare(&name, witness).await;
        }
        self.compare(&self.folder.names.current(), last).await;
    }

    /// Adds a mismatch found elsewhere, if any.
    pub(crate) fn note(&self, found: Option<NotAsWritten>) {
        self.found.borrow_mut().extend(found);
    }

    /// Mismatches found since the last call.
    pub(crate) fn take(&self) -> Vec<NotAsWritten> {
        std::mem::take(&mut *self.found.borrow_mut())
    }

    /// Compares the file `name` with `witness` and records the first mismatch; `true` if none.
    async fn compare(&self, name: &str, witness: LogWitness) -> bool {
        let difference = match self.read(name, witness).await {
            Ok(difference) => difference,
            Err(error) => Some((0, Written::Unreadable(error))),
        };
        let is_sound = difference.is_none();
        self.note(difference.map(|(offset, what)| {
            let file = self.folder.path(name);
            NotAsWritten { file, offset, what }
        }));
        is_sound
    }

    async fn read(
        &self,
        name: &str,
        witness: LogWitness,
    ) -> Result<Option<(u64, Written)>, DeviceError> {
        let device = self.folder.volume.open(name, OpenMode::ReadOnly).await?;
        let mut comparison = LogComparison::new(witness, self.stream, self.segment_size);
        let end = self.segment_size.offset(witness.last_segment + 1);
        for offset in (0..end).step_by(usize::try_from(PIECE_BYTES).unwrap_or(usize::MAX)) {
            self.changed
                .wait_until(|| {
                    self.hurry.get() || self.progress.get() >= offset || self.is_behind()
                })
                .await;
            comparison.look(&read_piece(&*device, offset).await?);
        }
        Ok(comparison.result())
    }

    /// Whether another file already waits.
    fn is_behind(&self) -> bool {
        self.waiting.borrow().len() > 1
    }
}

async fn read_piece(device: &dyn Device, offset: u64) -> Result<device::Buffer, DeviceError> {
    let bytes = usize::try_from((LOG_FILE_BYTES - offset).min(PIECE_BYTES)).unwrap_or(usize::MAX);
    let read = Request::read(Purpose::LogRead, offset, bytes);
    device.submit(read).await.into_buffer()
}

/// A comparison in progress: one file, read segment by segment.
struct LogComparison {
    witness: LogWitness,
    stream: u32,
    segment_size: SegmentSize,
    /// The next segment to check.
    next: u16,
    sum: u64,
    /// The first bad segment, and the number of bad ones.
    bad: Option<(u16, u16)>,
}

impl LogComparison {
    const fn new(witness: LogWitness, stream: u32, segment_size: SegmentSize) -> Self {
        Self { witness, stream, segment_size, next: 0, sum: 0, bad: None }
    }

    /// Checks the next bytes of the file.
    fn look(&mut self, mut bytes: &[u8]) {
        if let (0, Some((header, rest))) = (self.next, bytes.split_first_chunk()) {
            let segments = self.segment_size.first();
            let is_own = LogHeader::decode(header)
                .is_ok_and(|header| header.generation == self.witness.generation);
            self.take(segments, is_own.then(|| header_share(header)));
            bytes = rest;
        }
        for segment in bytes.chunks_exact(self.segment_size.bytes()) {
            if self.next > self.witness.last_segment {
                return;
            }
            self.take(1, self.share(segment));
        }
    }

    /// Skips `segments` segments and adds `share` to the sum; `None` if they are bad.
    fn take(&mut self, segments: u16, share: Option<u64>) {
        if let Some(share) = share {
            self.sum = accumulate(self.sum, share);
        } else {
            let (first, count) = self.bad.unwrap_or((self.next, 0));
            self.bad = Some((first, count + segments));
        }
        self.next += segments;
    }

    /// Checksum contribution of the next segment; `None` if it is torn or belongs elsewhere.
    fn share(&self, segment: &[u8]) -> Option<u64> {
        let generation = self.witness.generation;
        SegmentHeader::open(segment, generation, self.next, self.stream)?;
        Some(stored_checksum(segment))
    }

    fn result(&self) -> Option<(u64, Written)> {
        let generation = self.witness.generation;
        if let Some((segment, segments)) = self.bad {
            let what = Written::LogSegments { generation, segment, segments };
            return Some((self.segment_size.offset(segment), what));
        }
        (self.sum != self.witness.sum).then_some((0, Written::LogGeneration { generation }))
    }
}
