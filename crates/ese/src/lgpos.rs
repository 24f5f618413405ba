//! Places in the log, which order everything that happened to a database.

use std::fmt;

use units::Generation;

use crate::bytes::{u16_at, u32_at};

/// Bytes of a segment, of a log header and of one copy of a checkpoint.
pub const SEGMENT_BYTES: usize = 4096;
/// Segments of a log file, its header among them.
pub const SEGMENTS_PER_FILE: u16 = 256;

/// A byte in the log: generation, 4 KiB segment of its file, byte of the segment. All zero means
/// "none".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lgpos {
    /// The log file.
    pub generation: Generation,
    /// The segment of the file; segment 0 is its header.
    pub segment: u16,
    /// The byte of the segment.
    pub byte: u16,
}

impl Lgpos {
    /// No place: never logged.
    pub const NONE: Self = Self {
        generation: Generation(0),
        segment: 0,
        byte: 0,
    };
    /// Bytes of a stored place.
    pub const BYTES: usize = 8;

    /// Reads a place stored at `offset` of `bytes`.
    pub(crate) fn read(bytes: &[u8], offset: usize) -> Self {
        Self {
            byte: u16_at(bytes, offset),
            segment: u16_at(bytes, offset + 2),
            generation: Generation(u32_at(bytes, offset + 4)),
        }
    }

    /// A stored place.
    pub fn decode(bytes: [u8; Self::BYTES]) -> Self {
        Self::read(&bytes, 0)
    }

    /// As it is stored: byte, segment, generation.
    pub fn encode(self) -> [u8; Self::BYTES] {
        let low = u64::from(self.byte) | u64::from(self.segment) << 16;
        (low | u64::from(self.generation.0) << 32).to_le_bytes()
    }

    /// How many bytes of log lie between an earlier place and this one; 0 where it is not earlier.
    pub fn bytes_since(self, earlier: Self) -> u64 {
        self.bytes().saturating_sub(earlier.bytes())
    }

    /// The place so many whole segments before this one that they make `bytes` at most; none where
    /// the log begins later.
    #[must_use]
    pub fn segments_before(self, bytes: u64) -> Self {
        let place = self.segments().saturating_sub(bytes / SEGMENT_BYTES as u64);
        let per_file = u64::from(SEGMENTS_PER_FILE);
        Self {
            generation: Generation(u32::try_from(place / per_file).unwrap_or(0)),
            segment: u16::try_from(place % per_file).unwrap_or(0),
            byte: 0,
        }
    }

    /// Segments from the beginning of all log to the one that this place lies in.
    fn segments(self) -> u64 {
        u64::from(self.generation.0) * u64::from(SEGMENTS_PER_FILE) + u64::from(self.segment)
    }

    /// Bytes from the beginning of all log to this place.
    fn bytes(self) -> u64 {
        self.segments() * SEGMENT_BYTES as u64 + u64::from(self.byte)
    }

    /// Whether this is a place at all.
    pub fn is_some(self) -> bool {
        self != Self::NONE
    }
}

impl fmt::Display for Lgpos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:08X}:{:04X}:{:04X}",
            self.generation.0, self.segment, self.byte
        )
    }
}

#[cfg(test)]
mod tests {
    use super::Lgpos;
    use units::Generation;

    #[test]
    fn stored_byte_first_and_ordered_generation_first() {
        let place = Lgpos {
            generation: Generation(0x0A0B_0C0D),
            segment: 0x0102,
            byte: 0x0304,
        };
        assert_eq!(
            place.encode(),
            [0x04, 0x03, 0x02, 0x01, 0x0D, 0x0C, 0x0B, 0x0A]
        );
        assert_eq!(Lgpos::decode(place.encode()), place);
        let later = Lgpos {
            generation: Generation(0x0A0B_0C0E),
            segment: 0,
            byte: 0,
        };
        assert!(later > place && place > Lgpos::NONE);
        assert_eq!(place.to_string(), "0A0B0C0D:0102:0304");
    }

    #[test]
    fn places_and_distances_agree() {
        let tip = Lgpos {
            generation: Generation(30),
            segment: 5,
            byte: 0,
        };
        let before = tip.segments_before(20 << 20);
        let generation = Generation(10);
        assert_eq!(before, Lgpos { generation, ..tip });
        assert_eq!(tip.bytes_since(before), 20 << 20);
        assert_eq!(before.bytes_since(tip), 0);
        assert_eq!(tip.segments_before(u64::MAX), Lgpos::NONE);
        let byte = 7;
        assert_eq!(Lgpos { byte, ..tip }.bytes_since(before), (20 << 20) + 7);
    }

    #[test]
    fn log_between_two_places_counts_segments_and_files() {
        let place = |generation, segment, byte| Lgpos {
            generation: Generation(generation),
            segment,
            byte,
        };
        assert_eq!(place(3, 6, 90).bytes_since(place(3, 5, 100)), 4086);
        assert_eq!(place(4, 1, 0).bytes_since(place(3, 255, 0)), 8192);
        assert_eq!(place(3, 255, 0).bytes_since(place(4, 1, 0)), 0);
    }
}
