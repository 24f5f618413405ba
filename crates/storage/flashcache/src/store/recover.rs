//! Recovers a store's content when it is opened: the newest checkpoint and the log after it, minus
//! the regions that a crash may have left stale.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::rc::Rc;

use device::{Boxed, Device, DeviceError, Purpose, Request, Runtime};

use super::checkpoint::{CheckpointHead, CheckpointReader, LogPosition};
use super::dirty_bits;
use super::dirty_log::{self, DirtyLog};
use super::geometry::{CHUNK_BYTES, SUMMARY_BYTES, SUPERBLOCK_BYTES, SUPERBLOCKS, StoreGeometry};
use super::group::GroupSummary;
use super::index::BlockIndex;
use super::segments::Segments;
use super::state::StoreState;
use super::status::{CacheHealth, StoreCounters};
use super::superblock::{CacheSuperblock, CacheSuperblockError};
use super::{CacheStore, CacheStoreCore};
use crate::policy::Ghost;
use crate::signal::{Signal, WriterTurns};

/// Why a store cannot be made or opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// The flash failed.
    Device(DeviceError),
    /// The flash is too small, or the block size is not valid.
    NoLayout {
        /// The flash.
        file: String,
        /// Its length in bytes.
        bytes: u64,
    },
    /// A device that must not be formatted without a request.
    HoldsSomething {
        /// The flash.
        file: String,
        /// `true` if the device already is a store.
        is_store: bool,
    },
    /// No store.
    Foreign {
        /// The flash.
        file: String,
    },
    /// A store with two damaged superblocks.
    Damaged {
        /// The flash.
        file: String,
    },
    /// A store of a later release.
    Version {
        /// The flash.
        file: String,
        /// Its version.
        version: u32,
    },
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Device(error) => write!(f, "{error}"),
            Self::NoLayout { file, bytes } => write!(
                f,
                "{file}: {bytes} bytes are no room for a cache of such blocks; use at least 16 MiB \
                 and blocks of 4 to 256 KiB, a power of two"
            ),
            Self::HoldsSomething { file, is_store: true } => {
                write!(f, "{file}: holds a cache already; serve it, or pass --force to empty it")
            }
            Self::HoldsSomething { file, is_store: false } => write!(
                f,
                "{file}: is not empty; name another device, or pass --force to overwrite it"
            ),
            Self::Foreign { file } => {
                write!(f, "{file}: holds no cache; make one with `plimsoll cache create`")
            }
            Self::Damaged { file } => write!(
                f,
                "{file}: both superblocks of the cache are damaged; make it anew with `plimsoll \
                 cache create --force` (the volumes behind it hold everything)"
            ),
            Self::Version { file, version } => write!(
                f,
                "{file}: the cache has format {version}, which this release does not know; use \
                 the release that made it, or make it anew with --force"
            ),
        }
    }
}

impl std::error::Error for StoreError {}

/// What an opening found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// `true` after a clean end.
    pub was_clean: bool,
    /// Groups of the log that were replayed.
    pub groups_replayed: u64,
    /// Blocks dropped because their region had writes in progress.
    pub blocks_dropped: u64,
    /// Blocks that are cached.
    pub blocks: u64,
    /// `true` if a damaged checkpoint made the cache start empty.
    pub checkpoint_damaged: bool,
}

impl CacheStore {
    /// Opens the store on `flash`, warm.
    pub fn open(
        flash: Rc<dyn Device>,
        runtime: &Runtime,
    ) -> Boxed<'_, Result<(Self, Recovery), StoreError>> {
        Box::pin(async move {
            let superblock = open_superblock(&flash).await?;
            let recovered = recover(&flash, superblock, runtime).await;
            let (core, recovery) = recovered.map_err(StoreError::Device)?;
            // All dropped blocks must be out of the checkpoint before their regions may be
            // unmarked.
            core.save(false).await.map_err(StoreError::Device)?;
            core.state.borrow_mut().is_saving = false;
            Ok((Self { core: Rc::new(core) }, recovery))
        })
    }
}

/// Combines the two superblocks, if the flash is as long as they require.
pub(super) async fn open_superblock(flash: &Rc<dyn Device>) -> Result<CacheSuperblock, StoreError> {
    let superblock = read_superblock(flash).await?;
    if superblock.geometry.flash_bytes() > flash.length() {
        return Err(StoreError::Damaged { file: flash.name().to_owned() });
    }
    Ok(superblock)
}

