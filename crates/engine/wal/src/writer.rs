//! The live log: appends go to memory at once, writes go to the device one at a time, and one write
//! serves all waiters (group commit).
//!
//! A write carries whole segments that are never written again: a crash can tear only the one write
//! in flight, whose extent every segment of it names.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use device::{Device, Durability, Notify, Purpose, Request, Runtime};
use ese::log_file::{
    Checkpoint, LOG_HEADER_BYTES, LogHeader, SegmentSize, accumulate, header_share,
};
use ese::{Lgpos, LogTime};
use units::{Bytes, Generation};

use crate::checkpoint_file::CheckpointFile;
use crate::edit::ApplyRecord;
use crate::next_file::NextFile;
use crate::not_as_written::NotAsWritten;
use crate::read_back::{LogWitness, ReadBack};
use crate::record::encode_apply;
use crate::replication::Replication;
use crate::stream::calendar;
use crate::tail::{Batch, Span, Tail};
use crate::{LogEnd, LogError, LogFolder, LogIdentity, LogRecord, LogSettings};

/// Counters of a log since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogCounters {
    /// Bytes of records, without the fill that ends a flush.
    pub record_bytes: Bytes,
    /// The log volume: bytes of log files used up, fill and headers included.
    pub volume: Bytes,
    /// Bytes written to log files: records, headers and the formatting of next files.
    pub bytes_written: Bytes,
    /// Writes of records.
    pub writes: u64,
    /// Calls that had to wait until the log was durable.
    pub flush_waits: u64,
    /// Files begun.
    pub generations: u64,
}

impl LogCounters {
    /// Counters of a log that consists only of its first file's header.
    fn of_one_header() -> Self {
        Self {
            volume: Bytes(LOG_HEADER_BYTES as u64),
            bytes_written: Bytes(LOG_HEADER_BYTES as u64),
            generations: 1,
            ..Self::default()
        }
    }
}

/// The log of an open database. Cheap to clone.
#[derive(Clone)]
pub struct Log {
    inner: Rc<Inner>,
}

struct Inner {
    runtime: Runtime,
    folder: LogFolder,
    identity: LogIdentity,
    settings: LogSettings,
    segment_size: SegmentSize,
    state: RefCell<WriterState>,
    current: RefCell<CurrentFile>,
    checkpoint_file: CheckpointFile,
    checkpoint: Cell<Lgpos>,
    removal: Removal,
    next: Rc<NextFile>,
    replication: Replication,
    /// `None` if files are not read back.
    read_back: Option<ReadBack>,
    changed: Notify,
}

struct WriterState {
    tail: Tail,
    /// Position before which everything is on stable storage.
    durable: Lgpos,
    /// Highest position up to which a waiter needs the log durable.
    wanted: Lgpos,
    writing: bool,
    in_flight_bytes: usize,
    failed: Option<LogError>,
    counters: LogCounters,
}

/// Progress of the removal of files.
#[derive(Default)]
struct Removal {
    /// Generations below this one can be removed once they have been read back.
    needless_below: Cell<Generation>,
    /// Generations below this one have been removed, or are being removed.
    done_below: Cell<Generation>,
    running: Cell<bool>,
}

/// The file being written.
struct CurrentFile {
    device: Rc<dyn Device>,
    generation: Generation,
    created: LogTime,
    /// Accumulated checksum of everything written to it.
    sum: u64,
}

impl Log {
    /// Begins a new stream at generation 1. Fails if the folder contains files of a stream with its
    /// name.
    pub async fn create(
        runtime: &Runtime,
        folder: LogFolder,
        identity: LogIdentity,
        settings: LogSettings,
    ) -> Result<Self, LogError> {
        if let Some(file) = first_log_file(&folder).await? {
            let folder = folder.name().to_owned();
            return Err(LogError::Exists { folder, file });
        }
        // A checkpoint without a log is left over from another stream.
        folder.remove_if_there(&folder.names.checkpoint()).await?;
        let end = LogEnd::before_the_first();
        Self::begin(runtime, folder, (identity, end), settings).await
    }

