//! Positions in the log, which order everything that happened to a database.

use std::fmt;

use units::Generation;

use crate::bytes::{u16_at, u32_at};
use crate::log_file::segment_size::{LOG_FILE_BYTES, SegmentSize};

/// The position of a byte in the log: generation, segment within its file, byte within the segment.
/// All zero means "none".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lgpos {
    /// The log file.
    pub generation: Generation,
    /// Segment within the file; the first ones are its header.
    pub segment: u16,
    /// The byte of the segment.
    pub byte: u16,
}

impl Lgpos {
    /// No position: never logged.
    pub const NONE: Self = Self { generation: Generation(0), segment: 0, byte: 0 };
    /// Bytes of a stored position.
    pub(crate) const BYTES: usize = 8;

    /// Reads a position stored at `offset` of `bytes`.
    pub(crate) fn read(bytes: &[u8], offset: usize) -> Self {
        Self {
            byte: u16_at(bytes, offset),
            segment: u16_at(bytes, offset + 2),
            generation: Generation(u32_at(bytes, offset + 4)),
        }
    }

    /// Decodes a stored position.
    pub fn decode(bytes: [u8; Self::BYTES]) -> Self {
        Self::read(&bytes, 0)
    }

    /// The stored form: byte, segment, generation.
    pub fn encode(self) -> [u8; Self::BYTES] {
        let low = u64::from(self.byte) | u64::from(self.segment) << 16;
        (low | u64::from(self.generation.0) << 32).to_le_bytes()
    }

    /// Bytes of log between an earlier position and this one, both of files with segments of
    /// `size`; 0 if it is not earlier. If the size has changed in between, the result is accurate
    /// to one file.
    pub fn bytes_since(self, earlier: Self, size: SegmentSize) -> u64 {
        self.bytes(size).saturating_sub(earlier.bytes(size))
    }

    /// The position that is as many whole segments before this one as fit in `bytes`; "none" if the
    /// log begins later.
    #[must_use]
    pub fn segments_before(self, bytes: u64, size: SegmentSize) -> Self {
        let segment = size.bytes() as u64;
        let place = (self.bytes(size) / segment).saturating_sub(bytes / segment);
        let per_file = u64::from(size.per_file());
        Self {
            generation: Generation(u32::try_from(place / per_file).unwrap_or(0)),
            segment: u16::try_from(place % per_file).unwrap_or(0),
            byte: 0,
        }
    }

    /// Bytes from the beginning of the log stream to this position.
    fn bytes(self, size: SegmentSize) -> u64 {
        let within = size.offset(self.segment) + u64::from(self.byte);
        u64::from(self.generation.0) * LOG_FILE_BYTES + within.min(LOG_FILE_BYTES)
    }

    /// Whether this is a position rather than "none".
    pub fn is_some(self) -> bool {
        self != Self::NONE
    }
}

impl fmt::Display for Lgpos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08X}:{:04X}:{:04X}", self.generation.0, self.segment, self.byte)
    }
}

#[cfg(test)]
mod tests {
    use super::Lgpos;
    use crate::log_file::SegmentSize;
    use units::Generation;

    #[test]
    fn stored_byte_first_and_ordered_generation_first() {
        let place = Lgpos { generation: Generation(0x0A0B_0C0D), segment: 0x0102, byte: 0x0304 };
        assert_eq!(place.encode(), [0x04, 0x03, 0x02, 0x01, 0x0D, 0x0C, 0x0B, 0x0A]);
        assert_eq!(Lgpos::decode(place.encode()), place);
        let later = Lgpos { generation: Generation(0x0A0B_0C0E), segment: 0, byte: 0 };
        assert!(later > place && place > Lgpos::NONE);
        assert_eq!(place.to_string(), "0A0B0C0D:0102:0304");
    }

    const SIZES: [SegmentSize; 2] = [SegmentSize::Bytes512, SegmentSize::Bytes4096];

    const fn place(generation: u32, segment: u16, byte: u16) -> Lgpos {
        Lgpos { generation: Generation(generation), segment, byte }
    }

    #[test]
    fn places_and_distances_agree() {
        for size in SIZES {
            let tip = place(30, 9, 0);
            let before = tip.segments_before(20 << 20, size);
            assert_eq!(before, place(10, 9, 0));
            assert_eq!(tip.bytes_since(before, size), 20 << 20);
            assert_eq!(before.bytes_since(tip, size), 0);
            assert_eq!(tip.segments_before(u64::MAX, size), Lgpos::NONE);
            assert_eq!(place(30, 9, 7).bytes_since(before, size), (20 << 20) + 7);
        }
    }

    #[test]
    fn log_between_two_places_counts_segments_and_files() {
        for size in SIZES {
            let (last, bytes) = (size.per_file() - 1, size.bytes() as u64);
            for (earlier, later, expected) in [
                (place(3, 15, 100), place(3, 16, 90), bytes - 10),
                (place(3, last, 0), place(4, 1, 0), 2 * bytes),
                (place(4, 1, 0), place(3, last, 0), 0),
            ] {
                assert_eq!(later.bytes_since(earlier, size), expected);
            }
        }
    }

    #[test]
    fn places_in_files_of_another_segment_size_are_right_to_a_file() {
        let (old, tip) = (place(3, 200, 0), place(4, 100, 0));
        assert!(tip.bytes_since(old, SegmentSize::Bytes512) < 2 << 20);
        let (old, tip) = (place(3, 2000, 0), place(4, 100, 0));
        assert!(tip.bytes_since(old, SegmentSize::Bytes4096) < 1 << 20);
    }
}
