//! Maps blocks to positions on flash: 15 bytes a block, so that 400 GB of flash take some 200 MB of
//! memory.
//!
//! Entries are stored by position on flash, so a position need not be stored; an open-addressing
//! table finds them by key. The bits that a position leaves unused in a slot hold a part of the
//! key's hash. A search thus compares few keys, each of which is a cache miss. Volume, access count
//! and liveness share 16 bits.

use twox_hash::XxHash3_64;

use super::geometry::StoreGeometry;

/// Maximum number of volumes in a store.
pub(super) const MOST_VOLUMES: u16 = 1 << 12;

/// Marks a free slot of the table. No block's slot has this value, because no position has all its
/// bits set.
const EMPTY: u32 = u32::MAX;

/// Names a block of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key {
    /// Below [`MOST_VOLUMES`].
    pub volume: u16,
    pub block: u32,
}

impl Key {
    /// 64 well-mixed bits.
    pub(crate) const fn hash(self) -> u64 {
        let mut z = (self.volume as u64) << 32 | self.block as u64;
        z = z.wrapping_add(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Checksum of a block's key and bytes: it differs for another block with the same bytes.
    pub(crate) fn checksum(self, bytes: &[u8]) -> u32 {
        let sum = XxHash3_64::oneshot_with_seed(self.hash(), bytes);
        u32::try_from(sum & 0xFFFF_FFFF).expect("invariant: 32 bits")
    }
}

/// The index entry of one cached block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CachedEntry {
    pub key: Key,
    pub accesses: u8,
    pub checksum: u32,
}

/// Volume in 12 bits, access count in two, one bit for a position that holds a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Meta(u16);

const LIVE: u16 = 1 << 14;

impl Meta {
    const fn of(volume: u16, accesses: u8) -> Self {
        Self(volume | (accesses as u16) << 12 | LIVE)
    }

    const fn volume(self) -> u16 {
        self.0 & (MOST_VOLUMES - 1)
    }

    fn accesses(self) -> u8 {
        u8::try_from(self.0 >> 12 & 3).expect("invariant: two bits")
    }

    const fn is_live(self) -> bool {
        self.0 & LIVE != 0
    }
}

/// See the module.
pub(crate) struct BlockIndex {
    blocks: Vec<u32>,
    metas: Vec<Meta>,
    checksums: Vec<u32>,
    /// A position in the low `position_bits`; the other bits hold the same bits of the key's hash.
    table: Vec<u32>,
    position_bits: u32,
    live: u32,
}

impl BlockIndex {
    pub(crate) fn new(geometry: StoreGeometry) -> Self {
        let positions = geometry.positions() as usize;
        Self {
            blocks: vec![0; positions],
            metas: vec![Meta::default(); positions],
            checksums: vec![0; positions],
            table: vec![EMPTY; positions + positions / 4 + 1],
            position_bits: u32::BITS - geometry.positions().leading_zeros(),
            live: 0,
        }
    }

    /// Blocks that are cached.
    pub(crate) const fn live(&self) -> u32 {
        self.live
    }

    /// Memory of the index in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.blocks.len() * 4
            + self.metas.len() * size_of::<Meta>()
            + self.checksums.len() * 4
            + self.table.len() * 4
    }

    fn home(&self, hash: u64) -> usize {
        let wide = u128::from(hash) * self.table.len() as u128;
        usize::try_from(wide >> 64).expect("invariant: below the table's length")
    }

    const fn position_mask(&self) -> u32 {
        (1 << self.position_bits) - 1
    }

    /// Slot value for the block at `position`, whose key has this hash.
    fn slot(&self, position: u32, hash: u64) -> u32 {
        let low = u32::try_from(hash & 0xFFFF_FFFF).expect("invariant: 32 bits");
        position | low & !self.position_mask()
    }

    fn key_at(&self, position: u32) -> Key {
        let at = position as usize;
        Key { volume: self.metas[at].volume(), block: self.blocks[at] }
    }

    const fn after(&self, slot: usize) -> usize {
        if slot + 1 == self.table.len() { 0 } else { slot + 1 }
    }

