//! Tests the log against crashes at every point, damage in every place, and its own counters.

mod damage;
mod golden;
mod read_back;
mod writing;

use std::future::Future;
use std::rc::Rc;

use device::{Executor, Latency, MemoryVolume, Runtime, VirtualReactor, VolumeImage};
use ese::log_file::SegmentSize;
use ese::page::PageSize;
use ese::{Lgpos, LogTime, Signature};
use units::{Bytes, Generation, Nanos, Prng};

use super::read_back::{LogWitness, ReadBack};
use super::{Log, LogChain, LogError, LogFolder, LogIdentity, LogReader, LogRecord, LogSettings};
use crate::edit::{ApplyRecord, PageEdit, PageEdits, TransactionId, UndoAction};
use units::PageNumber;

/// Identity of the log that the tests write.
pub(crate) fn identity() -> LogIdentity {
    LogIdentity {
        page_size: PageSize::KIB_4,
        signature: Signature::new(0x1234_5678, LogTime::from_unix_millis(1_600_000_000_000)),
        database: Signature::new(0x0BAD_CAFE, LogTime::from_unix_millis(1_600_000_000_000)),
    }
}

/// A folder in memory and tasks that run over it in virtual time.
pub(crate) struct World {
    pub executor: Executor,
    pub memory: MemoryVolume,
}

impl World {
    pub(crate) fn of(image: &VolumeImage) -> Self {
        let reactor = VirtualReactor::new();
        let latency = Latency::fixed(Nanos::from_micros(100));
        let memory = MemoryVolume::of("logs", &reactor, latency, image);
        let executor = Executor::new(reactor);
        Self { executor, memory }
    }

    pub(crate) fn folder(&self) -> LogFolder {
        LogFolder::new(Rc::new(self.memory.clone()), "E00")
    }

    pub(crate) fn run<T: 'static, F: Future<Output = T> + 'static>(
        &self,
        task: impl FnOnce(Runtime, LogFolder) -> F,
    ) -> T {
        let task = task(self.executor.runtime(), self.folder());
        self.executor.block_on(task)
    }
}

/// Continues an existing stream that was closed properly, or begins a new one.
async fn open_log(
    runtime: &Runtime,
    folder: LogFolder,
    identity: LogIdentity,
    settings: LogSettings,
) -> Result<Log, LogError> {
    let Some(chain) = LogChain::find(&folder).await? else {
        return Log::create(runtime, folder, identity, settings).await;
    };
    let signature = chain.identity().signature;
    let identity = LogIdentity { signature, ..identity };
    chain.require_identity(&identity)?;
    let end = chain.end().await?;
    Log::resume(runtime, folder, identity, settings, end).await
}

/// Picks a request from `first` on at which power fails, out of a run of `requests` requests;
/// `None` means after the last one.
pub(crate) fn any_request(prng: &mut Prng, first: u64, requests: u64) -> Option<u64> {
    let request = first + prng.below(requests + 2 - first);
    (request <= requests).then_some(request)
}

/// A record of about `bytes` bytes that resembles no other data.
pub(crate) fn record(number: u32, bytes: usize) -> LogRecord {
    let edits = PageEdits {
        page: PageNumber(number),
        dbtime_before: 1,
        edits: vec![PageEdit::External(vec![number.to_le_bytes()[0]; bytes])],
    };
    LogRecord::Apply(ApplyRecord {
        transaction: TransactionId(number),
        dbtime: u64::from(number),
        pages: vec![edits],
        undo: UndoAction::None,
    })
}

pub(crate) const fn place(generation: u32, segment: u16, byte: u16) -> Lgpos {
    Lgpos { generation: Generation(generation), segment, byte }
}

/// All records from `start` on.
pub(crate) async fn read_all(folder: LogFolder, start: Lgpos) -> Result<Vec<LogRecord>, LogError> {
    let Some(chain) = LogChain::find(&folder).await? else {
        return Ok(Vec::new());
    };
    let mut reader = LogReader::open(chain, start).await?;
    let mut records = Vec::new();
    while let Some((_, record)) = reader.next().await? {
        records.push(record);
    }
    Ok(records)
}

/// Every segment size.
pub(crate) const SIZES: [SegmentSize; 2] = [SegmentSize::Bytes512, SegmentSize::Bytes4096];

/// Settings with buffers so small that little data fills them.
pub(crate) fn small_buffers() -> LogSettings {
    LogSettings {
        segment_size: Some(SegmentSize::Bytes4096),
        buffer: Bytes::from_kib(128),
        write_behind: Bytes::from_kib(32),
        longest_write: Bytes::from_kib(64),
        ..LogSettings::default()
    }
}

/// Like [`small_buffers`], with segments of the given size.
fn small_buffers_of(size: SegmentSize) -> LogSettings {
    LogSettings { segment_size: Some(size), ..small_buffers() }
}

/// A log of `generations` full files and half of another one.
fn filled_log(generations: u32) -> (World, Vec<LogRecord>) {
    filled_log_of(SegmentSize::Bytes4096, generations)
}

/// The same with segments of `size`.
fn filled_log_of(size: SegmentSize, generations: u32) -> (World, Vec<LogRecord>) {
    let world = World::of(&VolumeImage::default());
    let records = world.run(move |runtime, folder| async move {
        let log = Log::create(&runtime, folder, identity(), small_buffers_of(size)).await.unwrap();
        let mut records = Vec::new();
        while log.tip() < place(generations + 1, size.per_file() / 2, 0) {
            let number = u32::try_from(records.len()).unwrap();
            let next = record(number, 3_000 + records.len() % 900);
            log.append(&next).unwrap();
            log.throttle().await.unwrap();
            if records.len() % 7 == 0 {
                log.flush_to(log.tip()).await.unwrap();
            }
            records.push(next);
        }
        log.flush_to(log.tip()).await.unwrap();
        log.close().await.unwrap();
        records
    });
    (world, records)
}
