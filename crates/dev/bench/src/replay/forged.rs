//! Logs in the format of the real engine: transactions that replace rows.

use std::collections::HashMap;

use ese::{Lgpos, checksum};
use units::{Generation, PageNumber, Prng};

use super::pages::{OBJECT, PAGES, ROW_BYTES, ROWS};

const SEGMENT: usize = 4096;
const SEGMENT_HEADER: usize = 40;
/// Segments with records: the first is the header, the last stays empty.
const SEGMENTS: std::ops::Range<u16> = 1..255;
/// Changes of one transaction.
const CHANGES: u64 = 8;

/// The state from which a log continues.
#[derive(Default)]
pub(super) struct ForgedLog {
    dbtime: u64,
    of_page: HashMap<u32, u64>,
    version: u32,
    /// Changes of the present transaction.
    changes: u64,
}

impl ForgedLog {
    /// The bytes of the next generation.
    pub(super) fn generation(&mut self, generation: u32, random: &mut Prng) -> Vec<u8> {
        let mut bytes = vec![0; 256 * SEGMENT];
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
        let (words, _) = bytes[..SEGMENT].as_chunks::<4>();
        let words = words.iter().skip(1).map(|word| u32::from_le_bytes(*word));
        let sum = words.fold(0x89AB_CDEF, |sum, word| sum ^ word);
        bytes[..4].copy_from_slice(&sum.to_le_bytes());
        for index in SEGMENTS {
            let start = usize::from(index) * SEGMENT;
            self.segment(&mut bytes[start..start + SEGMENT], random);
            let place = Lgpos { generation: Generation(generation), segment: index, byte: 0 };
            bytes[start + 8..start + 16].copy_from_slice(&place.encode());
            bytes[start + 36..start + 40].copy_from_slice(&0x2000_u32.to_le_bytes());
            checksum::store(&mut bytes[start..start + SEGMENT], PageNumber(u32::from(index)));
        }
        bytes
    }

    /// Fills a segment with whole records.
    fn segment(&mut self, segment: &mut [u8], random: &mut Prng) {
        let mut at = SEGMENT_HEADER;
        loop {
            let record = self.record(random);
            if at + record.len() > SEGMENT {
                return;
            }
            segment[at..at + record.len()].copy_from_slice(&record);
            at += record.len();
            self.advance(&record);
        }
    }

    /// The next record, which has no effect before [`Self::advance`].
    fn record(&self, random: &mut Prng) -> Vec<u8> {
        match self.changes {
            0 => vec![8, 1, 0, 0x10, 7, 0, 0, 0],
            changes if changes > CHANGES => vec![9, 1, 0, 0, 8, 0, 0, 0],
            _ => self.replace(random),
        }
    }

    fn replace(&self, random: &mut Prng) -> Vec<u8> {
        let page = 1 + u32::try_from(random.below(u64::from(PAGES))).unwrap_or_default();
        let line = u16::try_from(random.below(u64::from(ROWS))).unwrap_or_default();
        let before = self.of_page.get(&page).copied().unwrap_or(1);
        let after = self.dbtime.max(1) + 1;
        let length = u16::try_from(ROW_BYTES).unwrap_or_default().to_le_bytes();
        let mut record = vec![33, 1, 0, 1];
        record.extend(page.to_le_bytes());
        record.extend(after.to_le_bytes());
        record.extend(before.to_le_bytes());
        record.extend([7, 0, 0, 0, 1]);
        record.extend(line.to_le_bytes());
        record.push(5);
        record.extend((self.version + 2).to_le_bytes());
        record.extend(page.to_le_bytes());
        record.extend(OBJECT.to_le_bytes());
        record.extend([length, length, length].concat());
        let data = record.len();
        record.resize(data + ROW_BYTES, 0);
        random.fill(&mut record[data..]);
        record
    }

    fn advance(&mut self, record: &[u8]) {
        self.changes = match record.first() {
            Some(33) => {
                self.dbtime = self.dbtime.max(1) + 1;
                self.version += 2;
                let page = [record[4], record[5], record[6], record[7]];
                self.of_page.insert(u32::from_le_bytes(page), self.dbtime);
                self.changes + 1
            }
            Some(9) => 0,
            _ => 1,
        };
    }
}
