//! The parts that messages and operations have in common.

use crate::image::{
    BlockContent, BlockData, BlockSlot, EntryKind, HomeBlock, LogEntry, SettledBlock,
};
use crate::message::AttachmentKey;

/// Collects the bytes of a value.
#[derive(Debug, Default)]
pub(super) struct Encoder(pub(super) Vec<u8>);

impl Encoder {
    /// Begins a value of the kind `tag`.
    pub(super) fn of_kind(tag: u8) -> Self {
        Self(vec![tag])
    }

    pub(super) fn byte(mut self, value: u8) -> Self {
        self.0.push(value);
        self
    }

    pub(super) fn word(mut self, value: u64) -> Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(super) fn maybe(self, value: Option<u64>) -> Self {
        match value {
            None => self.byte(0),
            Some(value) => self.byte(1).word(value),
        }
    }

    pub(super) fn data(mut self, data: &[u8]) -> Self {
        self = self.word(data.len() as u64);
        self.0.extend_from_slice(data);
        self
    }

    pub(super) fn key(self, key: AttachmentKey) -> Self {
        self.word(key.epoch).word(key.session).word(key.boot)
    }

    pub(super) fn entries<'a>(self, entries: impl ExactSizeIterator<Item = &'a LogEntry>) -> Self {
        let start = self.word(entries.len() as u64);
        entries.fold(start, |to, entry| match &entry.kind {
            EntryKind::Write { block, data } => to.byte(1).word(entry.lsn).word(*block).data(data),
            EntryKind::Barrier => to.byte(2).word(entry.lsn),
        })
    }

    pub(super) fn slots(self, slots: &[(u64, BlockSlot)]) -> Self {
        let start = self.word(slots.len() as u64);
        slots
            .iter()
            .fold(start, |to, (block, slot)| to.word(*block).word(slot.lsn).content(&slot.data))
    }

    /// # Panics
    /// If the content is not in memory: callers fetch it first.
    pub(super) fn content(self, content: &BlockContent) -> Self {
        let BlockContent::Here(data) = content else {
            panic!("{content:?} must be fetched before it is sent");
        };
        self.data(data)
    }

    pub(super) fn settled(self, blocks: &[SettledBlock]) -> Self {
        let start = self.word(blocks.len() as u64);
        blocks.iter().fold(start, |to, SettledBlock { home, lsn }| {
            to.word(home.block).word(home.sum).word(*lsn)
        })
    }
}

/// Takes values from the front of some bytes.
#[derive(Debug)]
pub(super) struct Decoder<'a>(pub(super) &'a [u8]);

impl<'a> Decoder<'a> {
    /// The next `count` bytes.
    pub(super) fn part(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        self.part(1)?.first().copied()
    }

    pub(super) fn word(&mut self) -> Option<u64> {
        self.part(8)?.try_into().ok().map(u64::from_le_bytes)
    }

    pub(super) fn number(&mut self) -> Option<usize> {
        self.word()?.try_into().ok()
    }

    pub(super) fn maybe(&mut self) -> Result<Option<u64>, ()> {
        match self.byte() {
            Some(0) => Ok(None),
            Some(1) => self.word().map(Some).ok_or(()),
            _ => Err(()),
        }
    }

    pub(super) fn data(&mut self) -> Option<BlockData> {
        let length = self.number()?;
        self.part(length).map(BlockData::from)
    }

    pub(super) fn key(&mut self) -> Option<AttachmentKey> {
        Some(AttachmentKey { epoch: self.word()?, session: self.word()?, boot: self.word()? })
    }

    pub(super) fn entries(&mut self) -> Option<Vec<LogEntry>> {
        self.each(|from| {
            let kind = from.byte()?;
            let lsn = from.word()?;
            let kind = match kind {
                1 => EntryKind::Write { block: from.word()?, data: from.data()? },
                2 => EntryKind::Barrier,
                _ => return None,
            };
            Some(LogEntry { lsn, kind })
        })
    }

    pub(super) fn slots(&mut self) -> Option<Vec<(u64, BlockSlot)>> {
        self.each(|from| {
            let block = from.word()?;
            Some((block, BlockSlot { lsn: from.word()?, data: from.data()?.into() }))
        })
    }

    pub(super) fn settled(&mut self) -> Option<Vec<SettledBlock>> {
        self.each(|from| {
            let home = HomeBlock { block: from.word()?, sum: from.word()? };
            Some(SettledBlock { home, lsn: from.word()? })
        })
    }

    /// A list: its length, then its members. Memory grows as members are found, regardless of the
    /// claimed length.
    fn each<T>(&mut self, mut one: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        (0..self.word()?).map(|_| one(self)).collect()
    }

    /// Returns `value` if no bytes are left.
    pub(super) fn end<T>(self, value: T) -> Option<T> {
        self.0.is_empty().then_some(value)
    }
}
