//! A map keyed by small numbers from the log: pages and sessions. It is searched several times per
//! record, and the standard hash would take more time than changing the page.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map with numbers as keys, hashed by [`NumberHasher`].
pub(super) type NumberMap<K, V> = HashMap<K, V, BuildHasherDefault<NumberHasher>>;

/// Spreads a number over 64 bits by multiplication.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NumberHasher(u64);

/// An odd number without a pattern: 2^64 divided by the golden ratio.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u16(&mut self, number: u16) {
        self.write_u64(u64::from(number));
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        let mixed = (self.0 ^ number).wrapping_mul(FACTOR);
        self.0 = mixed ^ mixed >> 32;
    }
}
