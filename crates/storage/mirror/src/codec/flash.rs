//! Records of a file that holds an image: every operation on it, or the image as a whole, in parts.

use super::fields::{Decoder, Encoder};
use crate::image::{BlockSlot, FlashImage, FlashOp, ImageHead, LogEntry, SettledBlock};

/// Blocks or entries in one record of an image.
const PART: usize = 64;

/// One record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlashRecord {
    /// An operation.
    Op(FlashOp),
    /// Start of an image: everything except its blocks and its log.
    Head(ImageHead),
    /// Some of its folded blocks.
    Base(Vec<(u64, BlockSlot)>),
    /// Some of its folded blocks, whose contents are at their homes.
    Homes(Vec<SettledBlock>),
    /// Some of its log, in order.
    Log(Vec<LogEntry>),
}

impl FlashRecord {
    /// The record as bytes.
    #[must_use]
    pub(crate) fn encode(&self) -> Vec<u8> {
        let to = Encoder::of_kind;
        let encoded = match self {
            Self::Op(op) => encode_op(op),
            Self::Head(head) => to(20)
                .word(head.epoch)
                .maybe(head.floor)
                .word(head.commit)
                .word(head.destaged)
                .word(head.start),
            Self::Base(slots) => to(21).slots(slots),
            Self::Log(entries) => to(22).entries(entries.iter()),
            Self::Homes(blocks) => to(23).settled(blocks),
        };
        encoded.0
    }

    /// The record encoded in `bytes`; `None` if they are not a record.
    #[must_use]
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut from = Decoder(bytes);
        let record = match from.byte()? {
            20 => Self::Head(ImageHead {
                epoch: from.word()?,
                floor: from.maybe().ok()?,
                commit: from.word()?,
                destaged: from.word()?,
                start: from.word()?,
            }),
            21 => Self::Base(from.slots()?),
            22 => Self::Log(from.entries()?),
            23 => Self::Homes(from.settled()?),
            kind => Self::Op(decode_op(kind, &mut from)?),
        };
        from.end(record)
    }
}

fn encode_op(op: &FlashOp) -> Encoder {
    let to = Encoder::of_kind;
    match op {
        FlashOp::Append(entries) => to(1).entries(entries.iter()),
        FlashOp::ReplaceTail { base, entries } => to(2).word(*base).entries(entries.iter()),
        FlashOp::Mark { commit, destaged } => to(3).word(*commit).word(*destaged),
        FlashOp::Epoch(epoch) => to(4).word(*epoch),
        FlashOp::Adopt { keep_clean } => to(5).byte(u8::from(*keep_clean)),
        FlashOp::Begin { start, floor } => to(6).word(*start).maybe(*floor),
        FlashOp::Copy(slots) => to(7).slots(slots),
        FlashOp::EndCopy => to(8),
        FlashOp::Evict(block) => to(9).word(*block),
    }
}

fn decode_op(kind: u8, from: &mut Decoder<'_>) -> Option<FlashOp> {
    Some(match kind {
        1 => FlashOp::Append(from.entries()?),
        2 => FlashOp::ReplaceTail { base: from.word()?, entries: from.entries()? },
        3 => FlashOp::Mark { commit: from.word()?, destaged: from.word()? },
        4 => FlashOp::Epoch(from.word()?),
        5 => FlashOp::Adopt { keep_clean: from.byte()? == 1 },
        6 => FlashOp::Begin { start: from.word()?, floor: from.maybe().ok()? },
        7 => FlashOp::Copy(from.slots()?),
        8 => FlashOp::EndCopy,
        9 => FlashOp::Evict(from.word()?),
        _ => return None,
    })
}

impl FlashImage {
    /// The image as records, from which [`Self::replay`] restores it.
    pub fn records(&self) -> impl Iterator<Item = FlashRecord> + '_ {
        let base = self.base_parts(PART).map(FlashRecord::Base);
        let homes = self.home_parts(PART * PART).map(FlashRecord::Homes);
        let log = self.log_parts(PART).map(FlashRecord::Log);
        std::iter::once(FlashRecord::Head(self.head())).chain(base).chain(homes).chain(log)
    }

    /// Carries out a record; `false` if it cannot follow the previous ones.
    pub fn replay(&mut self, record: FlashRecord) -> bool {
        match record {
            FlashRecord::Op(op) => {
                let can_follow = self.admits(&op);
                if can_follow {
                    self.apply(&op);
                }
                can_follow
            }
            FlashRecord::Head(head) => self.begin_image(head),
            FlashRecord::Base(slots) => {
                self.copy(&slots);
                true
            }
            FlashRecord::Homes(blocks) => {
                self.resettle(blocks);
                true
            }
            FlashRecord::Log(entries) => self.replay(FlashRecord::Op(FlashOp::Append(entries))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FlashRecord;
    use crate::image::{BlockSlot, EntryKind, FlashImage, FlashOp, LogEntry};

    fn entry(lsn: u64) -> LogEntry {
        LogEntry { lsn, kind: EntryKind::Write { block: lsn % 3, data: [1, 2].into() } }
    }

    fn all_ops() -> Vec<FlashOp> {
        let barrier = LogEntry { lsn: 10, kind: EntryKind::Barrier };
        vec![
            FlashOp::Epoch(3),
            FlashOp::Begin { start: 4, floor: Some(2) },
            FlashOp::Copy(vec![(3, BlockSlot { lsn: 4, data: [9].into() })]),
            FlashOp::EndCopy,
            FlashOp::Append((5..9).map(entry).collect()),
            FlashOp::ReplaceTail { base: 7, entries: vec![entry(8), entry(9), barrier] },
            FlashOp::Mark { commit: 9, destaged: 8 },
            FlashOp::Evict(3),
            FlashOp::Copy(vec![(4, BlockSlot { lsn: 8, data: [7].into() })]),
        ]
    }

    #[test]
    fn an_image_made_again_from_its_operations_or_its_records_is_the_same() {
        for backed in [false, true] {
            let empty = FlashImage::empty(backed, 1);
            let (mut image, mut replayed) = (empty.clone(), empty.clone());
            for op in all_ops() {
                image.apply(&op);
                let bytes = FlashRecord::Op(op).encode();
                assert!(replayed.replay(FlashRecord::decode(&bytes).expect("a record")));
                let settled: Vec<_> = image.unsettled().map(|(block, _)| block).collect();
                image.settle(&settled[..settled.len() / 2]);
                replayed.settle(&settled[..settled.len() / 2]);
                let mut copied = empty.clone();
                for record in image.records() {
                    let decoded = FlashRecord::decode(&record.encode());
                    assert!(copied.replay(decoded.expect("a record")));
                }
                assert_eq!(copied, image);
            }
            assert_eq!(replayed, image);
            image.apply(&FlashOp::Adopt { keep_clean: true });
            assert_ne!(replayed, image);
        }
    }

    #[test]
    fn entries_that_do_not_follow_are_refused() {
        let mut image = FlashImage::empty(true, 8);
        assert!(image.replay(FlashRecord::Op(FlashOp::Append(vec![entry(1)]))));
        assert!(!image.replay(FlashRecord::Op(FlashOp::Append(vec![entry(3)]))));
        let gap = FlashOp::ReplaceTail { base: 0, entries: vec![entry(2)] };
        assert!(!image.replay(FlashRecord::Op(gap)));
    }
}