/// Combines the two superblocks.
async fn read_superblock(flash: &Rc<dyn Device>) -> Result<CacheSuperblock, StoreError> {
    let mut copies = Vec::new();
    for at in SUPERBLOCKS {
        let read = Request::read(Purpose::Header, at, SUPERBLOCK_BYTES);
        copies.push(flash.submit(read).await.into_buffer().map_err(StoreError::Device)?);
    }
    let file = flash.name().to_owned();
    CacheSuperblock::decode([&copies[0], &copies[1]]).map_err(|error| match error {
        CacheSuperblockError::Foreign => StoreError::Foreign { file },
        CacheSuperblockError::Damaged => StoreError::Damaged { file },
        CacheSuperblockError::Version(version) => StoreError::Version { file, version },
    })
}

pub(super) async fn recover(
    flash: &Rc<dyn Device>,
    mut superblock: CacheSuperblock,
    runtime: &Runtime,
) -> Result<(CacheStoreCore, Recovery), DeviceError> {
    let geometry = superblock.geometry;
    let pages = dirty_log::read(flash, &superblock.identity, geometry).await?;
    let dirty = DirtyLog::new(Rc::clone(flash), superblock.identity, pages);
    let mut recovery = Recovery { was_clean: superblock.clean, ..Recovery::default() };
    let mut index = BlockIndex::new(geometry);
    let mut sequence = 0;
    let mut full = <[VecDeque<u32>; 2]>::default();
    if superblock.checkpoint.is_some() {
        let mut replay =
            LogReplay { flash, superblock: &superblock, index, sequence: 0, groups: 0 };
        if let Some(head) = replay.checkpoint().await? {
            full = replay.log(head).await?;
        } else {
            recovery.checkpoint_damaged = true;
            replay.index = BlockIndex::new(geometry);
        }
        recovery.groups_replayed = replay.groups;
        (index, sequence) = (replay.index, replay.sequence);
    }
    superblock.session += 1;
    // A step of 2 leaves the next write on the same copy, but with a number that no torn write of
    // the last session has used.
    superblock.generation += 2;
    superblock.clean = false;
    let mut state = state_of(superblock, index, sequence, full);
    recovery.blocks_dropped = drop_what_is_uncertain(&mut state, &dirty);
    recovery.blocks = u64::from(state.index.live());
    let core = CacheStoreCore {
        flash: Rc::clone(flash),
        runtime: runtime.clone(),
        geometry,
        dirty,
        state: std::cell::RefCell::new(state),
        superblock_turns: WriterTurns::default(),
        changed: Signal::default(),
    };
    Ok((core, recovery))
}

/// Reads a checkpoint and the log after it.
struct LogReplay<'a> {
    flash: &'a Rc<dyn Device>,
    superblock: &'a CacheSuperblock,
    index: BlockIndex,
    sequence: u64,
    groups: u64,
}

