//! The ghost: recently evicted blocks, in four bytes each.
//!
//! A bucketed table of fingerprints, each with the insertion count at its eviction. An entry ages
//! out by the number of evictions since, so no queue is needed. One lookup in ten thousand mistakes
//! an unknown block for a ghost, which treats one block too well on admission.

use super::rules;

/// Entries of a bucket.
const WAYS: usize = 8;

/// One evicted block; a fingerprint of 0 is an empty entry.
#[derive(Clone, Copy, Debug, Default)]
struct Evicted {
    fingerprint: u16,
    /// Counts spans of evictions, wrapping.
    span: u16,
}

/// Remembers as many evicted blocks as the main queue holds.
#[derive(Debug)]
pub(crate) struct Ghost {
    entries: Vec<Evicted>,
    remembered: u64,
    evictions: u64,
}

impl Ghost {
    /// A ghost for a cache of `capacity` blocks.
    pub(crate) fn new(capacity: u64) -> Self {
        let remembered = (capacity - rules::small_share(capacity)).max(1);
        let buckets = usize::try_from(remembered).expect("invariant: fits memory").div_ceil(WAYS);
        Self { entries: vec![Evicted::default(); buckets * WAYS], remembered, evictions: 0 }
    }

    /// The clock of the entries, of which 64 steps cover the ghost's memory. It wraps after about a
    /// thousand times the ghost's capacity, so entries that old look new if their bucket saw no
    /// eviction since.
    fn span_now(&self) -> u16 {
        let span_evictions = self.remembered.div_ceil(64);
        u16::try_from(self.evictions / span_evictions % 65_536).expect("invariant: below 65,536")
    }

    fn bucket(&self, hash: u64) -> (usize, u16) {
        let buckets = (self.entries.len() / WAYS) as u128;
        let at = (u128::from(hash) * buckets) >> 64;
        let fingerprint = u16::try_from(hash & 0xFFFF).expect("invariant: 16 bits").max(1);
        (usize::try_from(at).expect("invariant: below the count of buckets") * WAYS, fingerprint)
    }

    fn age(&self, evicted: Evicted) -> u16 {
        self.span_now().wrapping_sub(evicted.span)
    }

    /// Remembers an evicted block by its hash.
    pub(crate) fn remember(&mut self, hash: u64) {
        self.evictions += 1;
        let span = self.span_now();
        let (at, fingerprint) = self.bucket(hash);
        let bucket = &self.entries[at..at + WAYS];
        let oldest = (0..WAYS).max_by_key(|&way| match bucket[way] {
            Evicted { fingerprint: 0, .. } => u32::MAX,
            same if same.fingerprint == fingerprint => u32::MAX - 1,
            other => u32::from(self.age(other)),
        });
        let way = oldest.expect("invariant: a bucket has entries");
        self.entries[at + way] = Evicted { fingerprint, span };
    }

    /// Removes a block; `true` if it was evicted recently.
    pub(crate) fn take(&mut self, hash: u64) -> bool {
        let (at, fingerprint) = self.bucket(hash);
        let found = (at..at + WAYS).find(|&entry| {
            let evicted = self.entries[entry];
            evicted.fingerprint == fingerprint && self.age(evicted) <= 64
        });
        if let Some(entry) = found {
            self.entries[entry] = Evicted::default();
        }
        found.is_some()
    }

    /// Size of the table in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.entries.len() * size_of::<Evicted>()
    }
}

#[cfg(test)]
mod tests {
    use units::{Prng, Seed};

    use super::Ghost;

    #[test]
    fn the_youngest_are_remembered_and_the_oldest_are_not() {
        let mut prng = Prng::new(Seed(1));
        let hashes: Vec<u64> = (0..40_000).map(|_| prng.next_u64()).collect();
        let mut ghost = Ghost::new(10_000);
        for &hash in &hashes {
            ghost.remember(hash);
        }
        let (old, young) = hashes.split_at(30_800);
        assert!(old.iter().filter(|&&hash| ghost.take(hash)).count() < 100);
        let young = young.iter().filter(|&&hash| ghost.take(hash)).count();
        assert!(young > 7_700, "buckets overflow for some of 9,200: {young}");
        assert_eq!(ghost.memory_bytes(), 9_000 * 4);
    }

    #[test]
    fn a_block_is_taken_once() {
        let mut ghost = Ghost::new(100);
        ghost.remember(u64::MAX / 3);
        assert!(ghost.take(u64::MAX / 3));
        assert!(!ghost.take(u64::MAX / 3));
    }
}
