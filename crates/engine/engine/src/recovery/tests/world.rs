//! A log folder in memory, and the identity and settings of the log that the tests write to it.

use std::future::Future;
use std::rc::Rc;

use device::{Executor, Latency, MemoryVolume, Runtime, VirtualReactor, VolumeImage};
use ese::log_file::SegmentSize;
use ese::page::PageSize;
use ese::{Lgpos, LogTime, Signature};
use units::{Bytes, Generation, Nanos, Prng};
use wal::{LogChain, LogError, LogFolder, LogIdentity, LogReader, LogRecord, LogSettings};

/// The first record of a log may begin here.
pub(super) const BEGIN: Lgpos = Lgpos { generation: Generation(1), segment: 1, byte: 0 };

/// Identity of the log that the tests write.
pub(super) fn identity() -> LogIdentity {
    LogIdentity {
        page_size: PageSize::KIB_4,
        signature: Signature::new(0x1234_5678, LogTime::from_unix_millis(1_600_000_000_000)),
        database: Signature::new(0x0BAD_CAFE, LogTime::from_unix_millis(1_600_000_000_000)),
    }
}

/// Settings with buffers so small that little data fills them.
pub(super) fn small_buffers() -> LogSettings {
    LogSettings {
        segment_size: Some(SegmentSize::Bytes4096),
        buffer: Bytes::from_kib(128),
        write_behind: Bytes::from_kib(32),
        longest_write: Bytes::from_kib(64),
        ..LogSettings::default()
    }
}

/// A folder in memory and tasks that run over it in virtual time.
pub(super) struct World {
    pub executor: Executor,
    pub memory: MemoryVolume,
}

impl World {
    pub(super) fn of(image: &VolumeImage) -> Self {
        let reactor = VirtualReactor::new();
        let latency = Latency::fixed(Nanos::from_micros(100));
        let memory = MemoryVolume::of("logs", &reactor, latency, image);
        let executor = Executor::new(reactor);
        Self { executor, memory }
    }

    pub(super) fn run<T: 'static, F: Future<Output = T> + 'static>(
        &self,
        task: impl FnOnce(Runtime, LogFolder) -> F,
    ) -> T {
        let folder = LogFolder::new(Rc::new(self.memory.clone()), "E00");
        let task = task(self.executor.runtime(), folder);
        self.executor.block_on(task)
    }
}

/// Picks a request from `first` on at which power fails, out of a run of `requests` requests;
/// `None` means after the last one.
pub(super) fn any_request(prng: &mut Prng, first: u64, requests: u64) -> Option<u64> {
    let request = first + prng.below(requests + 2 - first);
    (request <= requests).then_some(request)
}

/// All records from `start` on.
pub(super) async fn read_all(folder: LogFolder, start: Lgpos) -> Result<Vec<LogRecord>, LogError> {
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
