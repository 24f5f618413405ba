//! Mismatches found by reading files back: a write was acknowledged but is missing.

use std::fmt;

use device::{Device, DeviceError, Purpose, Request};
use units::Generation;

/// A file whose content differs from the acknowledged writes to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAsWritten {
    /// The file.
    pub file: String,
    /// The first differing byte, or the start of the part that contains it.
    pub offset: u64,
    /// The kind of data written there.
    pub what: Written,
}

/// The write that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// Segments of a log file.
    LogSegments {
        /// Its generation.
        generation: Generation,
        /// The first one; 0 is the header of the file.
        segment: u16,
        /// Number of segments.
        segments: u16,
    },
    /// A whole log file: every segment is sound, but some are not the ones written last.
    LogGeneration {
        /// Its generation.
        generation: Generation,
    },
    /// One of the two copies of the database header.
    Header {
        /// 1 or 2.
        copy: u8,
    },
    /// The checkpoint file.
    Checkpoint,
    /// The flush map.
    FlushMap,
    /// Anything: the file cannot be read.
    Unreadable(DeviceError),
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LogSegments { generation, segment, segments } => {
                write!(f, "log generation {generation}, segment {segment}")?;
                if *segments > 1 {
                    write!(f, " and {} more", segments - 1)?;
                }
                Ok(())
            }
            Self::LogGeneration { generation } => write!(f, "log generation {generation}"),
            Self::Header { copy: 1 } => write!(f, "the first copy of the header"),
            Self::Header { .. } => write!(f, "the second copy of the header"),
            Self::Checkpoint => write!(f, "the checkpoint"),
            Self::FlushMap => write!(f, "the flush map"),
            Self::Unreadable(error) => write!(f, "cannot be read back: {error}"),
        }
    }
}

impl fmt::Display for NotAsWritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, offset, what } = self;
        if let Written::Unreadable(_) = what {
            return write!(f, "{file}: {what}");
        }
        write!(
            f,
            "{file}: {what}: what was written at byte {offset} was acknowledged and is not there; \
             replace the storage"
        )
    }
}

impl std::error::Error for NotAsWritten {}

/// Reads `written.len()` bytes of `device` from `offset`; returns the first difference, if any, or
/// the read error.
pub async fn difference(
    device: &dyn Device,
    offset: u64,
    written: &[u8],
) -> Result<Option<u64>, DeviceError> {
    let read = Request::read(Purpose::Header, offset, written.len());
    let found = device.submit(read).await.into_buffer()?;
    let differs = found.iter().zip(written).position(|(a, b)| a != b);
    Ok(differs.map(|at| offset + at as u64))
}