    /// Resumes a stream that ends at `end`, in a new generation: the new file's header cuts off the
    /// torn remains after the end, which are never overwritten. Safe to repeat after any crash.
    pub async fn resume(
        runtime: &Runtime,
        folder: LogFolder,
        identity: LogIdentity,
        settings: LogSettings,
        end: LogEnd,
    ) -> Result<Self, LogError> {
        let names = &folder.names;
        if !folder.has(&names.current()).await? && end.is_some() {
            // The crash happened between the two renames of a roll.
            let next = folder.header(&names.next()).await;
            if next.is_ok_and(|header| header.generation == end.generation) {
                folder.volume.rename(&names.next(), &names.current()).await?;
            }
        }
        Self::begin(runtime, folder, (identity, end), settings).await
    }

    /// Begins a new generation of the stream with this identity after its end.
    async fn begin(
        runtime: &Runtime,
        folder: LogFolder,
        (identity, end): (LogIdentity, LogEnd),
        settings: LogSettings,
    ) -> Result<Self, LogError> {
        assert!(
            settings.write_behind.0 + LOG_HEADER_BYTES as u64 <= settings.buffer.0,
            "a full buffer must already be on its way to the device"
        );
        let checkpoint_file = CheckpointFile::open(&folder).await?;
        let next = NextFile::new(folder.clone(), settings.format_chunk);
        let device = next.take(runtime).await?;
        let segment_size = settings.segment_size_on(&*device)?;
        let generation = end.generation.next();
        let header = first_header(&identity, segment_size, &end, calendar(runtime));
        let sum = install(&folder, &*device, &header, end.generation).await?;
        let tail = Tail::new(generation, segment_size);
        let counters = LogCounters::of_one_header();
        let start = Lgpos { generation, segment: segment_size.first(), byte: 0 };
        let stream = identity.signature.random;
        let inner = Inner {
            runtime: runtime.clone(),
            read_back: settings
                .read_back
                .then(|| ReadBack::new(folder.clone(), stream, segment_size)),
            replication: Replication::new(folder.clone(), settings.copies),
            folder,
            identity,
            settings,
            segment_size,
            state: RefCell::new(WriterState {
                tail,
                durable: start,
                wanted: start,
                writing: false,
                in_flight_bytes: 0,
                failed: None,
                counters,
            }),
            current: RefCell::new(CurrentFile { device, generation, created: header.created, sum }),
            checkpoint_file,
            checkpoint: Cell::new(end.checkpoint),
            removal: Removal::default(),
            next,
            changed: Notify::default(),
        };
        Ok(Self { inner: Rc::new(inner) })
    }

    /// Appends a record in memory. It is durable once [`Log::durable`] has reached its end.
    pub fn append(&self, record: &LogRecord) -> Result<Span, LogError> {
        self.append_encoded(|out| record.encode(out))
    }

    /// Appends a page change, as [`Log::append`] does.
    pub fn append_apply(&self, apply: &ApplyRecord) -> Result<Span, LogError> {
        self.append_encoded(|out| encode_apply(apply, out))
    }

    fn append_encoded(&self, encode: impl FnOnce(&mut Vec<u8>)) -> Result<Span, LogError> {
        let span = {
            let mut state = self.inner.state.borrow_mut();
            state.check()?;
            let before = state.tail.complete_end();
            let span = state.tail.append(encode);
            let after = state.tail.complete_end();
            let size = self.inner.segment_size;
            state.counters.record_bytes.0 += span.end.bytes_since(span.start, size);
            state.counters.volume.0 += after.bytes_since(before, size);
            let write_behind = self.inner.settings.write_behind.0;
            if state.tail.waiting_bytes() as u64 >= write_behind {
                state.wanted = state.wanted.max(after);
            }
            span
        };
        self.inner.start_writing();
        Ok(span)
    }

    /// The position before which everything is on stable storage.
    pub fn durable(&self) -> Lgpos {
        self.inner.state.borrow().durable
    }

    /// Position of the next record.
    pub fn tip(&self) -> Lgpos {
        self.inner.state.borrow().tail.tip()
    }

    /// Size of the segments now being written.
    pub fn segment_size(&self) -> SegmentSize {
        self.inner.segment_size
    }

    /// The checkpoint last written; none before the first one.
    pub fn checkpoint(&self) -> Lgpos {
        self.inner.checkpoint.get()
    }

    /// The counts so far.
    pub fn counters(&self) -> LogCounters {
        let mut counters = self.inner.state.borrow().counters;
        counters.bytes_written.0 += self.inner.next.bytes_written().0;
        counters
    }

