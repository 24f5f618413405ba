//! The part of a volume on one host's flash, and the effect of each operation on it.
//!
//! The newest entries are a log in order; older ones have been folded into a map of blocks. A new
//! owner may still withdraw a log entry, but never a folded one: it was committed.

mod home;
mod whole;

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

pub use home::{BlockContent, HomeBlock, SettledBlock};
pub use whole::ImageHead;

/// The content of one block; empty for a trimmed block, which reads as zeros.
pub type BlockData = Arc<[u8]>;

/// Effect of a log entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A block gets new content.
    Write {
        /// The block.
        block: u64,
        /// All of its bytes.
        data: BlockData,
    },
    /// A flush epoch ends: later entries reach the backing store after all earlier ones.
    Barrier,
}

/// One entry of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// Its position, counted from 1 without gaps.
    pub lsn: u64,
    /// Its effect.
    pub kind: EntryKind,
}

impl LogEntry {
    fn write(&self) -> Option<(u64, &BlockData)> {
        match &self.kind {
            EntryKind::Write { block, data } => Some((*block, data)),
            EntryKind::Barrier => None,
        }
    }
}

/// The content of a block, current as of a position of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockSlot {
    /// Position up to which no later write exists.
    pub lsn: u64,
    /// All bytes of the block, or where they are.
    pub data: BlockContent,
}

/// One operation on flash. Operations become durable in order; each is atomic, except that any
/// number of leading entries of an append may survive a power failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlashOp {
    /// Entries at the end of the log.
    Append(Vec<LogEntry>),
    /// Replaces everything after `base`. If this were not atomic, acknowledged writes could be
    /// lost.
    ReplaceTail {
        /// The last entry that stays.
        base: u64,
        /// The entries after `base`.
        entries: Vec<LogEntry>,
    },
    /// How far the log is committed and destaged.
    Mark {
        /// No new owner can withdraw entries up to here.
        commit: u64,
        /// The backing store durably holds entries up to here.
        destaged: u64,
    },
    /// Messages of lower epochs are refused from now on.
    Epoch(u64),
    /// The backing store is the authority: the log is dropped.
    Adopt {
        /// Whether to keep cached blocks that no dropped entry touches.
        keep_clean: bool,
    },
    /// Restarts the log after `start` while this host is being resynchronised.
    Begin {
        /// The owner's stream continues after this entry.
        start: u64,
        /// Entries up to this one are kept and valid; `None` if none are.
        floor: Option<u64>,
    },
    /// Copies blocks that are newer than the existing ones.
    Copy(Vec<(u64, BlockSlot)>),
    /// The copy is complete.
    EndCopy,
    /// A cached block is dropped.
    Evict(u64),
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlashImage {
    backed: bool,
    retained: u64,
    epoch: u64,
    floor: Option<u64>,
    commit: u64,
    destaged: u64,
    start: u64,
    log: VecDeque<LogEntry>,
    /// LSN of the last write to each block in the log.
    newest: BTreeMap<u64, u64>,
    base: BTreeMap<u64, BlockSlot>,
}

impl FlashImage {
    /// An empty volume; `retained` committed entries stay in the log.
    #[must_use]
    pub fn empty(backed: bool, retained: u64) -> Self {
        Self {
            backed,
            retained,
            epoch: 0,
            floor: None,
            commit: 0,
            destaged: 0,
            start: 0,
            log: VecDeque::new(),
            newest: BTreeMap::new(),
            base: BTreeMap::new(),
        }
    }