impl LogReplay<'_> {
    /// Reads the checkpoint; `None` if it is damaged.
    async fn checkpoint(&mut self) -> Result<Option<CheckpointHead>, DeviceError> {
        let geometry = self.superblock.geometry;
        let Some(place) = self.superblock.checkpoint else {
            return Ok(None);
        };
        let mut reader = CheckpointReader::new(self.superblock.identity, place.number, geometry);
        for chunk in 0..u64::from(geometry.checkpoint_chunks()) {
            let offset = chunk * CHUNK_BYTES as u64;
            let at = geometry.checkpoint_at(place.area) + offset;
            let read = Request::read(Purpose::Header, at, CHUNK_BYTES);
            let bytes = self.flash.submit(read).await.into_buffer()?;
            if reader.take(&bytes, &mut self.index).is_none() {
                return Ok(None);
            }
        }
        Ok(reader.finish())
    }

    /// Replays both logs after the checkpoint; returns the full segments of both queues.
    async fn log(&mut self, head: CheckpointHead) -> Result<[VecDeque<u32>; 2], DeviceError> {
        self.sequence = head.sequence;
        let mut full = head.full.map(VecDeque::from);
        for (queue, log) in head.logs.into_iter().enumerate() {
            let mut at = Some(log);
            let mut last = head.sequence;
            while let Some(log) = at {
                at = self.segment(log, &mut last).await?;
                full[queue].push_back(log.segment);
                if let Some(next) = at {
                    self.clear(next.segment);
                }
            }
        }
        Ok(listed_once(full))
    }

    /// Replays the groups of a segment; returns the segment with which the log continues, if any.
    async fn segment(
        &mut self,
        log: LogPosition,
        last: &mut u64,
    ) -> Result<Option<LogPosition>, DeviceError> {
        let LogPosition { segment, mut group, mut next_segment } = log;
        let geometry = self.superblock.geometry;
        while group < geometry.groups_per_segment {
            let Some(summary) = self.group(segment, group, *last).await? else {
                return Ok(None);
            };
            *last = summary.sequence;
            next_segment = summary.next_segment.or(next_segment);
            group += 1;
        }
        let next = next_segment.filter(|&next| next < geometry.segments);
        Ok(next.map(|segment| LogPosition { segment, group: 0, next_segment: None }))
    }

    /// Replays a group if it was written after `last` in the superblock's session.
    async fn group(
        &mut self,
        segment: u32,
        group: u32,
        last: u64,
    ) -> Result<Option<GroupSummary>, DeviceError> {
        let geometry = self.superblock.geometry;
        let number = segment * geometry.groups_per_segment + group;
        let read = Request::read(Purpose::Header, geometry.group_at(number), SUMMARY_BYTES);
        let block = self.flash.submit(read).await.into_buffer()?;
        let summary = GroupSummary::decode(&block, &self.superblock.identity).filter(|summary| {
            summary.group == number
                && summary.session == self.superblock.session
                && summary.sequence > last
                && summary.entries.len() <= geometry.blocks_per_group as usize
        });
        if let Some(summary) = &summary {
            for (position, entry) in (number * geometry.blocks_per_group..).zip(&summary.entries) {
                self.index.remove_at(position);
                if let Some(entry) = *entry {
                    self.index.insert(position, entry);
                }
            }
            self.sequence = self.sequence.max(summary.sequence);
            self.groups += 1;
        }
        Ok(summary)
    }

    fn clear(&mut self, segment: u32) {
        let blocks = self.superblock.geometry.blocks_per_segment();
        for position in segment * blocks..(segment + 1) * blocks {
            self.index.remove_at(position);
        }
    }
}

/// Lists every segment once, at its latest position: one that was emptied and refilled is in the
/// lists twice.
fn listed_once(full: [VecDeque<u32>; 2]) -> [VecDeque<u32>; 2] {
    let mut seen = std::collections::BTreeSet::new();
    let [small, main] = full;
    let [main, small] = [main, small].map(|list| {
        let mut once = VecDeque::new();
        for segment in list.into_iter().rev().filter(|&segment| seen.insert(segment)) {
            once.push_front(segment);
        }
        once
    });
    [small, main]
}

fn state_of(
    superblock: CacheSuperblock,
    mut index: BlockIndex,
    sequence: u64,
    mut full: [VecDeque<u32>; 2],
) -> StoreState {
    let geometry = superblock.geometry;
    while full.iter().map(VecDeque::len).sum::<usize>() + 4 > geometry.segments as usize {
        let longer = usize::from(full[1].len() > full[0].len());
        full[longer].pop_front();
    }
    let mut is_full = vec![false; geometry.segments as usize];
    for &segment in full.iter().flatten() {
        is_full[segment as usize] = true;
    }
    for position in 0..geometry.positions() {
        if !is_full[(position / geometry.blocks_per_segment()) as usize] {
            index.remove_at(position);
        }
    }
    StoreState {
        geometry,
        index,
        ghost: Ghost::new(u64::from(geometry.positions())),
        segments: Segments::new(geometry.segments, full),
        filling: [None, None],
        in_flight: BTreeMap::new(),
        sequence,
        superblock,
        held: BTreeMap::new(),
        log_bytes: 0,
        counters: StoreCounters::default(),
        health: CacheHealth::Working,
        reclaims: 0,
        starving: [false; 2],
        is_saving: true,
        is_marking_empty: false,
        retired: Vec::new(),
        retiring: Vec::new(),
    }
}

/// Drops blocks of marked regions and of unknown volumes; counts the former, and the blocks of each
/// volume.
fn drop_what_is_uncertain(state: &mut StoreState, dirty: &DirtyLog) -> u64 {
    let geometry: StoreGeometry = state.geometry;
    let mut dropped = 0;
    for position in 0..geometry.positions() {
        let Some(entry) = state.index.entry(position) else {
            continue;
        };
        let bit = dirty_bits::bit_of(entry.key, geometry.block_bytes, geometry.dirty_pages);
        let is_marked = dirty.is_marked(bit);
        if is_marked || !state.superblock.volumes.contains_key(&entry.key.volume) {
            state.index.remove_at(position);
            dropped += u64::from(is_marked);
        } else {
            *state.held.entry(entry.key.volume).or_default() += 1;
        }
    }
    dropped
}
