//! The linear sums of a block that determine its checksum.

use units::PageNumber;

use crate::bytes::u64_at;

/// Mask of the bits of a 64-bit word that have bit `b` set in their number, for `b` in 0..6.
const COLUMNS: [u64; 6] = [
    0xAAAA_AAAA_AAAA_AAAA,
    0xCCCC_CCCC_CCCC_CCCC,
    0xF0F0_F0F0_F0F0_F0F0,
    0xFF00_FF00_FF00_FF00,
    0xFFFF_0000_FFFF_0000,
    0xFFFF_FFFF_0000_0000,
];

/// The sums over the bits of a block: all a checksum depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parities {
    /// XOR of the block's 64-bit words.
    pub words: u64,
    /// XOR of the numbers of all 64-bit words with an odd number of set bits.
    pub odd_words: u16,
}

impl Parities {
    /// Word by word: the definition in code, as a reference for the other kernels.
    pub(crate) fn by_words(block: &[u8]) -> Self {
        let (words, _) = block.as_chunks::<8>();
        let mut sums = Self::default();
        for (number, word) in (0u16..).zip(words) {
            let word = u64::from_le_bytes(*word);
            sums.words ^= word;
            if word.count_ones() % 2 == 1 {
                sums.odd_words ^= number;
            }
        }
        sums
    }

    /// Removes the first word of `block` from the sums. Its number is 0, so it affects only
    /// `words`.
    pub(super) fn forget_first_word(&mut self, block: &[u8]) {
        self.words ^= u64_at(block, 0);
    }

    /// The checksum of a block of `bytes` bytes on page `page`.
    ///
    /// The low half of the code is the XOR of the numbers of all set bits, the high half that of
    /// the numbers counted from the other end. The two are equal if the number of set bits is even,
    /// and complements of each other if it is odd.
    pub(super) fn checksum(&self, bytes: usize, page: PageNumber) -> u64 {
        let highest_bit = (bytes * 8 - 1) as u64;
        let mut low = u64::from(self.odd_words) << 6;
        for (bit, column) in COLUMNS.iter().enumerate() {
            low |= u64::from((self.words & column).count_ones() % 2) << bit;
        }
        let is_odd = self.words.count_ones() % 2 == 1;
        let high = if is_odd { low ^ highest_bit } else { low };
        let folded = (self.words ^ self.words >> 32) & 0xFFFF_FFFF;
        high << 48 | low << 32 | (folded ^ u64::from(page.0))
    }
}