    /// Carries `op` out.
    ///
    /// # Panics
    /// If entries do not follow the end of the log: the node checks before it appends.
    pub fn apply(&mut self, op: &FlashOp) {
        match op {
            FlashOp::Append(entries) => self.append(entries),
            FlashOp::ReplaceTail { base, entries } => {
                self.log.truncate(self.count_to(*base));
                self.newest = self.last_writes();
                self.append(entries);
            }
            FlashOp::Mark { commit, destaged } => {
                self.commit = self.commit.max(*commit);
                self.destaged = self.destaged.max(*destaged);
                self.fold();
            }
            FlashOp::Epoch(epoch) => self.epoch = self.epoch.max(*epoch),
            FlashOp::Adopt { keep_clean } => self.adopt(*keep_clean),
            FlashOp::Begin { start, floor } => self.begin(*start, *floor),
            FlashOp::Copy(slots) => self.copy(slots),
            FlashOp::EndCopy => self.floor = None,
            FlashOp::Evict(block) => drop(self.base.remove(block)),
        }
    }

    /// Applies an append torn by a power failure: its first `count` entries.
    pub fn apply_torn(&mut self, op: &FlashOp, count: usize) {
        if let FlashOp::Append(entries) = op {
            self.append(&entries[..count.min(entries.len())]);
        }
    }

    fn append(&mut self, entries: &[LogEntry]) {
        for entry in entries {
            assert_eq!(entry.lsn, self.end() + 1, "entries follow each other");
            if let Some((block, _)) = entry.write() {
                self.newest.insert(block, entry.lsn);
            }
            self.log.push_back(entry.clone());
        }
    }

    fn last_writes(&self) -> BTreeMap<u64, u64> {
        self.log.iter().filter_map(|entry| Some((entry.write()?.0, entry.lsn))).collect()
    }

    fn fold(&mut self) {
        let last = if self.backed { self.commit.min(self.destaged) } else { self.commit };
        self.fold_to(last.min(self.end()).saturating_sub(self.retained));
    }

    fn fold_to(&mut self, last: u64) {
        while self.start < last
            && let Some(entry) = self.log.pop_front()
        {
            self.start = entry.lsn;
            if let EntryKind::Write { block, data } = entry.kind {
                if self.newest.get(&block) == Some(&entry.lsn) {
                    self.newest.remove(&block);
                }
                self.keep(block, BlockSlot { lsn: entry.lsn, data: data.into() });
            }
        }
    }

    fn keep(&mut self, block: u64, slot: BlockSlot) {
        if self.base.get(&block).is_none_or(|present| present.lsn < slot.lsn) {
            self.base.insert(block, slot);
        }
    }

    fn adopt(&mut self, keep_clean: bool) {
        if keep_clean {
            for (block, _) in self.log.iter().filter_map(LogEntry::write) {
                self.base.remove(&block);
            }
        } else {
            self.base.clear();
        }
        self.restart_log(self.end());
    }

    fn restart_log(&mut self, start: u64) {
        self.log.clear();
        self.newest.clear();
        self.start = start;
        self.commit = start;
        self.destaged = start;
        self.floor = None;
    }

    fn begin(&mut self, start: u64, floor: Option<u64>) {
        match floor {
            Some(floor) => self.fold_to(floor),
            None => self.base.clear(),
        }
        self.restart_log(start);
        self.floor = floor;
    }

    pub(crate) fn copy(&mut self, slots: &[(u64, BlockSlot)]) {
        for (block, slot) in slots {
            self.keep(*block, slot.clone());
        }
    }

    /// The content of `block` as of entry `upto`, if flash holds it.
    #[must_use]
    pub fn read(&self, block: u64, upto: u64) -> Option<BlockSlot> {
        let logged = self.logged(block, upto);
        let base = self.base.get(&block);
        match (logged, base) {
            (Some(logged), Some(base)) if base.lsn > logged.lsn => Some(base.clone()),
            (None, base) => base.cloned(),
            (logged, _) => logged,
        }
    }

    /// The last write to `block` in the log, up to entry `upto`.
    fn logged(&self, block: u64, upto: u64) -> Option<BlockSlot> {
        let newest = *self.newest.get(&block)?;
        let mut writes = self.log.iter().take(self.count_to(newest.min(upto))).rev();
        writes.find_map(|entry| {
            let (written, data) = entry.write()?;
            (written == block).then(|| BlockSlot { lsn: entry.lsn, data: Arc::clone(data).into() })
        })
    }

