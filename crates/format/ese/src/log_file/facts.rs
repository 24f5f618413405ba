//! Header contents of log files and checkpoint files, those of real engines and ours alike.
//!
//! They are for display, not for replay.

use units::Generation;

use super::attachment::{Attachment, attachments};
use super::parameters::RunParameters;
use super::segment::{segment_checksum, stored_checksum};
use super::{
    FILE_TYPE_CHECKPOINT, FILE_TYPE_LOG, LOG_HEADER_BYTES, LogFileError, SegmentSize, check_header,
    checkpoint, log,
};
use crate::bytes::{array_at, u16_at, u32_at, u64_at};
use crate::flag_names::set_names;
use crate::lgpos::Lgpos;
use crate::log_time::LogTime;
use crate::signature::Signature;

/// Byte offsets in a log header needed only for facts.
mod more {
    pub(super) const MINOR: usize = 36;
    pub(super) const UPDATE_MAJOR: usize = 40;
    pub(super) const PARAMETERS: usize = 72;
    pub(super) const FLAGS: usize = 639;
    pub(super) const UPDATE_MINOR: usize = 648;
    pub(super) const SECTOR_SIZE: usize = 652;
    pub(super) const ENGINE: usize = 661;
    pub(super) const ATTACHMENTS: usize = 671;
}

/// Byte offsets in a checkpoint file needed only for facts.
mod more_checkpoint {
    pub(super) const FULL_BACKUP_PLACE: usize = 4;
    pub(super) const PARAMETERS: usize = 48;
    pub(super) const FULL_BACKUP: usize = 615;
    pub(super) const INCREMENTAL_BACKUP: usize = 631;
    pub(super) const CONSISTENCY: usize = 648;
    pub(super) const ATTACHMENTS: usize = 679;
}

/// Contents of a log file's header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFacts {
    /// Number of the file within the stream.
    pub generation: Generation,
    /// Version of the format: major, minor, update major, update minor. Major 8 is current ESE, 7
    /// is Windows 7 and earlier; 0x504C is this project's.
    pub version: [u32; 4],
    /// Version of the engine that wrote it; 0 if not stated.
    pub engine_version: u32,
    /// Creation time of the file.
    pub created: LogTime,
    /// Creation time of the previous file.
    pub previous_created: LogTime,
    /// The stream that the file belongs to.
    pub signature: Signature,
    /// Bytes per segment, segments in the file, and segments in its header.
    pub segments: [u16; 3],
    /// Page size of the databases in bytes; 0 means 4096.
    pub page_bytes: u16,
    /// How the instance was set up. This project's logs store other facts there.
    pub parameters: RunParameters,
    /// Flags; see [`flag_names`](Self::flag_names).
    pub flags: u8,
    /// Code for the disk's sector size if it differs from the segment size; 0 if it does not.
    pub sector_size: u8,
    /// The checkpoint when the file came into use.
    pub checkpoint: Lgpos,
    /// Checksum over the segments of the previous generation; 0 if there is none.
    pub previous_checksum: u64,
    /// Databases attached when the file came into use.
    pub attachments: Vec<Attachment>,
}

/// Flags of a log file, with their names.
const LOG_FLAG_NAMES: [(u32, &str); 3] = [
    // Kept for when the volume is full.
    (1, "reserve"),
    // Log files below the checkpoint are removed.
    (2, "circular"),
    // Circular logging was on at some time in this stream.
    (4, "circular-before"),
];

impl LogFacts {
    /// The header at the beginning of a file.
    pub fn decode(bytes: &[u8; LOG_HEADER_BYTES]) -> Result<Self, LogFileError> {
        check_header(bytes, FILE_TYPE_LOG, log::FILE_TYPE)?;
        let version = [log::VERSION, more::MINOR, more::UPDATE_MAJOR, more::UPDATE_MINOR];
        let segments = [log::BYTES_PER_SEGMENT, log::SEGMENTS, log::HEADER_SEGMENTS];
        Ok(Self {
            generation: Generation(u32_at(bytes, log::GENERATION)),
            version: version.map(|at| u32_at(bytes, at)),
            engine_version: u32_at(bytes, more::ENGINE),
            created: LogTime::decode(array_at(bytes, log::CREATED)),
            previous_created: LogTime::decode(array_at(bytes, log::PREVIOUS_CREATED)),
            signature: Signature::decode(array_at(bytes, log::SIGNATURE)),
            segments: segments.map(|at| u16_at(bytes, at)),
            page_bytes: u16_at(bytes, log::PAGE_BYTES),
            parameters: RunParameters::decode(&bytes[more::PARAMETERS..]),
            flags: bytes[more::FLAGS],
            sector_size: bytes[more::SECTOR_SIZE],
            checkpoint: Lgpos::decode(array_at(bytes, log::CHECKPOINT)),
            previous_checksum: u64_at(bytes, log::PREVIOUS_CHECKSUM),
            attachments: attachments(&bytes[more::ATTACHMENTS..]),
        })
    }

