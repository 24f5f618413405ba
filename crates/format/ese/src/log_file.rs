//! Log files and checkpoint files: the envelope is ESE's, for the same I/O pattern; the records
//! inside are ours, under a version that no ESE replays.
//!
//! A log file is 1 MiB in segments of 4 KiB or of 512 bytes. The first 4 KiB are the file header;
//! every later segment begins with its own header and is written once, whole. The checkpoint file
//! is two copies of 4 KiB.

use std::fmt;

use units::Generation;

use crate::bytes::{array_at, put, u16_at, u32_at, u64_at};
use crate::checksum::{header_is_good, store_header};
use crate::lgpos::Lgpos;
use crate::log_time::LogTime;
use crate::page::PageSize;
use crate::signature::Signature;

mod attachment;
mod facts;
mod parameters;
mod segment;
pub(crate) mod segment_size;
#[cfg(test)]
mod tests;

pub use attachment::Attachment;
pub use facts::{CheckpointFacts, LogFacts};
pub use parameters::RunParameters;
pub use segment::{SegmentHeader, stored_checksum};
pub use segment_size::{LOG_FILE_BYTES, LOG_HEADER_BYTES, SegmentSize};

/// Major version of our logs, "PL". ESE's own is 8; it refuses any other.
pub(crate) const LOG_VERSION: u32 = 0x504C;
/// Last major version of ESE's logs with neither headers nor checksums per segment (Windows 7,
/// Exchange 2010).
const LAST_WITHOUT_CHECKSUMS: u32 = 7;
/// The layout of our records within that version.
pub(crate) const LOG_RECORD_VERSION: u32 = 2;
/// Bytes of a checkpoint file: two copies.
pub const CHECKPOINT_FILE_BYTES: u64 = 2 * LOG_HEADER_BYTES as u64;

/// File types at byte 667, which headers of all file kinds share.
pub(crate) const FILE_TYPE_LOG: u32 = 3;
const FILE_TYPE_CHECKPOINT: u32 = 4;

/// Byte offsets in a log header. `PREVIOUS_LAST` and `RESUMED` take the first bytes of ESE's
/// run-time parameters.
mod log {
    pub(super) const GENERATION: usize = 4;
    pub(super) const BYTES_PER_SEGMENT: usize = 8;
    pub(super) const HEADER_SEGMENTS: usize = 10;
    pub(super) const SEGMENTS: usize = 12;
    pub(super) const PAGE_BYTES: usize = 14;
    pub(super) const CREATED: usize = 16;
    pub(super) const PREVIOUS_CREATED: usize = 24;
    pub(super) const VERSION: usize = 32;
    pub(super) const RECORD_VERSION: usize = 36;
    pub(super) const SIGNATURE: usize = 44;
    pub(super) const PREVIOUS_LAST: usize = 72;
    pub(super) const RESUMED: usize = 74;
    pub(super) const CHECKPOINT: usize = 640;
    pub(super) const PREVIOUS_CHECKSUM: usize = 653;
    pub(super) const FILE_TYPE: usize = 667;
    pub(super) const DATABASE: usize = 671 + ATTACHMENT_SIGNATURE;
    /// Offset of the database's signature in an attachment.
    pub(super) const ATTACHMENT_SIGNATURE: usize = 36;
}

/// Byte offsets in a checkpoint file.
mod checkpoint {
    pub(super) const PLACE: usize = 12;
    pub(super) const SIGNATURE: usize = 20;
    pub(super) const FILE_TYPE: usize = 667;
    pub(super) const DATABASE: usize = 679 + super::log::ATTACHMENT_SIGNATURE;
}

/// Why bytes are no header of a log or checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFileError {
    /// The checksum does not fit the bytes: never written, torn or rotten.
    Checksum,
    /// The header states another file type.
    FileType(u32),
    /// The log belongs to another program or uses an earlier format; holds its major version.
    Version(u32),
    /// The records were written by a later release; holds their version.
    RecordVersion(u32),
    /// The size or number of segments is unsupported.
    Geometry,
}

