//! Identifies a store and locates its newest checkpoint. Two copies, written alternately.

use std::collections::BTreeMap;

use device::Buffer;

use super::fields::{FieldReader, FieldWriter};
use super::geometry::{SUPERBLOCK_BYTES, StoreGeometry};
use super::sectors::{self, SealedCopy};
use crate::policy::PoolShare;

/// First bytes of a superblock.
pub(super) const MAGIC: &[u8; 8] = b"PLMCACHE";

const VERSION: u32 = 1;

/// Maximum number of volumes, which fit in a superblock even with the longest names.
pub(super) const MOST_NAMED: usize = 48;

/// Maximum length of a volume's name in bytes.
const LONGEST_NAME: usize = 255;

/// A volume that has blocks in the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedVolume {
    pub name: String,
    /// Length of the volume in bytes.
    pub length: u64,
    /// State stamp from its owner; a different one later means that the volume was changed
    /// elsewhere.
    pub stamp: u64,
    pub share: PoolShare,
}

/// The newest complete checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CheckpointPlace {
    pub number: u64,
    pub area: u8,
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CacheSuperblock {
    pub geometry: StoreGeometry,
    pub identity: [u8; 16],
    /// Superblock generation: the higher of two is the newer.
    pub generation: u64,
    /// Session number; groups of another session are not replayed.
    pub session: u64,
    /// `None` if nothing is cached.
    pub checkpoint: Option<CheckpointPlace>,
    /// `true` if nothing was written since the checkpoint.
    pub clean: bool,
    pub volumes: BTreeMap<u16, NamedVolume>,
}

/// Reason why 16 KiB are not a superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CacheSuperblockError {
    Foreign,
    Damaged,
    Version(u32),
}

impl CacheSuperblock {
    pub(super) fn encode(&self) -> Buffer {
        let mut fields = FieldWriter::new(SUPERBLOCK_BYTES);
        let geometry = self.geometry;
        fields.bytes(MAGIC).u32(VERSION).bytes(&self.identity);
        fields.u32(geometry.block_bytes).u32(geometry.blocks_per_group);
        fields.u32(geometry.groups_per_segment).u32(geometry.segments).u32(geometry.dirty_pages);
        fields.u64(self.session).u16(u16::from(self.clean));
        fields.u16(self.checkpoint.map_or(u16::MAX, |place| u16::from(place.area)));
        fields.u64(self.checkpoint.map_or(0, |place| place.number));
        fields.u32(u32::try_from(self.volumes.len()).expect("invariant: at most 48"));
        for (&id, volume) in &self.volumes {
            let name = volume.name.as_bytes();
            fields.u16(id).u16(u16::try_from(name.len()).expect("invariant: at most 255"));
            fields.bytes(name).u64(volume.length).u64(volume.stamp);
            fields.u64(volume.share.least).u64(volume.share.most);
        }
        let payload = &fields.into_buffer()[..sectors::payload_of(SUPERBLOCK_BYTES)];
        sectors::spread(payload, SUPERBLOCK_BYTES, tag(), self.generation)
    }

    /// Combines the two copies. If one is damaged it may have been the newer: the other still
    /// defines the store's layout, and nothing is cached.
    pub(super) fn decode(copies: [&[u8]; 2]) -> Result<Self, CacheSuperblockError> {
        if copies.iter().all(|block| block.first_chunk() != Some(MAGIC)) {
            return Err(CacheSuperblockError::Foreign);
        }
        let copies = copies.map(|block| sectors::gather(block, tag()));
        if let Some((generation, payload)) = sectors::newest(copies.clone()) {
            return Self::read(generation, &payload);
        }
        let whole = copies.into_iter().find_map(|copy| match copy {
            SealedCopy::Whole { sequence, payload } => Some((sequence, payload)),
            SealedCopy::Torn | SealedCopy::Damaged => None,
        });
        let (generation, payload) = whole.ok_or(CacheSuperblockError::Damaged)?;
        let mut older = Self::read(generation, &payload)?;
        // The next write replaces this copy: if it replaced the damaged one and were torn, this
        // copy would become valid again.
        older.generation += 1;
        older.session += 1;
        older.checkpoint = None;
        older.clean = false;
        Ok(older)
    }