    /// Starts to make everything before `place` durable, without waiting.
    pub fn request_flush(&self, place: Lgpos) -> Result<(), LogError> {
        {
            let mut state = self.inner.state.borrow_mut();
            state.check()?;
            let place = state.tail.within(place);
            state.wanted = state.wanted.max(place);
        }
        self.inner.start_writing();
        Ok(())
    }

    /// Waits until everything before `place` (at most the tip) is durable.
    pub async fn flush_to(&self, place: Lgpos) -> Result<(), LogError> {
        let place = self.inner.state.borrow().tail.within(place);
        if self.durable() >= place {
            return Ok(());
        }
        self.request_flush(place)?;
        self.inner.state.borrow_mut().counters.flush_waits += 1;
        self.wait_until(|state| state.durable >= place).await
    }

    /// Waits while more bytes are unwritten than the buffer holds. Callers wait before they append.
    pub async fn throttle(&self) -> Result<(), LogError> {
        let most = usize::try_from(self.inner.settings.buffer.0).unwrap_or(usize::MAX);
        if self.inner.state.borrow().unwritten_bytes() <= most {
            return self.inner.state.borrow().check();
        }
        self.wait_until(|state| state.unwritten_bytes() <= most).await
    }

    /// Writes the checkpoint, then removes the generations below it if logging is circular.
    /// `place` must be durable, and everything before it must be in the database file.
    pub async fn advance_checkpoint(&self, place: Lgpos) -> Result<(), LogError> {
        let inner = &self.inner;
        inner.state.borrow().check()?;
        let checkpoint = Checkpoint {
            place,
            signature: inner.identity.signature,
            database: inner.identity.database,
        };
        let written = inner.checkpoint_file.write(&checkpoint).await;
        written.map_err(|error| inner.poison(error))?;
        inner.checkpoint.set(place);
        if inner.settings.circular {
            self.remove_below(place.generation).await?;
        }
        Ok(())
    }

    /// Removes closed files of generations below `generation`; files still to be read back are
    /// removed after that.
    pub(crate) async fn remove_below(&self, generation: Generation) -> Result<(), LogError> {
        let inner = &self.inner;
        let needless = inner.removal.needless_below.get().max(generation);
        inner.removal.needless_below.set(needless);
        inner.remove_needless().await
    }

    /// Mismatches found by reading back since the last call.
    pub fn take_not_as_written(&self) -> Vec<NotAsWritten> {
        let read_back = self.inner.read_back.as_ref();
        read_back.map_or_else(Vec::new, ReadBack::take)
    }

    /// Waits for the writes in flight and stops using the files. Records without a requested flush
    /// are lost, as in a crash: flush to the tip first.
    pub async fn close(&self) -> Result<(), LogError> {
        let written = self.wait_until(|state| !state.writing).await;
        self.inner.next.stop().await;
        self.inner.replication.stop().await;
        self.inner.read_rest_back().await;
        written
    }

    /// Waits for the writes in flight and stops using the files, leaving them unchanged.
    pub async fn abandon(&self) -> Result<(), LogError> {
        let written = self.wait_until(|state| !state.writing).await;
        self.inner.next.stop().await;
        self.inner.replication.stop().await;
        if let Some(read_back) = &self.inner.read_back {
            read_back.finish().await;
        }
        written
    }

    async fn wait_until(&self, condition: impl Fn(&WriterState) -> bool) -> Result<(), LogError> {
        let inner = &self.inner;
        inner
            .changed
            .wait_until(|| {
                let state = inner.state.borrow();
                state.failed.is_some() || condition(&state)
            })
            .await;
        inner.state.borrow().check()
    }
}

impl WriterState {
    fn check(&self) -> Result<(), LogError> {
        match &self.failed {
            None => Ok(()),
            Some(first) => Err(LogError::Poisoned { first: Box::new(first.clone()) }),
        }
    }

    fn unwritten_bytes(&self) -> usize {
        self.tail.waiting_bytes() + self.in_flight_bytes
    }
}

impl Inner {
    /// Starts a writer if any write is wanted.
    fn start_writing(self: &Rc<Self>) {
        let mut state = self.state.borrow_mut();
        if state.writing || state.durable >= state.wanted || state.failed.is_some() {
            return;
        }
        state.writing = true;
        let inner = Rc::clone(self);
        drop(self.runtime.spawn(async move {
            while let Some(batch) = inner.next_batch() {
                if let Err(error) = inner.write(batch).await {
                    inner.poison(error);
                }
            }
            inner.changed.notify_all();
        }));
    }

