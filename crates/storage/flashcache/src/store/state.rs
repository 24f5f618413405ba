//! The mutable state of an open cache; synchronous, so that no await can interrupt a change.

use std::collections::BTreeMap;

use device::Buffer;

use super::geometry::{SUMMARY_BYTES, StoreGeometry};
use super::group::GroupSummary;
use super::index::{BlockIndex, CachedEntry, Key};
use super::segments::Segments;
use super::status::{CacheHealth, StoreCounters};
use super::superblock::CacheSuperblock;
use crate::policy::rules::FifoQueue;
use crate::policy::{Ghost, PoolShare};

/// Maximum number of groups in flight to flash. Flash that falls further behind accepts no new
/// blocks.
const MOST_IN_FLIGHT: usize = 8;

/// A group that is being filled.
pub(super) struct FillingGroup {
    buffer: Buffer,
    slots: u32,
}

/// A full group, to be written.
pub(super) struct SealedGroup {
    pub group: u32,
    pub buffer: Buffer,
}

/// See the module.
pub(super) struct StoreState {
    pub geometry: StoreGeometry,
    pub index: BlockIndex,
    pub ghost: Ghost,
    pub segments: Segments,
    pub filling: [Option<FillingGroup>; 2],
    /// Groups in flight to flash, by number.
    pub in_flight: BTreeMap<u32, Buffer>,
    /// Sequence of the last group that was sealed.
    pub sequence: u64,
    pub superblock: CacheSuperblock,
    /// Blocks held by volume.
    pub held: BTreeMap<u16, u64>,
    /// Bytes of log since the last checkpoint began.
    pub log_bytes: u64,
    pub counters: StoreCounters,
    pub health: CacheHealth,
    /// Reclaim tasks at work.
    pub reclaims: u32,
    /// Queues that wait for a segment.
    pub starving: [bool; 2],
    pub is_saving: bool,
    /// `true` until the attempt to mark failed flash as empty has ended.
    pub is_marking_empty: bool,
    /// Volume numbers released since the last checkpoint began, and before it.
    pub retired: Vec<u16>,
    pub retiring: Vec<u16>,
}

impl StoreState {
    pub(super) fn is_working(&self) -> bool {
        self.health == CacheHealth::Working
    }

    /// Forgets the block at `position`.
    pub(super) fn forget(&mut self, position: u32) -> Option<CachedEntry> {
        let entry = self.index.remove_at(position)?;
        if let Some(held) = self.held.get_mut(&entry.key.volume) {
            *held -= 1;
        }
        Some(entry)
    }

    /// Files a block at `position`.
    pub(super) fn file(&mut self, position: u32, entry: CachedEntry) {
        if let Some(older) = self.index.position(entry.key) {
            self.forget(older);
        }
        self.forget(position);
        self.index.insert(position, entry);
        *self.held.entry(entry.key.volume).or_default() += 1;
    }

    pub(super) fn share(&self, volume: u16) -> PoolShare {
        self.superblock.volumes.get(&volume).map_or(PoolShare::default(), |volume| volume.share)
    }

    /// `true` if the log may hold blocks under this number.
    pub(super) fn is_used(&self, volume: u16) -> bool {
        self.superblock.volumes.contains_key(&volume)
            || self.retired.contains(&volume)
            || self.retiring.contains(&volume)
    }

    pub(super) fn held(&self, volume: u16) -> u64 {
        self.held.get(&volume).copied().unwrap_or(0)
    }

    /// The bytes of a block that is still, or also, in memory.
    pub(super) fn in_memory(&self, position: u32) -> Option<&[u8]> {
        let per_group = self.geometry.blocks_per_group;
        let group = position / per_group;
        let bytes = self.geometry.block_bytes as usize;
        let at = SUMMARY_BYTES + (position % per_group) as usize * bytes;
        let buffer = self.in_flight.get(&group).or_else(|| {
            FifoQueue::ALL.into_iter().find_map(|queue| {
                let filling = self.filling[queue.index()].as_ref()?;
                (self.open_group(queue) == group).then_some(&filling.buffer)
            })
        })?;
        Some(&buffer[at..at + bytes])
    }

    /// `true` while a block of the segment is being read, or one of its groups is in flight to
    /// flash.
    pub(super) fn is_in_use(&self, segment: u32) -> bool {
        let groups = self.geometry.groups_per_segment;
        let mut written = self.in_flight.range(segment * groups..(segment + 1) * groups);
        self.segments.is_pinned(segment) || written.next().is_some()
    }

    /// Number, across all segments, of the group that a queue is filling or fills next.
    fn open_group(&self, queue: FifoQueue) -> u32 {
        let open = &self.segments.open[queue.index()];
        open.segment * self.geometry.groups_per_segment + open.group
    }

    /// Makes room for a block at the end of a queue; `false` if there is none now.
    fn make_room(&mut self, queue: FifoQueue) -> bool {
        if self.filling[queue.index()].is_some() {
            return true;
        }
        if self.in_flight.len() >= MOST_IN_FLIGHT {
            return false;
        }
        let is_full = self.segments.open[queue.index()].group == self.geometry.groups_per_segment;
        if is_full {
            let next = self.segments.open[queue.index()].next_segment;
            if next.is_none_or(|next| self.segments.is_pinned(next))
                || !self.segments.advance(queue)
            {
                return false;
            }
        }
        let bytes = usize::try_from(self.geometry.group_bytes()).expect("invariant: half a MiB");
        self.filling[queue.index()] =
            Some(FillingGroup { buffer: Buffer::zeroed(bytes), slots: 0 });
        true
    }

    /// Appends a block to a queue. Returns the group if this filled it; an error if there is no
    /// room.
    pub(super) fn append(
        &mut self,
        queue: FifoQueue,
        (key, accesses): (Key, u8),
        bytes: &[u8],
    ) -> Result<Option<SealedGroup>, NoRoom> {
        if !self.make_room(queue) {
            return Err(NoRoom);
        }
        let group = self.open_group(queue);
        let per_group = self.geometry.blocks_per_group;
        let filling = self.filling[queue.index()].as_mut().ok_or(NoRoom)?;
        let at = SUMMARY_BYTES + filling.slots as usize * bytes.len();
        filling.buffer[at..at + bytes.len()].copy_from_slice(bytes);
        let position = group * per_group + filling.slots;
        filling.slots += 1;
        let is_full = filling.slots == per_group;
        self.file(position, CachedEntry { key, accesses, checksum: key.checksum(bytes) });
        Ok(if is_full { self.seal(queue) } else { None })
    }

    /// Seals the group that a queue is filling, if any. Blocks invalidated since are left out of
    /// its summary, so that recovery never finds them.
    pub(super) fn seal(&mut self, queue: FifoQueue) -> Option<SealedGroup> {
        let group = self.open_group(queue);
        let filling = self.filling[queue.index()].take()?;
        self.sequence += 1;
        let first = group * self.geometry.blocks_per_group;
        let summary = GroupSummary {
            group,
            session: self.superblock.session,
            sequence: self.sequence,
            next_segment: self.segments.open[queue.index()].next_segment,
            entries: (0..filling.slots).map(|slot| self.index.entry(first + slot)).collect(),
        };
        let mut buffer = summary.encode_into(filling.buffer, &self.superblock.identity);
        self.segments.open[queue.index()].group += 1;
        self.log_bytes += buffer.len() as u64;
        self.counters.flash_bytes_written += buffer.len() as u64;
        self.in_flight.insert(group, buffer.share());
        Some(SealedGroup { group, buffer })
    }
}

/// The flash has no place for a block at the moment.
#[derive(Debug)]
pub(super) struct NoRoom;
