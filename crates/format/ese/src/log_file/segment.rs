//! The header of a segment: it proves that the segment is whole and belongs at this position of
//! this stream, and names the segments written together with it.

use twox_hash::XxHash3_64;
use units::{Generation, PageNumber};

use super::SegmentSize;
use crate::bytes::{array_at, put, u16_at, u32_at, u64_at};
use crate::checksum::block_checksum;
use crate::lgpos::Lgpos;
use crate::log_time::LogTime;

/// "The checksum is XOR with error-correcting code", as in page flags.
const SEGMENT_FLAGS: u32 = 0x2000;

/// Byte offsets in the header of a segment of 4 KiB (ESE `LGSEGHDR`). `FIRST` to `HASH` take bytes
/// that ESE leaves zero.
mod long {
    pub(super) const PLACE: usize = 8;
    pub(super) const STARTED: usize = 16;
    pub(super) const FIRST: usize = 24;
    pub(super) const COUNT: usize = 26;
    pub(super) const STREAM: usize = 28;
    pub(super) const HASH: usize = 32;
    pub(super) const FLAGS: usize = 36;
}

/// Byte offsets in the header of a segment of 512 bytes. Position and stream are not stored: they
/// go into the leading hash.
mod short {
    pub(super) const FIRST: usize = 8;
    pub(super) const COUNT: usize = 10;
}

/// The header of every segment except those of the file's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentHeader {
    /// The file.
    pub generation: Generation,
    /// The segment within the file.
    pub index: u16,
    /// When the file came into use; not stored in segments of 512 bytes.
    pub started: LogTime,
    /// The random part of the stream's signature.
    pub stream: u32,
    /// First segment of the write that included this one. A bad segment before that write was once
    /// complete: a crash tears only segments written together.
    pub write_first: u16,
    /// Segments of that write.
    pub write_count: u16,
}

impl SegmentHeader {
    /// Writes the header before the records of a segment and returns the segment's checksum.
    pub fn seal(&self, bytes: &mut [u8]) -> u64 {
        let sum = match size_of(bytes) {
            SegmentSize::Bytes512 => self.fill_short(bytes),
            SegmentSize::Bytes4096 => self.fill_long(bytes),
        };
        put(bytes, 0, &sum.to_le_bytes());
        sum
    }

    fn fill_short(&self, bytes: &mut [u8]) -> u64 {
        put(bytes, short::FIRST, &self.write_first.to_le_bytes());
        put(bytes, short::COUNT, &self.write_count.to_le_bytes());
        self.short_hash(bytes)
    }

    fn fill_long(&self, bytes: &mut [u8]) -> u64 {
        bytes[..SegmentSize::Bytes4096.header_bytes()].fill(0);
        put(bytes, long::PLACE, &self.place().encode());
        put(bytes, long::STARTED, &self.started.encode());
        put(bytes, long::FIRST, &self.write_first.to_le_bytes());
        put(bytes, long::COUNT, &self.write_count.to_le_bytes());
        put(bytes, long::STREAM, &self.stream.to_le_bytes());
        put(bytes, long::FLAGS, &SEGMENT_FLAGS.to_le_bytes());
        let hash = long_hash(bytes);
        put(bytes, long::HASH, &hash);
        segment_checksum(bytes, self.index)
    }

    /// The header of the segment in `bytes` if the segment is intact and belongs at exactly this
    /// position of this stream.
    pub fn open(bytes: &[u8], generation: Generation, index: u16, stream: u32) -> Option<Self> {
        match size_of(bytes) {
            SegmentSize::Bytes512 => Self::open_short(bytes, generation, index, stream),
            SegmentSize::Bytes4096 => Self::open_long(bytes, generation, index, stream),
        }
    }

    fn open_short(bytes: &[u8], generation: Generation, index: u16, stream: u32) -> Option<Self> {
        let header = Self {
            generation,
            index,
            started: LogTime::NEVER,
            stream,
            write_first: u16_at(bytes, short::FIRST),
            write_count: u16_at(bytes, short::COUNT),
        };
        (stored_checksum(bytes) == header.short_hash(bytes)).then_some(header)
    }

    fn open_long(bytes: &[u8], generation: Generation, index: u16, stream: u32) -> Option<Self> {
        let place = Lgpos::decode(array_at(bytes, long::PLACE));
        let header = Self {
            generation: place.generation,
            index: place.segment,
            started: LogTime::decode(array_at(bytes, long::STARTED)),
            stream: u32_at(bytes, long::STREAM),
            write_first: u16_at(bytes, long::FIRST),
            write_count: u16_at(bytes, long::COUNT),
        };
        let belongs =
            (header.generation, header.index, header.stream) == (generation, index, stream);
        let whole = stored_checksum(bytes) == segment_checksum(bytes, index)
            && array_at(bytes, long::HASH) == long_hash(bytes);
        (belongs && whole).then_some(header)
    }

    const fn place(&self) -> Lgpos {
        Lgpos { generation: self.generation, segment: self.index, byte: 0 }
    }

    /// A strong hash of a segment of 512 bytes and of its position.
    fn short_hash(&self, bytes: &[u8]) -> u64 {
        let place = u64::from_le_bytes(self.place().encode());
        let seed = place ^ u64::from(self.stream).rotate_left(32);
        XxHash3_64::oneshot_with_seed(seed, &bytes[short::FIRST..])
    }
}

fn size_of(bytes: &[u8]) -> SegmentSize {
    SegmentSize::from_bytes(bytes.len()).expect("invariant: segments are sealed and opened whole")
}

/// A strong hash of a segment's records and of the header fields that give its position.
///
/// ESE's checksum is linear, and anything that repeats at power-of-two intervals cancels out: a
/// torn-off sector of zeros, or of one repeated byte, leaves it unchanged.
fn long_hash(bytes: &[u8]) -> [u8; 4] {
    let seed = u64_at(bytes, long::PLACE) ^ u64_at(bytes, long::FIRST).rotate_left(32);
    let records = &bytes[SegmentSize::Bytes4096.header_bytes()..];
    let hash = XxHash3_64::oneshot_with_seed(seed, records);
    (hash >> 32 ^ hash & 0xFFFF_FFFF).to_le_bytes()[..4]
        .try_into()
        .expect("invariant: four bytes of eight")
}

/// The checksum of segment `index`, computed like that of a 4 KiB page with the index as its
/// number.
pub(super) fn segment_checksum(bytes: &[u8], index: u16) -> u64 {
    block_checksum(bytes, true, PageNumber(u32::from(index)))
}

/// The checksum stored in a segment.
pub fn stored_checksum(bytes: &[u8]) -> u64 {
    u64_at(bytes, 0)
}