    /// Number of log entries up to `lsn`.
    fn count_to(&self, lsn: u64) -> usize {
        usize::try_from(lsn.saturating_sub(self.start)).unwrap_or(usize::MAX)
    }

    /// `true` if the log writes `block` after entry `lsn`.
    pub(crate) fn writes_after(&self, block: u64, lsn: u64) -> bool {
        self.newest.get(&block).is_some_and(|newest| *newest > lsn)
    }

    /// Entries after `lsn`, up to `most` of them.
    pub(crate) fn entries_after(&self, lsn: u64, most: usize) -> Vec<LogEntry> {
        self.after(lsn).take(most).cloned().collect()
    }

    fn after(&self, lsn: u64) -> impl Iterator<Item = &LogEntry> {
        self.log.iter().skip(self.count_to(lsn))
    }

    /// Blocks whose newest content up to `upto` is later than `after`, in their order.
    pub(crate) fn changed(&self, after: u64, upto: u64) -> Vec<u64> {
        let written = self.log.iter().filter_map(LogEntry::write).map(|(block, _)| block);
        let mut blocks: Vec<u64> = self.base.keys().copied().chain(written).collect();
        blocks.sort_unstable();
        blocks.dedup();
        blocks.retain(|&block| self.read(block, upto).is_some_and(|slot| slot.lsn > after));
        blocks
    }

    /// Blocks of `range` that a trim must still empty, in order: all that were written, except
    /// those with a committed trim.
    #[must_use]
    pub fn untrimmed(&self, range: Range<u64>) -> Vec<u64> {
        let folded = self.base.range(range.clone()).map(|(block, _)| *block);
        let written = self.newest.range(range).map(|(block, _)| *block);
        let mut blocks: Vec<u64> = folded.chain(written).collect();
        blocks.sort_unstable();
        blocks.dedup();
        blocks.retain(|&block| {
            let slot = self.read(block, u64::MAX);
            slot.is_some_and(|slot| !slot.data.is_trimmed() || slot.lsn > self.commit)
        });
        blocks
    }

    /// The end of the first complete flush epoch after entry `lsn`.
    pub(crate) fn barrier_after(&self, lsn: u64) -> Option<u64> {
        let mut after = self.after(lsn);
        after.find(|entry| entry.kind == EntryKind::Barrier).map(|entry| entry.lsn)
    }

    /// `true` if a write follows the last barrier and entry `lsn`.
    pub(crate) fn is_open_after(&self, lsn: u64) -> bool {
        self.end() > lsn && self.log.back().is_some_and(|entry| entry.kind != EntryKind::Barrier)
    }

    /// The last content of each block written in `(after, upto]`.
    pub(crate) fn coalesced(&self, after: u64, upto: u64) -> BTreeMap<u64, BlockData> {
        self.after(after)
            .take_while(|entry| entry.lsn <= upto)
            .filter_map(LogEntry::write)
            .map(|(block, data)| (block, Arc::clone(data)))
            .collect()
    }

    /// The last entry.
    #[must_use]
    pub(crate) fn end(&self) -> u64 {
        self.start + self.log.len() as u64
    }

    /// The entry before the first one of the log.
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    /// See [`FlashOp::Epoch`].
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// See [`FlashOp::Mark`].
    pub(crate) fn commit(&self) -> u64 {
        self.commit
    }

    /// See [`FlashOp::Mark`].
    pub(crate) fn destaged(&self) -> u64 {
        self.destaged
    }

    /// Last entry that this host certainly holds, even if a resynchronisation was interrupted.
    pub(crate) fn valid_to(&self) -> u64 {
        self.floor.unwrap_or(self.commit)
    }
}