impl fmt::Display for LogFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Checksum => write!(f, "its header's checksum is wrong; restore it from a copy"),
            Self::FileType(found) => write!(f, "its header is of file type {found}, another kind"),
            Self::Version(found @ ..=LAST_WITHOUT_CHECKSUMS) => write!(
                f,
                "it is in format {found}, of Windows 7, Exchange 2010 or before: only its header \
                 is read, and the engine that wrote it brings its database forward"
            ),
            Self::Version(found) => {
                write!(f, "its version is {found}: the log of another program, not of this one")
            }
            Self::RecordVersion(found) => {
                write!(f, "its records have version {found}; use the release that wrote it")
            }
            Self::Geometry => {
                write!(f, "its segments are neither 256 of 4 KiB nor 2048 of 512 bytes")
            }
        }
    }
}

impl std::error::Error for LogFileError {}

/// The header of a log file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogHeader {
    /// Number of the file within the stream.
    pub generation: Generation,
    /// Size of the file's segments.
    pub segment_size: SegmentSize,
    /// Page size of the database.
    pub page_size: PageSize,
    /// When the file came into use.
    pub created: LogTime,
    /// When the previous file came into use.
    pub previous_created: LogTime,
    /// The stream that the file belongs to.
    pub signature: Signature,
    /// The database whose changes the stream holds.
    pub database: Signature,
    /// The checkpoint when the file came into use.
    pub checkpoint: Lgpos,
    /// Last segment of the previous generation that counts: its very last one unless a crash or a
    /// close cut it short.
    pub previous_last: u16,
    /// Whether a crash or a close came between the previous generation and this one: a record left
    /// unfinished in the previous one is void.
    pub resumed: bool,
    /// [`accumulate`]d checksums of the previous generation up to `previous_last`.
    pub previous_checksum: u64,
}

impl LogHeader {
    /// The header's bytes.
    pub fn encode(&self) -> [u8; LOG_HEADER_BYTES] {
        let mut bytes = [0; LOG_HEADER_BYTES];
        put(&mut bytes, log::GENERATION, &self.generation.0.to_le_bytes());
        let [length, first, segments] = geometry(self.segment_size);
        put(&mut bytes, log::BYTES_PER_SEGMENT, &length.to_le_bytes());
        put(&mut bytes, log::HEADER_SEGMENTS, &first.to_le_bytes());
        put(&mut bytes, log::SEGMENTS, &segments.to_le_bytes());
        put(&mut bytes, log::PAGE_BYTES, &self.page_size.bytes_u32().to_le_bytes()[..2]);
        put(&mut bytes, log::CREATED, &self.created.encode());
        put(&mut bytes, log::PREVIOUS_CREATED, &self.previous_created.encode());
        put(&mut bytes, log::VERSION, &LOG_VERSION.to_le_bytes());
        put(&mut bytes, log::RECORD_VERSION, &LOG_RECORD_VERSION.to_le_bytes());
        put(&mut bytes, log::SIGNATURE, &self.signature.encode());
        put(&mut bytes, log::PREVIOUS_LAST, &self.previous_last.to_le_bytes());
        put(&mut bytes, log::RESUMED, &[u8::from(self.resumed)]);
        put(&mut bytes, log::CHECKPOINT, &self.checkpoint.encode());
        put(&mut bytes, log::PREVIOUS_CHECKSUM, &self.previous_checksum.to_le_bytes());
        put(&mut bytes, log::FILE_TYPE, &FILE_TYPE_LOG.to_le_bytes());
        put(&mut bytes, log::DATABASE, &self.database.encode());
        store_header(&mut bytes);
        bytes
    }

