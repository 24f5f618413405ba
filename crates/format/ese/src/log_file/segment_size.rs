//! Length of the segments of a log file, and everything derived from it.

/// Bytes of a log file.
pub const LOG_FILE_BYTES: u64 = 1 << 20;
/// Bytes of its header, and of one copy of a checkpoint.
pub const LOG_HEADER_BYTES: usize = 4096;

/// The unit in which a log is written: a sector of the volume, as in ESE. Every file states its
/// size in the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentSize {
    /// 512 bytes, which wastes little when many small writes are made durable.
    Bytes512,
    /// 4 KiB.
    Bytes4096,
}

impl SegmentSize {
    /// The segment size of `bytes` bytes; `None` if no segment has that length.
    pub const fn from_bytes(bytes: usize) -> Option<Self> {
        match bytes {
            512 => Some(Self::Bytes512),
            4096 => Some(Self::Bytes4096),
            _ => None,
        }
    }

    /// Bytes of a segment.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Bytes512 => 512,
            Self::Bytes4096 => 4096,
        }
    }

    /// Bytes before a segment's records. ESE's 40 would be a twelfth of a short segment, so a short
    /// header holds only the fields that recovery needs.
    pub const fn header_bytes(self) -> usize {
        match self {
            Self::Bytes512 => 12,
            Self::Bytes4096 => 40,
        }
    }

    /// Number of segments in a log file, including those of its header.
    pub const fn per_file(self) -> u16 {
        match self {
            Self::Bytes512 => 2048,
            Self::Bytes4096 => 256,
        }
    }

    /// The first segment that holds records, equal to the number of segments in the file's header.
    pub const fn first(self) -> u16 {
        match self {
            Self::Bytes512 => 8,
            Self::Bytes4096 => 1,
        }
    }

    /// Offset of a segment in its file.
    pub const fn offset(self, segment: u16) -> u64 {
        segment as u64 * self.bytes() as u64
    }
}

const fn adds_up(size: SegmentSize) -> bool {
    size.offset(size.per_file()) == LOG_FILE_BYTES
        && size.offset(size.first()) == LOG_HEADER_BYTES as u64
}

const _: () = assert!(adds_up(SegmentSize::Bytes512) && adds_up(SegmentSize::Bytes4096));
