//! A log file made from records, as the real engine lays them out.

use ese::checksum;
use ese::{Lgpos, LogTime};
use units::{Generation, PageNumber};

pub(crate) const SEGMENT: usize = 4096;
const HEADER: usize = 40;

/// A log file of one generation.
pub(crate) struct Forge {
    pub bytes: Vec<u8>,
    generation: u32,
    segment: usize,
    at: usize,
}

impl Forge {
    pub(crate) fn new(generation: u32) -> Self {
        let bytes = vec![0; 256 * SEGMENT];
        let mut forge = Self { bytes, generation, segment: 1, at: HEADER };
        let fields: [(usize, &[u8]); 7] = [
            (4, &generation.to_le_bytes()),
            (8, &4096_u16.to_le_bytes()),
            (10, &1_u16.to_le_bytes()),
            (12, &256_u16.to_le_bytes()),
            (32, &8_u32.to_le_bytes()),
            (36, &4000_u32.to_le_bytes()),
            (667, &3_u32.to_le_bytes()),
        ];
        for (at, field) in fields {
            forge.bytes[at..at + field.len()].copy_from_slice(field);
        }
        forge.bytes[16..24].copy_from_slice(&created(generation));
        if generation > 1 {
            forge.bytes[24..32].copy_from_slice(&created(generation - 1));
        }
        seal_header(&mut forge.bytes);
        forge
    }

    /// States the checksum of the generation before.
    pub(crate) fn follows(&mut self, checksum: u64) {
        self.bytes[653..661].copy_from_slice(&checksum.to_le_bytes());
        seal_header(&mut self.bytes);
    }

    /// Appends bytes to the segment at hand.
    pub(crate) fn add(&mut self, record: &[u8]) {
        let start = self.segment * SEGMENT + self.at;
        self.bytes[start..start + record.len()].copy_from_slice(record);
        self.at += record.len();
    }

    /// Closes the segment at hand.
    pub(crate) fn close(&mut self) {
        seal(&mut self.bytes, self.generation, self.segment);
        self.segment += 1;
        self.at = HEADER;
    }

    /// The bytes of a segment.
    pub(crate) fn segment(&mut self, index: usize) -> &mut [u8] {
        &mut self.bytes[index * SEGMENT..(index + 1) * SEGMENT]
    }
}

/// When a generation was made.
fn created(generation: u32) -> [u8; 8] {
    LogTime::from_unix_millis(1_700_000_000_000 + u64::from(generation)).encode()
}

/// Gives a segment its place and its checksum.
pub(crate) fn seal(bytes: &mut [u8], generation: u32, index: usize) {
    let place = Lgpos {
        generation: Generation(generation),
        segment: u16::try_from(index).expect("a segment"),
        byte: 0,
    };
    let segment = &mut bytes[index * SEGMENT..(index + 1) * SEGMENT];
    segment[8..16].copy_from_slice(&place.encode());
    segment[36..40].copy_from_slice(&0x2000_u32.to_le_bytes());
    checksum::store(segment, PageNumber(u32::from(place.segment)));
}

/// Gives a header its checksum.
pub(crate) fn seal_header(bytes: &mut [u8]) {
    let (words, _) = bytes[..SEGMENT].as_chunks::<4>();
    let words = words.iter().skip(1).map(|word| u32::from_le_bytes(*word));
    let sum = words.fold(0x89AB_CDEF, |sum, word| sum ^ word);
    bytes[..4].copy_from_slice(&sum.to_le_bytes());
}
