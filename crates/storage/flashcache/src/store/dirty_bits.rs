//! The dirty-region log as data: regions with writes that a crash could leave in an unknown state.
//!
//! A region is a MiB of a volume; a hash maps it to one bit of a table that is small enough to be
//! kept on flash at all times. Two regions that share a bit are dropped together, which costs
//! warmth but never correctness.

use device::{ALIGNMENT, Buffer};

use super::geometry::PAGE_BITS;
use super::index::Key;
use super::sectors::{self, SealedCopy};

const PAGE_WORDS: usize = 496;

const _: () = assert!(PAGE_WORDS as u64 * 64 == PAGE_BITS);
const _: () = assert!(PAGE_WORDS * 8 == sectors::payload_of(ALIGNMENT));

const KIND: &[u8; 8] = b"PLMDIRTY";

/// Bytes of a volume that share a bit.
const REGION_BYTES: u64 = 1 << 20;

/// The bit of a block's region, in a log of `pages`.
pub(super) fn bit_of(key: Key, block_bytes: u32, pages: u32) -> u32 {
    let region = u64::from(key.block) * u64::from(block_bytes) / REGION_BYTES;
    let hash = Key { volume: key.volume, block: u32::try_from(region).unwrap_or(u32::MAX) }.hash();
    let bits = u128::from(PAGE_BITS) * u128::from(pages);
    u32::try_from((u128::from(hash) * bits) >> 64).expect("invariant: at most two million bits")
}

/// The bits of one page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PageBits(Box<[u64]>);

impl PageBits {
    pub(super) fn none() -> Self {
        Self(vec![0; PAGE_WORDS].into_boxed_slice())
    }

    pub(super) fn all() -> Self {
        Self(vec![u64::MAX; PAGE_WORDS].into_boxed_slice())
    }

    pub(super) fn get(&self, bit: u32) -> bool {
        let (word, mask) = place(bit);
        self.0[word] & mask != 0
    }

    pub(super) fn set(&mut self, bit: u32) {
        let (word, mask) = place(bit);
        self.0[word] |= mask;
    }

    pub(super) fn clear(&mut self, bit: u32) {
        let (word, mask) = place(bit);
        self.0[word] &= !mask;
    }

    /// Keeps the bits that `other` has as well.
    pub(super) fn intersect(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word &= other;
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    pub(super) fn bits(&self) -> impl Iterator<Item = u32> {
        let limit = u32::try_from(PAGE_BITS).expect("invariant: 31,744");
        (0..limit).filter(|&bit| self.get(bit))
    }
}

const fn place(bit: u32) -> (usize, u64) {
    (bit as usize / 64, 1 << (bit % 64))
}

/// One copy of a page on flash.
pub(super) struct DirtyPage {
    pub page: u32,
    pub sequence: u64,
    pub bits: PageBits,
}

impl DirtyPage {
    pub(super) fn encode(&self, identity: &[u8; 16]) -> Buffer {
        let words: Vec<u8> = self.bits.0.iter().flat_map(|word| word.to_le_bytes()).collect();
        let tag = sectors::tag(KIND, identity, self.page);
        sectors::spread(&words, ALIGNMENT, tag, self.sequence)
    }

    /// Combines the two copies of `page`. If either is damaged, its content is unknown: every
    /// region counts as marked.
    pub(super) fn decode(copies: [&[u8]; 2], identity: &[u8; 16], page: u32) -> Self {
        let tag = sectors::tag(KIND, identity, page);
        let copies = copies.map(|block| sectors::gather(block, tag));
        let seen = copies.each_ref().map(|copy| match copy {
            SealedCopy::Whole { sequence, .. } => *sequence,
            SealedCopy::Torn | SealedCopy::Damaged => 0,
        });
        let Some((sequence, payload)) = sectors::newest(copies) else {
            // The next write overwrites the damaged copy and is newer than both.
            let sequence = seen[0].max(seen[1]) + 2;
            return Self { page, sequence, bits: PageBits::all() };
        };
        let (words, _) = payload.as_chunks();
        let words = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
        // A step of 2 leaves the next write on the same copy, but with a number that no torn write
        // of the last session has used.
        Self { page, sequence: sequence + 2, bits: PageBits(words) }
    }
}

#[cfg(test)]
mod tests {
    use super::{DirtyPage, PageBits};

    #[test]
    fn the_newer_copy_counts_and_a_damaged_one_marks_everything() {
        let mut bits = PageBits::none();
        for bit in [0, 63, 64, 31_743] {
            bits.set(bit);
        }
        let old = DirtyPage { page: 3, sequence: 8, bits: PageBits::none() }.encode(&[5; 16]);
        let new = DirtyPage { page: 3, sequence: 9, bits: bits.clone() }.encode(&[5; 16]);
        let read = DirtyPage::decode([&old, &new], &[5; 16], 3);
        assert_eq!((read.sequence, &read.bits), (11, &bits));
        assert!(read.bits.bits().eq([0, 63, 64, 31_743]));
        let other = DirtyPage::decode([&old, &new], &[6; 16], 3);
        assert_eq!(other.bits, PageBits::all(), "of another store");
        let mut rotten = new.clone();
        rotten[4_000] ^= 8;
        let read = DirtyPage::decode([&old, &rotten], &[5; 16], 3);
        assert_eq!((read.sequence, read.bits), (10, PageBits::all()));
    }
}