    /// The slot of `key`, or the empty one where it belongs.
    fn slot_of(&self, key: Key) -> usize {
        let (hash, mask) = (key.hash(), self.position_mask());
        let tag = self.slot(0, hash);
        let mut at = self.home(hash);
        loop {
            let slot = self.table[at];
            if slot == EMPTY || slot & !mask == tag && self.key_at(slot & mask) == key {
                return at;
            }
            at = self.after(at);
        }
    }

    /// The position in a slot, if there is one.
    fn position_in(&self, at: usize) -> Option<u32> {
        let slot = self.table[at];
        (slot != EMPTY).then_some(slot & self.position_mask())
    }

    /// Position of the block of `key`.
    pub(crate) fn position(&self, key: Key) -> Option<u32> {
        self.position_in(self.slot_of(key))
    }

    /// The block cached at `position`, if any.
    pub(crate) fn entry(&self, position: u32) -> Option<CachedEntry> {
        let at = position as usize;
        let meta = self.metas[at];
        meta.is_live().then(|| CachedEntry {
            key: self.key_at(position),
            accesses: meta.accesses(),
            checksum: self.checksums[at],
        })
    }

    /// Puts a block at `position`, replacing the block there and any older one with the same key.
    pub(crate) fn insert(&mut self, position: u32, entry: CachedEntry) {
        self.remove_at(position);
        let mut slot = self.slot_of(entry.key);
        if let Some(older) = self.position_in(slot) {
            self.remove_at(older);
            slot = self.slot_of(entry.key);
        }
        let at = position as usize;
        self.blocks[at] = entry.key.block;
        self.metas[at] = Meta::of(entry.key.volume, entry.accesses);
        self.checksums[at] = entry.checksum;
        self.table[slot] = self.slot(position, entry.key.hash());
        self.live += 1;
    }

    /// Sets the access count of the block at `position`.
    pub(crate) fn set_accesses(&mut self, position: u32, accesses: u8) {
        let meta = &mut self.metas[position as usize];
        *meta = Meta::of(meta.volume(), accesses);
    }

    /// Removes the block at `position` and returns it.
    pub(crate) fn remove_at(&mut self, position: u32) -> Option<CachedEntry> {
        let entry = self.entry(position)?;
        let mut hole = self.slot_of(entry.key);
        // Entries after the hole that were displaced past it move up.
        let mut slot = self.after(hole);
        while let Some(other) = self.position_in(slot) {
            let home = self.home(self.key_at(other).hash());
            let length = self.table.len();
            if (slot + length - home) % length >= (slot + length - hole) % length {
                self.table[hole] = self.table[slot];
                hole = slot;
            }
            slot = self.after(slot);
        }
        self.table[hole] = EMPTY;
        self.metas[position as usize] = Meta::default();
        self.live -= 1;
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use units::{Prng, Seed};

    use super::{BlockIndex, CachedEntry, Key};
    use crate::store::geometry::StoreGeometry;

    #[test]
    fn behaves_as_a_map() {
        let geometry = StoreGeometry::of(64 << 20, 32 << 10).unwrap();
        let mut index = BlockIndex::new(geometry);
        let mut twin: HashMap<Key, u32> = HashMap::new();
        let mut prng = Prng::new(Seed(3));
        for step in 0..40_000_u32 {
            let volume = u16::try_from(prng.below(3)).unwrap();
            let key = Key { volume, block: u32::try_from(prng.below(1_500)).unwrap() };
            let position = u32::try_from(prng.below(u64::from(geometry.positions()))).unwrap();
            if prng.percent(60) {
                twin.retain(|_, at| *at != position);
                twin.insert(key, position);
                index.insert(position, CachedEntry { key, accesses: 1, checksum: step });
            } else if let Some(position) = twin.remove(&key) {
                assert_eq!(index.remove_at(position).unwrap().key, key);
            }
            assert_eq!(index.position(key), twin.get(&key).copied());
        }
        assert_eq!(index.live() as usize, twin.len());
        for (&key, &position) in &twin {
            assert_eq!(index.position(key), Some(position));
            assert_eq!(index.entry(position).unwrap().key, key);
        }
    }
}
