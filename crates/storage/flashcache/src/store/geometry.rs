//! The layout of the flash.
//!
//! Two superblocks, the pages of the dirty-region log (two copies each), two checkpoint areas, then
//! segments. A segment is a row of groups; a group is a summary and the blocks that it describes,
//! written with one request.

use device::ALIGNMENT;

/// Bytes of a superblock.
pub(super) const SUPERBLOCK_BYTES: usize = 16 << 10;

/// Offsets of the superblocks.
pub(super) const SUPERBLOCKS: [u64; 2] = [0, 64 << 10];

/// Offset of the dirty-region log.
const DIRTY_AT: u64 = 128 << 10;

/// Length of the summary before a group's blocks, in bytes.
pub(super) const SUMMARY_BYTES: usize = ALIGNMENT;

/// Bytes of blocks in a group.
const GROUP_DATA_BYTES: u32 = 512 << 10;

/// Bytes of a chunk of a checkpoint.
pub(super) const CHUNK_BYTES: usize = 64 << 10;

/// Segment numbers in a chunk of a checkpoint's head, in addition to its fixed fields.
pub(super) const SEGMENTS_A_CHUNK: usize = 16_000;

/// Blocks in a chunk of a checkpoint's body, ten bytes each.
pub(super) const ENTRIES_A_CHUNK: u32 = 6_500;

/// Bits in a page of the dirty-region log.
pub(super) const PAGE_BITS: u64 = 31_744;

/// Target number of segments: enough for queues of tenths, few enough to list.
const WANTED_SEGMENTS: u64 = 256;

/// Minimum number of segments.
pub(super) const FEWEST_SEGMENTS: u32 = 16;

/// Maximum length of a segment, in bytes.
const LONGEST_SEGMENT: u64 = 64 << 20;

/// Sizes of blocks that a store may have, in bytes.
const BLOCK_SIZES: std::ops::RangeInclusive<u32> = 4 << 10..=256 << 10;

/// Sizes that never change in the life of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoreGeometry {
    pub block_bytes: u32,
    pub blocks_per_group: u32,
    pub groups_per_segment: u32,
    pub segments: u32,
    pub dirty_pages: u32,
}

impl StoreGeometry {
    /// The layout of a store in `flash_bytes`; `None` if they are too few, or the block size is not
    /// valid.
    pub(crate) fn of(flash_bytes: u64, block_bytes: u32) -> Option<Self> {
        if !block_bytes.is_power_of_two() || !BLOCK_SIZES.contains(&block_bytes) {
            return None;
        }
        let blocks_per_group = GROUP_DATA_BYTES / block_bytes;
        let group_bytes = u64::from(GROUP_DATA_BYTES) + SUMMARY_BYTES as u64;
        let groups = (flash_bytes / group_bytes / WANTED_SEGMENTS).clamp(1, LONGEST_SEGMENT >> 19);
        let groups_per_segment = u32::try_from(groups).ok()?;
        let blocks = flash_bytes / u64::from(block_bytes);
        let dirty_pages = (blocks / 8 / PAGE_BITS).clamp(1, 64);
        let mut geometry = Self {
            block_bytes,
            blocks_per_group,
            groups_per_segment,
            segments: u32::try_from(flash_bytes / geometry_segment_bytes(groups)).ok()?,
            dirty_pages: u32::try_from(dirty_pages).ok()?,
        };
        while geometry.segments >= FEWEST_SEGMENTS && geometry.flash_bytes() > flash_bytes {
            geometry.segments -= 1;
        }
        (geometry.segments >= FEWEST_SEGMENTS).then_some(geometry)
    }

    /// `true` if [`Self::of`] could have produced these sizes, so that no arithmetic overflows.
    pub(super) fn is_sound(self) -> bool {
        self.block_bytes.is_power_of_two()
            && BLOCK_SIZES.contains(&self.block_bytes)
            && self.blocks_per_group == GROUP_DATA_BYTES / self.block_bytes
            && (1..=LONGEST_SEGMENT >> 19).contains(&u64::from(self.groups_per_segment))
            && self.segments >= FEWEST_SEGMENTS
            && (1..=64).contains(&self.dirty_pages)
            && u64::from(self.segments) * u64::from(self.blocks_per_segment()) < 1 << 31
    }

    pub(crate) const fn blocks_per_segment(self) -> u32 {
        self.blocks_per_group * self.groups_per_segment
    }

    /// Blocks that fit into all segments.
    pub(crate) const fn positions(self) -> u32 {
        self.segments * self.blocks_per_segment()
    }

    pub(crate) const fn group_bytes(self) -> u64 {
        self.blocks_per_group as u64 * self.block_bytes as u64 + SUMMARY_BYTES as u64
    }

    /// Offset of one copy of a page of the dirty-region log.
    pub(super) const fn dirty_page_at(page: u32, copy: u64) -> u64 {
        DIRTY_AT + (page as u64 * 2 + copy) * ALIGNMENT as u64
    }

    /// Offset of a checkpoint area.
    pub(super) fn checkpoint_at(self, area: u8) -> u64 {
        Self::dirty_page_at(self.dirty_pages, 0) + u64::from(area) * self.checkpoint_bytes()
    }

    /// Bytes of one checkpoint area.
    pub(super) fn checkpoint_bytes(self) -> u64 {
        u64::from(self.checkpoint_chunks()) * CHUNK_BYTES as u64
    }

    /// Chunks of a checkpoint.
    pub(super) fn checkpoint_chunks(self) -> u32 {
        self.head_chunks() + self.positions().div_ceil(ENTRIES_A_CHUNK)
    }

    /// Number of chunks before the blocks in a checkpoint.
    pub(super) fn head_chunks(self) -> u32 {
        let chunks = (self.segments as usize).div_ceil(SEGMENTS_A_CHUNK);
        u32::try_from(chunks).expect("invariant: segments are few")
    }

    /// Offset of a group, by its number over all segments.
    pub(super) fn group_at(self, group: u32) -> u64 {
        self.checkpoint_at(2) + u64::from(group) * self.group_bytes()
    }

    /// Offset of the block at a position.
    pub(super) fn block_at(self, position: u32) -> u64 {
        let slot = u64::from(position % self.blocks_per_group);
        self.group_at(position / self.blocks_per_group)
            + SUMMARY_BYTES as u64
            + slot * u64::from(self.block_bytes)
    }

    /// Bytes of flash that the store takes.
    pub(super) fn flash_bytes(self) -> u64 {
        self.group_at(self.segments * self.groups_per_segment)
    }
}

const fn geometry_segment_bytes(groups: u64) -> u64 {
    groups * (GROUP_DATA_BYTES as u64 + SUMMARY_BYTES as u64)
}

#[cfg(test)]
mod tests {
    use super::{FEWEST_SEGMENTS, StoreGeometry};

    #[test]
    fn sizes_from_a_memory_card_to_a_large_drive_are_used_up() {
        for bytes in [16 << 20, 1 << 30, 400_000_000_000, 8 << 40] {
            let geometry = StoreGeometry::of(bytes, 32 << 10).unwrap();
            assert!(geometry.is_sound() && geometry.segments >= FEWEST_SEGMENTS, "{geometry:?}");
            assert!(geometry.flash_bytes() <= bytes);
            let data = u64::from(geometry.positions()) * 32_768;
            assert!(data > bytes / 10 * 9, "{data} of {bytes}");
        }
        assert_eq!(StoreGeometry::of(4 << 20, 32 << 10), None);
        assert_eq!(StoreGeometry::of(1 << 30, 48 << 10), None);
    }
}
