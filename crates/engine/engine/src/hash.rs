//! A fast hash for trusted keys, the same in every run: page numbers and normalised keys. The
//! standard hash is randomly keyed against attackers, who have no influence on these keys.

use std::hash::{BuildHasherDefault, Hasher};

/// Builds [`QuickHasher`]s.
pub(crate) type QuickHash = BuildHasherDefault<QuickHasher>;

/// Multiplies and folds eight bytes at a time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct QuickHasher {
    state: u64,
}

/// An odd constant without structure: 2^64 divided by the golden ratio.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

impl QuickHasher {
    fn mix(&mut self, word: u64) {
        let product = u128::from(self.state ^ word) * u128::from(FACTOR);
        let [low, high] = [product, product >> 64].map(|half| half & u128::from(u64::MAX));
        self.state = u64::try_from(low ^ high).expect("invariant: two halves of 64 bits");
    }
}

impl Hasher for QuickHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.mix(u64::from_le_bytes(*word).wrapping_add(FACTOR));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.mix(u64::from_le_bytes(last) ^ (bytes.len() as u64).rotate_right(8));
    }

    fn write_u32(&mut self, number: u32) {
        self.mix(u64::from(number).wrapping_add(FACTOR));
    }

    fn write_usize(&mut self, number: usize) {
        self.mix((number as u64).wrapping_add(FACTOR));
    }

    fn finish(&self) -> u64 {
        self.state
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::hash::BuildHasher;

    use super::QuickHash;

    #[test]
    fn neighbouring_keys_spread_over_all_bits() {
        let build = QuickHash::default();
        for shift in [0, 20, 57] {
            let buckets: HashSet<u64> =
                (0..1000u32).map(|page| build.hash_one(page) >> shift & 0x7F).collect();
            assert!(buckets.len() > 100, "{} buckets at bit {shift}", buckets.len());
        }
    }
}