    /// The next write; `None` if no more is needed, which ends the writer.
    fn next_batch(&self) -> Option<Batch> {
        let mut state = self.state.borrow_mut();
        let batch = if state.failed.is_some() || state.durable >= state.wanted {
            None
        } else {
            if state.wanted > state.tail.complete_end() {
                let before = state.tail.complete_end();
                state.tail.cut();
                let after = state.tail.complete_end();
                let wasted = after.bytes_since(before, self.segment_size);
                state.counters.volume.0 += wasted;
            }
            let most = usize::try_from(self.settings.longest_write.0).unwrap_or(usize::MAX);
            state.tail.take((most / self.segment_size.bytes()).max(1))
        };
        state.in_flight_bytes = batch.as_ref().map_or(0, |batch| batch.bytes.len());
        state.writing = batch.is_some();
        batch
    }

    async fn write(self: &Rc<Self>, mut batch: Batch) -> Result<(), LogError> {
        if batch.generation != self.current.borrow().generation {
            self.roll(batch.generation).await?;
        }
        let device = {
            let mut current = self.current.borrow_mut();
            let stream = self.identity.signature.random;
            current.sum = batch.seal(current.created, stream, current.sum);
            Rc::clone(&current.device)
        };
        let (end, written) = (batch.end(), batch.bytes.len() as u64);
        let offset = self.segment_size.offset(batch.first);
        let write = Request::write(Purpose::Log, offset, batch.bytes, Durability::Durable);
        device.submit(write).await.into_buffer()?;
        self.next.advance(&self.runtime, offset + written);
        if let Some(read_back) = &self.read_back {
            read_back.advance(offset + written);
        }
        let mut state = self.state.borrow_mut();
        state.durable = end;
        state.counters.bytes_written.0 += written;
        state.counters.writes += 1;
        drop(state);
        self.changed.notify_all();
        Ok(())
    }

    /// Closes the current file, which is full and durable, and continues in the next one.
    async fn roll(self: &Rc<Self>, generation: Generation) -> Result<(), LogError> {
        let device = self.next.take(&self.runtime).await?;
        let header = {
            let current = self.current.borrow();
            assert_eq!(
                current.generation.next(),
                generation,
                "generations follow each other without a gap"
            );
            LogHeader {
                generation,
                segment_size: self.segment_size,
                page_size: self.identity.page_size,
                created: calendar(&self.runtime),
                previous_created: current.created,
                signature: self.identity.signature,
                database: self.identity.database,
                checkpoint: self.checkpoint.get(),
                previous_last: self.segment_size.per_file() - 1,
                resumed: false,
                previous_checksum: current.sum,
            }
        };
        let closed = LogWitness {
            generation: self.current.borrow().generation,
            last_segment: header.previous_last,
            sum: header.previous_checksum,
        };
        let sum = install(&self.folder, &*device, &header, closed.generation).await?;
        *self.current.borrow_mut() =
            CurrentFile { device, generation, created: header.created, sum };
        let mut state = self.state.borrow_mut();
        state.counters.bytes_written.0 += LOG_HEADER_BYTES as u64;
        state.counters.generations += 1;
        drop(state);
        self.start_reading_back(closed);
        self.start_replicating(closed.generation);
        Ok(())
    }

    /// Starts a separate task in which further copies read a closed file.
    fn start_replicating(self: &Rc<Self>, closed: Generation) {
        if !self.replication.add(closed) {
            return;
        }
        let inner = Rc::clone(self);
        drop(self.runtime.spawn(async move {
            inner.replication.read(closed).await;
            if let Err(error) = inner.remove_needless().await {
                inner.poison(error);
            }
        }));
    }

    /// Starts a task that reads a closed file back at the pace of the writes.
    fn start_reading_back(self: &Rc<Self>, closed: LogWitness) {
        if !self.read_back.as_ref().is_some_and(|read_back| read_back.add(closed)) {
            return;
        }
        let inner = Rc::clone(self);
        drop(self.runtime.spawn(async move {
            while let Some(read_back) = &inner.read_back
                && read_back.next().await
            {
                if let Err(error) = inner.remove_needless().await {
                    inner.poison(error);
                }
            }
        }));
    }

