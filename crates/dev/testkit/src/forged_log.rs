//! Builds log files of the real engine from records: for record types and damage that no sample
//! file contains, and for logs of any length.

mod records;

use ese::checksum;
use ese::{Lgpos, LogTime};
use units::{Generation, PageNumber};

pub use records::{PageChange, begin, begin_nested, commit, commit_nested, roll_back};

/// Bytes of a segment.
pub const SEGMENT: usize = 4096;
/// Bytes in front of a segment's records.
const SEGMENT_HEADER: usize = 40;
/// Segments of a file: the first is the header, the last holds no records.
const SEGMENTS: usize = 256;
/// Offsets in the header.
const CREATED: std::ops::Range<usize> = 16..24;
const PREVIOUS_CREATED: std::ops::Range<usize> = 24..32;
const PREVIOUS_CHECKSUM: std::ops::Range<usize> = 653..661;
const ATTACHMENTS: usize = 671;

/// A log file of one generation.
pub struct ForgedLog {
    /// The whole file, 1 MiB.
    pub bytes: Vec<u8>,
    generation: u32,
    segment: usize,
    at: usize,
}

impl ForgedLog {
    /// A file without records, with a valid header.
    pub fn new(generation: u32) -> Self {
        let mut bytes = vec![0; SEGMENTS * SEGMENT];
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
            bytes[at..at + field.len()].copy_from_slice(field);
        }
        bytes[CREATED].copy_from_slice(&created(generation));
        if generation > 1 {
            bytes[PREVIOUS_CREATED].copy_from_slice(&created(generation - 1));
        }
        seal_header(&mut bytes);
        Self { bytes, generation, segment: 1, at: SEGMENT_HEADER }
    }

    /// Records the checksum of the previous generation in the header.
    pub fn follows(&mut self, checksum: u64) {
        self.bytes[PREVIOUS_CHECKSUM].copy_from_slice(&checksum.to_le_bytes());
        seal_header(&mut self.bytes);
    }

    /// Records in the header that the database without a signature is attached under this number.
    pub fn attaches(&mut self, database: u8) {
        self.bytes[ATTACHMENTS] = database;
        seal_header(&mut self.bytes);
    }

    /// Appends a record, in the next segment if it does not fit in the current one. Returns `false`
    /// and changes nothing if the file is full.
    pub fn push(&mut self, record: &[u8]) -> bool {
        if self.at + record.len() > SEGMENT {
            if self.segment + 2 >= SEGMENTS {
                return false;
            }
            self.close();
        }
        self.add(record);
        true
    }

    /// Appends bytes to the current segment, which must have room for them.
    pub fn add(&mut self, bytes: &[u8]) {
        let start = self.segment * SEGMENT + self.at;
        self.bytes[start..start + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }

    /// Seals the current segment and continues in the next one.
    pub fn close(&mut self) {
        seal(&mut self.bytes, self.generation, self.segment);
        self.segment += 1;
        self.at = SEGMENT_HEADER;
    }

    /// The bytes of a segment.
    pub fn segment(&mut self, index: usize) -> &mut [u8] {
        &mut self.bytes[index * SEGMENT..(index + 1) * SEGMENT]
    }
}

/// Creation time of the file of a generation.
fn created(generation: u32) -> [u8; 8] {
    LogTime::from_unix_millis(1_700_000_000_000 + u64::from(generation)).encode()
}

/// Writes the position and checksum of segment `index` of the file in `bytes`.
pub fn seal(bytes: &mut [u8], generation: u32, index: usize) {
    let segment = u16::try_from(index).expect("a file has 256 segments");
    let place = Lgpos { generation: Generation(generation), segment, byte: 0 };
    let bytes = &mut bytes[index * SEGMENT..(index + 1) * SEGMENT];
    bytes[8..16].copy_from_slice(&place.encode());
    bytes[36..40].copy_from_slice(&0x2000_u32.to_le_bytes());
    checksum::store(bytes, PageNumber(u32::from(segment)));
}

/// Writes the checksum of the header of the file in `bytes`.
pub(crate) fn seal_header(bytes: &mut [u8]) {
    let (words, _) = bytes[..SEGMENT].as_chunks::<4>();
    let words = words.iter().skip(1).map(|word| u32::from_le_bytes(*word));
    let sum = words.fold(0x89AB_CDEF, |sum, word| sum ^ word);
    bytes[..4].copy_from_slice(&sum.to_le_bytes());
}
