//! Errors of a log, in words an operator can act on.

use std::fmt;

use device::DeviceError;
use ese::log_file::LogFileError;
use ese::{Lgpos, Signature};
use units::Generation;

use crate::codec::DecodeError;

/// Why the log cannot be written or read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LogError {
    /// A file operation failed.
    Device(DeviceError),
    /// An earlier write failed; nothing can be logged until the database is reopened.
    Poisoned {
        /// The first failure.
        first: Box<LogError>,
    },
    /// A header of a log or checkpoint file cannot be used.
    Header {
        /// The file.
        file: String,
        /// The problem.
        problem: LogFileError,
    },
    /// A file is not 1 MiB long.
    Length {
        /// The file.
        file: String,
        /// Its length in bytes.
        bytes: u64,
    },
    /// A file has the name or place of one generation but holds another.
    Misplaced {
        /// The file.
        file: String,
        /// The generation in its header.
        holds: Generation,
    },
    /// A file belongs to another log stream or another database.
    Foreign {
        /// The file.
        file: String,
        /// Expected signature.
        wanted: Signature,
        /// Signature found.
        found: Signature,
    },
    /// Required log files are missing.
    Missing {
        /// The log folder.
        folder: String,
        /// First and last generation that are needed.
        needed: (Generation, Generation),
        /// First and last generation found, if any.
        found: Option<(Generation, Generation)>,
        /// The first missing one.
        missing: Generation,
    },
    /// A segment that was once complete is damaged.
    BadSegment {
        /// The file.
        file: String,
        /// Its generation.
        generation: Generation,
        /// The segment.
        segment: u16,
    },
    /// The log ends before a position that is known to have been durable.
    TooShort {
        /// The log folder.
        folder: String,
        /// The position that the log must reach.
        wanted: Lgpos,
        /// The end of the log.
        end: Lgpos,
    },
    /// A generation is intact, but the next generation was written after a different one.
    PreviousChecksum {
        /// The file.
        file: String,
        /// Its generation.
        generation: Generation,
    },
    /// The segments are intact but do not form valid records.
    Framing {
        /// Position in the log.
        place: Lgpos,
    },
    /// The bytes of a record cannot be decoded.
    Record {
        /// Start of the record.
        place: Lgpos,
        /// The problem.
        problem: DecodeError,
    },
    /// The requested segments are shorter than the storage's smallest write.
    SectorTooLong {
        /// The file.
        file: String,
        /// Smallest write of the storage, in bytes.
        sector: u32,
    },
    /// A log stream already exists where a new one should be created.
    Exists {
        /// The log folder.
        folder: String,
        /// A file of the existing stream.
        file: String,
    },
}

impl LogError {
    /// Whether the storage is at fault: data once durable is missing or altered. Files that are
    /// missing or belong elsewhere may have been moved instead.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::BadSegment { .. }
            | Self::PreviousChecksum { .. }
            | Self::TooShort { .. }
            | Self::Length { .. }
            | Self::Header { problem: LogFileError::Checksum, .. } => true,
            Self::Device(error) => matches!(error, DeviceError::Io { .. }),
            Self::Poisoned { first } => first.is_damage(),
            _ => false,
        }
    }
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Device(error) => error.fmt(f),
            Self::Poisoned { first } => write!(
                f,
                "the log stopped at its first failed write ({first}); \
                 repair the storage, then open the database again"
            ),
            Self::Header { file, problem } => write!(f, "{file}: {problem}"),
            Self::Length { file, bytes } => {
                write!(f, "{file}: {bytes} bytes long instead of 1 MiB; restore it from a copy")
            }
            Self::Misplaced { file, holds } => write!(
                f,
                "{file}: holds log generation {holds}, which its name does not say; \
                 put the right file in its place"
            ),
            Self::Foreign { file, wanted, found } => write!(
                f,
                "{file}: belongs elsewhere ({found}; wanted {wanted}); \
                 move it out of the folder and bring the right log back"
            ),
            Self::Missing { folder, needed, found, missing } => {
                write_missing(f, folder, *needed, *found, *missing)
            }
            Self::BadSegment { file, generation, segment } => write!(
                f,
                "{file}: segment {segment} of log generation {generation} is damaged; \
                 restore the file from a copy"
            ),
            Self::TooShort { folder, wanted, end } => write!(
                f,
                "{folder}: the log ends at {end} and must reach to {wanted}; \
                 bring the latest log files back or restore a backup"
            ),
            Self::PreviousChecksum { file, generation } => write!(
                f,
                "{file}: log generation {generation} is not the one that the next generation \
                 follows; restore the file from a copy"
            ),
            Self::Framing { place } => write!(
                f,
                "log position {place}: segments are whole but their records are not; \
                 report this with the log file"
            ),
            Self::Record { place, problem } => {
                write!(f, "log position {place}: {problem}; report this with the log file")
            }
            Self::SectorTooLong { file, sector } => write_sector_too_long(f, file, *sector),
            Self::Exists { folder, file } => write!(
                f,
                "{folder}: holds a log already ({file}); choose another folder or base name"
            ),
        }
    }
}

fn write_sector_too_long(f: &mut fmt::Formatter<'_>, file: &str, sector: u32) -> fmt::Result {
    write!(
        f,
        "{file}: takes no writes shorter than {sector} bytes, so segments of the log cannot have \
         512; set log_segment = \"auto\""
    )
}

fn write_missing(
    f: &mut fmt::Formatter<'_>,
    folder: &str,
    (first, last): (Generation, Generation),
    found: Option<(Generation, Generation)>,
    missing: Generation,
) -> fmt::Result {
    write!(f, "{folder}: log generation {missing} is missing: ")?;
    write!(f, "{first} to {last} are needed, ")?;
    match found {
        None => write!(f, "none was found; ")?,
        Some((low, high)) => write!(f, "found {low} to {high}; ")?,
    }
    write!(f, "bring the missing files back or restore a backup")
}

impl std::error::Error for LogError {}

impl From<DeviceError> for LogError {
    fn from(error: DeviceError) -> Self {
        Self::Device(error)
    }
}