    /// The names of its flags.
    pub fn flag_names(&self) -> Vec<&'static str> {
        set_names(self.flags.into(), &LOG_FLAG_NAMES)
    }

    /// The first segment of the whole file that is neither sound nor unwritten. `None` if there is
    /// none, or if segments are not 4 KiB long, which are not judged.
    pub fn bad_segment(&self, file: &[u8]) -> Option<u16> {
        let [bytes, _, header] = self.segments;
        if usize::from(bytes) != SegmentSize::Bytes4096.bytes() {
            return None;
        }
        let segments = (0_u16..).zip(file.chunks_exact(usize::from(bytes)));
        let mut behind = segments.skip(usize::from(header));
        behind.find(|(index, segment)| !is_sound(segment, *index)).map(|(index, _)| index)
    }

    /// Whether bytes claim to be a log file's header, damaged or not: by the file type, or by
    /// geometry and version if the file type is damaged.
    pub fn is_claimed_by(bytes: &[u8; LOG_HEADER_BYTES]) -> bool {
        let geometry = (u16_at(bytes, log::BYTES_PER_SEGMENT), u32_at(bytes, log::VERSION));
        u32_at(bytes, log::FILE_TYPE) == FILE_TYPE_LOG || geometry == (4096, 8)
    }
}

fn is_sound(segment: &[u8], index: u16) -> bool {
    let is_unwritten = segment.iter().all(|byte| *byte == segment[0]);
    is_unwritten || stored_checksum(segment) == segment_checksum(segment, index)
}

/// Contents of one copy of a checkpoint file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointFacts {
    /// Start of redo.
    pub place: Lgpos,
    /// The stream that the checkpoint belongs to.
    pub signature: Signature,
    /// Start of a restore of the last full backup.
    pub full_backup_place: Lgpos,
    /// Position and time of the last full backup.
    pub full_backup: (Lgpos, LogTime),
    /// Position and time of the last incremental backup.
    pub incremental_backup: (Lgpos, LogTime),
    /// How the instance was set up.
    pub parameters: RunParameters,
    /// Position up to which databases are consistent.
    pub consistency: Lgpos,
    /// Databases that are attached.
    pub attachments: Vec<Attachment>,
}

impl CheckpointFacts {
    /// One copy's bytes.
    pub fn decode(bytes: &[u8; LOG_HEADER_BYTES]) -> Result<Self, LogFileError> {
        check_header(bytes, FILE_TYPE_CHECKPOINT, checkpoint::FILE_TYPE)?;
        Ok(Self {
            place: place(bytes, checkpoint::PLACE),
            signature: Signature::decode(array_at(bytes, checkpoint::SIGNATURE)),
            full_backup_place: place(bytes, more_checkpoint::FULL_BACKUP_PLACE),
            full_backup: backup(bytes, more_checkpoint::FULL_BACKUP),
            incremental_backup: backup(bytes, more_checkpoint::INCREMENTAL_BACKUP),
            parameters: RunParameters::decode(&bytes[more_checkpoint::PARAMETERS..]),
            consistency: place(bytes, more_checkpoint::CONSISTENCY),
            attachments: attachments(&bytes[more_checkpoint::ATTACHMENTS..]),
        })
    }

    /// Whether bytes claim to be a checkpoint, damaged or not.
    pub fn is_claimed_by(bytes: &[u8; LOG_HEADER_BYTES]) -> bool {
        u32_at(bytes, checkpoint::FILE_TYPE) == FILE_TYPE_CHECKPOINT
    }
}

fn place(bytes: &[u8], at: usize) -> Lgpos {
    Lgpos::decode(array_at(bytes, at))
}

/// Position and time of a backup.
fn backup(bytes: &[u8], at: usize) -> (Lgpos, LogTime) {
    (place(bytes, at), LogTime::decode(array_at(bytes, at + 8)))
}