    fn read(generation: u64, payload: &[u8]) -> Result<Self, CacheSuperblockError> {
        let mut fields = FieldReader::of(payload);
        fields.bytes(MAGIC.len());
        let version = fields.u32();
        if version != VERSION {
            return Err(CacheSuperblockError::Version(version));
        }
        let identity = fields.identity();
        let geometry = StoreGeometry {
            block_bytes: fields.u32(),
            blocks_per_group: fields.u32(),
            groups_per_segment: fields.u32(),
            segments: fields.u32(),
            dirty_pages: fields.u32(),
        };
        if !geometry.is_sound() {
            return Err(CacheSuperblockError::Damaged);
        }
        let (session, clean) = (fields.u64(), fields.u16() == 1);
        let area = u8::try_from(fields.u16()).ok().filter(|&area| area < 2);
        let number = fields.u64();
        let checkpoint = area.map(|area| CheckpointPlace { number, area });
        let volumes = read_volumes(&mut fields);
        Ok(Self { geometry, identity, generation, session, checkpoint, clean, volumes })
    }

    /// `true` if a superblock has room for another volume with this name.
    pub(super) fn has_room_for(&self, name: &str) -> bool {
        self.volumes.len() < MOST_NAMED && name.len() <= LONGEST_NAME
    }
}

fn tag() -> u64 {
    sectors::tag(MAGIC, &[0; 16], 0)
}

fn read_volumes(fields: &mut FieldReader<'_>) -> BTreeMap<u16, NamedVolume> {
    let mut volumes = BTreeMap::new();
    for _ in 0..fields.u32().min(u32::try_from(MOST_NAMED).expect("invariant: 48")) {
        let (id, length) = (fields.u16(), fields.u16());
        let name = String::from_utf8_lossy(fields.bytes(usize::from(length))).into_owned();
        let (length, stamp) = (fields.u64(), fields.u64());
        let share = PoolShare { least: fields.u64(), most: fields.u64() };
        volumes.insert(id, NamedVolume { name, length, stamp, share });
    }
    volumes
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{CacheSuperblock, CacheSuperblockError, CheckpointPlace, MOST_NAMED, NamedVolume};
    use crate::policy::PoolShare;
    use crate::store::geometry::StoreGeometry;

    fn full() -> CacheSuperblock {
        let volume = |id: u16| NamedVolume {
            name: format!("{id:0>255}"),
            length: u64::from(id) << 30,
            stamp: 1,
            share: PoolShare::default(),
        };
        let volumes: BTreeMap<_, _> =
            (0..u16::try_from(MOST_NAMED).unwrap()).map(|id| (id, volume(id))).collect();
        CacheSuperblock {
            geometry: StoreGeometry::of(1 << 30, 32 << 10).unwrap(),
            identity: [3; 16],
            generation: 8,
            session: 2,
            checkpoint: Some(CheckpointPlace { number: 5, area: 1 }),
            clean: true,
            volumes,
        }
    }

    #[test]
    fn the_newer_copy_counts_and_damage_empties_the_store() {
        let newer = full();
        let older = CacheSuperblock { generation: 7, session: 1, ..newer.clone() }.encode();
        let block = newer.encode();
        assert_eq!(CacheSuperblock::decode([&block, &older]), Ok(newer.clone()));
        assert!(!newer.has_room_for("one more"));
        let mut rotten = block.clone();
        rotten[9_000] ^= 1;
        let found = CacheSuperblock::decode([&rotten, &older]).unwrap();
        assert_eq!((found.generation, found.session, found.checkpoint), (8, 2, None));
        assert_eq!(CacheSuperblock::decode([&rotten, &rotten]), Err(CacheSuperblockError::Damaged));
        let zeros = [0; 16_384];
        let foreign = CacheSuperblock::decode([&zeros, &zeros]);
        assert_eq!(foreign, Err(CacheSuperblockError::Foreign));
    }
}
