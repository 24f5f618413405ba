//! Changes that may have to be undone and no longer fit in memory: sorted by number, in blocks that
//! the store sets aside, read from last to first.

use std::collections::BTreeSet;

use super::pages::PageStore;
use super::undo_version::UndoVersion;
use crate::bytes::u32_at;

/// Bytes of a block, unless a single version is longer.
const BLOCK_BYTES: usize = 64 << 10;
/// Bytes in front of each version in a block: its length.
const LENGTH_BYTES: usize = 4;

/// A block in the store.
#[derive(Clone, Copy, Debug)]
struct BlockAt {
    first: u32,
    at: u64,
    bytes: usize,
}

/// Versions of one transaction, in the order of their numbers.
#[derive(Debug)]
pub(super) struct UndoRun {
    blocks: Vec<BlockAt>,
    /// The highest number.
    last: u32,
    /// The stored forms in the last block, once it has been read.
    loaded: Option<Vec<Vec<u8>>>,
    /// Numbers of versions taken out of order, before later ones.
    taken: BTreeSet<u32>,
    /// Lowest level that has been rolled back; so have all above it.
    dead_from: u8,
    /// The highest level of the remaining versions after commits.
    level: u8,
}

impl UndoRun {
    /// Stores `versions`, in ascending order, at `at`, and advances `at` past them.
    pub(super) fn write<'v, S: PageStore>(
        versions: impl Iterator<Item = (u8, &'v [u8])>,
        store: &mut S,
        at: &mut u64,
    ) -> Result<Self, S::Error> {
        let mut run = Self {
            blocks: Vec::new(),
            last: 0,
            loaded: None,
            taken: BTreeSet::new(),
            dead_from: u8::MAX,
            level: u8::MAX,
        };
        let (mut block, mut first) = (Vec::new(), 0);
        for (level, bytes) in versions {
            let number = UndoVersion::stored_number(bytes);
            if block.is_empty() {
                first = number;
            }
            block.extend(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
            let start = block.len();
            block.extend_from_slice(bytes);
            UndoVersion::set_stored_level(&mut block[start..], level);
            run.last = number;
            if block.len() >= BLOCK_BYTES {
                run.write_block(first, &mut block, store, at)?;
            }
        }
        if !block.is_empty() {
            run.write_block(first, &mut block, store, at)?;
        }
        Ok(run)
    }

    fn write_block<S: PageStore>(
        &mut self,
        first: u32,
        block: &mut Vec<u8>,
        store: &mut S,
        at: &mut u64,
    ) -> Result<(), S::Error> {
        store.set_aside(*at, block)?;
        self.blocks.push(BlockAt { first, at: *at, bytes: block.len() });
        *at += block.len() as u64;
        block.clear();
        Ok(())
    }

    /// Versions above this level now belong to it.
    pub(super) fn commit(&mut self, level: u8) {
        self.level = self.level.min(level);
    }

    /// Versions above this level have been undone.
    pub(super) fn roll_back(&mut self, level: u8) {
        if self.level > level {
            self.dead_from = self.dead_from.min(level.saturating_add(1));
        }
    }

    /// The number of the last version that is still to be undone.
    pub(super) fn last_number<S: PageStore>(
        &mut self,
        store: &mut S,
    ) -> Result<Option<u32>, S::Error> {
        loop {
            let Some(block) = self.blocks.last().copied() else {
                return Ok(None);
            };
            if self.loaded.is_none() {
                self.loaded = Some(read_block(block, store)?);
            }
            let last = self.loaded.as_ref().and_then(|versions| versions.last());
            let Some(bytes) = last else {
                self.blocks.pop();
                self.loaded = None;
                continue;
            };
            let number = UndoVersion::stored_number(bytes);
            if UndoVersion::stored_level(bytes) < self.dead_from && !self.taken.remove(&number) {
                return Ok(Some(number));
            }
            self.drop_last();
        }
    }

    /// Removes and returns the version found by [`Self::last_number`].
    pub(super) fn drop_last(&mut self) -> Option<Vec<u8>> {
        self.loaded.as_mut()?.pop()
    }

    /// Removes and returns the version with this number, if present.
    pub(super) fn take<S: PageStore>(
        &mut self,
        number: u32,
        store: &mut S,
    ) -> Result<Option<Vec<u8>>, S::Error> {
        if number > self.last {
            return Ok(None);
        }
        // A rollback in the log takes the last one first.
        match self.last_number(store)? {
            Some(last) if last == number => return Ok(self.drop_last()),
            Some(last) if last > number => {}
            _ => return Ok(None),
        }
        let end = self.blocks.partition_point(|block| block.first <= number);
        let Some(block) = end.checked_sub(1).map(|index| self.blocks[index]) else {
            return Ok(None);
        };
        let found = read_block(block, store)?.into_iter().find(|bytes| {
            UndoVersion::stored_number(bytes) == number
                && UndoVersion::stored_level(bytes) < self.dead_from
        });
        Ok(found.filter(|_| self.taken.insert(number)))
    }
}

fn read_block<S: PageStore>(block: BlockAt, store: &mut S) -> Result<Vec<Vec<u8>>, S::Error> {
    let mut bytes = vec![0; block.bytes];
    store.bring_back(block.at, &mut bytes)?;
    let (mut versions, mut rest) = (Vec::new(), bytes.as_slice());
    while let Some(length) = u32_at(rest, 0) {
        let end = LENGTH_BYTES.saturating_add(length as usize);
        let Some(version) = rest.get(LENGTH_BYTES..end) else {
            break;
        };
        versions.push(version.to_vec());
        rest = &rest[end..];
    }
    Ok(versions)
}