    /// Reads back the rest of the log when it is closed, including the file in use.
    async fn read_rest_back(&self) {
        let Some(read_back) = &self.read_back else {
            return;
        };
        read_back.finish().await;
        let durable = self.state.borrow().durable;
        let last = {
            let current = self.current.borrow();
            LogWitness {
                generation: current.generation,
                last_segment: durable.segment - 1,
                sum: current.sum,
            }
        };
        // After a failed write the expected content is unknown.
        let failed = self.state.borrow().failed.is_some();
        if !failed && durable.generation == last.generation {
            read_back.compare_rest(last).await;
            let checkpoint = self.checkpoint_file.compare().await;
            read_back.note(checkpoint);
        }
    }

    /// Removes the closed files that are neither needed nor to be read back.
    async fn remove_needless(&self) -> Result<(), LogError> {
        if self.removal.running.replace(true) {
            return Ok(()); // The running removal continues with the files that are now unneeded.
        }
        let mut removed = Ok(());
        while let (Ok(()), Some(below)) = (&removed, self.removable_below()) {
            removed = self.remove_files_below(below).await;
        }
        self.removal.running.set(false);
        removed
    }

    /// The generation below which more files may be removed.
    fn removable_below(&self) -> Option<Generation> {
        let read_back = self.read_back.as_ref().and_then(ReadBack::oldest_waiting);
        let waiting = [read_back, self.replication.oldest_waiting()];
        let needless = self.removal.needless_below.get();
        let below = waiting.into_iter().flatten().fold(needless, Generation::min);
        (below > self.removal.done_below.get()).then_some(below)
    }

    async fn remove_files_below(&self, below: Generation) -> Result<(), LogError> {
        self.removal.done_below.set(below);
        let (volume, names) = (&self.folder.volume, &self.folder.names);
        for entry in volume.list().await? {
            let closed = names.closed_generation(&entry.name);
            if closed.is_some_and(|found| found < below) {
                volume.remove(&entry.name).await?;
            }
        }
        if let Some(read_back) = &self.read_back {
            read_back.removed_below(below);
        }
        Ok(())
    }

    /// Records the first failure, wakes all waiters, and returns the error.
    fn poison(&self, error: LogError) -> LogError {
        let mut state = self.state.borrow_mut();
        let first = state.failed.get_or_insert(error).clone();
        drop(state);
        self.changed.notify_all();
        first
    }
}

/// The header of the generation that continues a stream after `end`.
const fn first_header(
    identity: &LogIdentity,
    segment_size: SegmentSize,
    end: &LogEnd,
    created: LogTime,
) -> LogHeader {
    LogHeader {
        generation: end.generation.next(),
        segment_size,
        page_size: identity.page_size,
        created,
        previous_created: end.created,
        signature: identity.signature,
        database: identity.database,
        checkpoint: end.checkpoint,
        previous_last: end.last_segment,
        resumed: true,
        previous_checksum: end.sum,
    }
}

/// Puts a header on the formatted next file and renames current to closed, next to current. The
/// renames may begin only when the header is durable: between them, it identifies the next file.
/// Returns the header's share of the new generation's checksum.
async fn install(
    folder: &LogFolder,
    device: &dyn Device,
    header: &LogHeader,
    closed: Generation,
) -> Result<u64, LogError> {
    let bytes = header.encode();
    let buffer = device::Buffer::copy_of(&bytes);
    let write = Request::write(Purpose::Log, 0, buffer, Durability::Durable);
    device.submit(write).await.into_buffer()?;
    let names = &folder.names;
    if folder.has(&names.current()).await? {
        let closed = names.closed(closed);
        folder.volume.rename(&names.current(), &closed).await?;
    }
    folder.volume.rename(&names.next(), &names.current()).await?;
    Ok(accumulate(0, header_share(&bytes)))
}

/// Finds an existing log file, other than the next one, which contains no records.
async fn first_log_file(folder: &LogFolder) -> Result<Option<String>, LogError> {
    let names = &folder.names;
    let files = folder.volume.list().await?;
    let mut found = files.into_iter().map(|entry| entry.name);
    Ok(found.find(|name| *name == names.current() || names.closed_generation(name).is_some()))
}