    /// The header at the beginning of a file.
    pub fn decode(bytes: &[u8; LOG_HEADER_BYTES]) -> Result<Self, LogFileError> {
        check_header(bytes, FILE_TYPE_LOG, log::FILE_TYPE)?;
        match (u32_at(bytes, log::VERSION), u32_at(bytes, log::RECORD_VERSION)) {
            (LOG_VERSION, LOG_RECORD_VERSION) => {}
            (LOG_VERSION, records) => return Err(LogFileError::RecordVersion(records)),
            (version, _) => return Err(LogFileError::Version(version)),
        }
        let page_size = PageSize::from_bytes(usize::from(u16_at(bytes, log::PAGE_BYTES)));
        let stated = [log::BYTES_PER_SEGMENT, log::HEADER_SEGMENTS, log::SEGMENTS];
        let stated = stated.map(|at| u16_at(bytes, at));
        let segment_size = SegmentSize::from_bytes(usize::from(stated[0]));
        let (Some(page_size), Some(segment_size)) = (page_size, segment_size) else {
            return Err(LogFileError::Geometry);
        };
        if stated != geometry(segment_size) {
            return Err(LogFileError::Geometry);
        }
        Ok(Self {
            generation: Generation(u32_at(bytes, log::GENERATION)),
            segment_size,
            page_size,
            created: LogTime::decode(array_at(bytes, log::CREATED)),
            previous_created: LogTime::decode(array_at(bytes, log::PREVIOUS_CREATED)),
            signature: Signature::decode(array_at(bytes, log::SIGNATURE)),
            database: Signature::decode(array_at(bytes, log::DATABASE)),
            checkpoint: Lgpos::decode(array_at(bytes, log::CHECKPOINT)),
            previous_last: u16_at(bytes, log::PREVIOUS_LAST),
            resumed: bytes[log::RESUMED] != 0,
            previous_checksum: u64_at(bytes, log::PREVIOUS_CHECKSUM),
        })
    }
}

/// Segment size in bytes, number of header segments, and number of segments in the file.
fn geometry(size: SegmentSize) -> [u16; 3] {
    let length = u16::try_from(size.bytes()).expect("invariant: 4 KiB at most");
    [length, size.first(), size.per_file()]
}

/// Extends the checksum of a generation by one segment. Starts from 0 with the header's.
///
/// Position matters: swapping segments changes the sum. The multiplier is 2^64 divided by the
/// golden ratio, odd, so no bit is lost.
#[must_use]
pub const fn accumulate(sum: u64, segment_checksum: u64) -> u64 {
    (sum.rotate_left(23) ^ segment_checksum).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// The contribution of a log header to the checksum of its generation.
pub fn header_share(bytes: &[u8; LOG_HEADER_BYTES]) -> u64 {
    u64::from(u32_at(bytes, 0))
}

/// One copy of the checkpoint file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Start of redo.
    pub place: Lgpos,
    /// The stream that `place` belongs to.
    pub signature: Signature,
    /// The database that needs no record before the place.
    pub database: Signature,
}

impl Checkpoint {
    /// A copy's bytes.
    pub fn encode(&self) -> [u8; LOG_HEADER_BYTES] {
        let mut bytes = [0; LOG_HEADER_BYTES];
        put(&mut bytes, checkpoint::PLACE, &self.place.encode());
        put(&mut bytes, checkpoint::SIGNATURE, &self.signature.encode());
        put(&mut bytes, checkpoint::FILE_TYPE, &FILE_TYPE_CHECKPOINT.to_le_bytes());
        put(&mut bytes, checkpoint::DATABASE, &self.database.encode());
        store_header(&mut bytes);
        bytes
    }

    /// Decodes one copy of the checkpoint file.
    pub fn decode(bytes: &[u8; LOG_HEADER_BYTES]) -> Result<Self, LogFileError> {
        check_header(bytes, FILE_TYPE_CHECKPOINT, checkpoint::FILE_TYPE)?;
        Ok(Self {
            place: Lgpos::decode(array_at(bytes, checkpoint::PLACE)),
            signature: Signature::decode(array_at(bytes, checkpoint::SIGNATURE)),
            database: Signature::decode(array_at(bytes, checkpoint::DATABASE)),
        })
    }
}

fn check_header(bytes: &[u8], file_type: u32, at: usize) -> Result<(), LogFileError> {
    if !header_is_good(bytes) {
        return Err(LogFileError::Checksum);
    }
    let found = u32_at(bytes, at);
    if found == file_type { Ok(()) } else { Err(LogFileError::FileType(found)) }
}
