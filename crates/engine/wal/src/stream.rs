//! The identity of a log stream, where its files are, and how it is written.

use std::rc::Rc;

use device::{Buffer, Device, OpenMode, Purpose, Request, Runtime, Volume};
use ese::log_file::{LOG_HEADER_BYTES, LogHeader, SegmentSize};
use ese::page::PageSize;
use ese::{LogTime, Signature};
use units::Bytes;

use crate::{LogError, LogNames};

/// Identity in the header of every file of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogIdentity {
    /// Page size of the database.
    pub page_size: PageSize,
    /// The stream.
    pub signature: Signature,
    /// The database whose changes the stream holds.
    pub database: Signature,
}

/// Location of a stream's files. Cheap to clone.
#[derive(Clone)]
pub struct LogFolder {
    /// The folder.
    pub(crate) volume: Rc<dyn Volume>,
    /// The names in it.
    pub(crate) names: LogNames,
}

/// How the log is buffered and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogSettings {
    /// Segment size. `None`: 512 bytes if the device's logical and physical sectors are no longer,
    /// else 4 KiB.
    pub segment_size: Option<SegmentSize>,
    /// Appends should wait ([`Log::throttle`](crate::Log::throttle)) while more than this many
    /// bytes are neither written nor in flight.
    pub buffer: Bytes,
    /// Complete segments are written without a flush request once this many bytes wait.
    pub write_behind: Bytes,
    /// Longest single write.
    pub longest_write: Bytes,
    /// Length of the writes that format the next file, a power of two from 4 KiB to 1 MiB.
    pub format_chunk: Bytes,
    /// Whether generations below the checkpoint are removed.
    pub circular: bool,
    /// Further copies of the database that read every closed file.
    pub copies: u32,
    /// Whether closed files are read back and compared with the data written.
    pub read_back: bool,
}

impl Default for LogSettings {
    fn default() -> Self {
        Self {
            segment_size: None,
            buffer: Bytes::from_mib(2),
            write_behind: Bytes::from_kib(512),
            longest_write: Bytes::from_kib(512),
            format_chunk: Bytes::from_kib(256),
            circular: true,
            copies: 0,
            read_back: false,
        }
    }
}

impl LogSettings {
    /// Segment size for a file on `device`.
    ///
    /// The automatic choice never writes part of a physical sector: the disk would have to read,
    /// modify and write the whole sector, and a power failure meanwhile would destroy acknowledged
    /// data of other writes in it.
    pub(crate) fn segment_size_on(&self, device: &dyn Device) -> Result<SegmentSize, LogError> {
        let (caps, short) = (device.caps(), SegmentSize::Bytes512);
        match self.segment_size {
            Some(size) if size.bytes() < caps.sector as usize => {
                Err(LogError::SectorTooLong { file: device.name().to_owned(), sector: caps.sector })
            }
            Some(size) => Ok(size),
            None if caps.sector.max(caps.physical_sector) as usize <= short.bytes() => Ok(short),
            None => Ok(SegmentSize::Bytes4096),
        }
    }
}

impl LogFolder {
    /// The stream of base name `base`, such as `E00`, in a folder.
    pub fn new(volume: Rc<dyn Volume>, base: &str) -> Self {
        Self { volume, names: LogNames::new(base) }
    }

    /// The folder's name as errors print it.
    pub fn name(&self) -> &str {
        self.volume.name()
    }

    /// A file's name as errors print it.
    pub(crate) fn path(&self, file: &str) -> String {
        format!("{}/{file}", self.volume.name())
    }

    /// Whether a file exists.
    pub(crate) async fn has(&self, file: &str) -> Result<bool, LogError> {
        let files = self.volume.list().await?;
        Ok(files.iter().any(|entry| entry.name == file))
    }

    /// Removes a file if it exists.
    pub(crate) async fn remove_if_there(&self, file: &str) -> Result<(), LogError> {
        if self.has(file).await? {
            self.volume.remove(file).await?;
        }
        Ok(())
    }

    /// The header of a log file.
    pub(crate) async fn header(&self, file: &str) -> Result<LogHeader, LogError> {
        let device = self.volume.open(file, OpenMode::ReadOnly).await?;
        let bytes = read(&*device, Purpose::LogRead, 0, LOG_HEADER_BYTES).await?;
        let bytes = bytes.first_chunk().expect("invariant: the whole header was read");
        LogHeader::decode(bytes)
            .map_err(|problem| LogError::Header { file: self.path(file), problem })
    }
}

/// Reads `length` bytes.
pub(crate) async fn read(
    device: &dyn Device,
    purpose: Purpose,
    offset: u64,
    length: usize,
) -> Result<Buffer, LogError> {
    let outcome = device.submit(Request::read(purpose, offset, length)).await;
    Ok(outcome.into_buffer()?)
}

/// The calendar time now.
pub(crate) fn calendar(runtime: &Runtime) -> LogTime {
    let clock = runtime.clock();
    LogTime::from_unix_millis((clock.epoch() + clock.now()).0 / 1_000_000)
}
