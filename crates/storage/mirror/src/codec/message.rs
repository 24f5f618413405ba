//! Messages between the two hosts.

use super::fields::{Decoder, Encoder};
use crate::message::PeerMessage;

impl PeerMessage {
    /// The message as bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let to = Encoder::of_kind;
        let encoded = match self {
            Self::Join { epoch, session } => to(1).word(*epoch).word(*session),
            Self::Joined { key, valid_to } => to(2).key(*key).word(*valid_to),
            Self::Superseded(epoch) => to(3).word(*epoch),
            Self::Detached(key) => to(4).key(*key),
            Self::Reset { key, base, entries } => {
                to(5).key(*key).word(*base).entries(entries.iter())
            }
            Self::Begin { key, start, floor } => to(6).key(*key).word(*start).maybe(*floor),
            Self::Entries { key, entries, commit, destaged } => {
                to(7).key(*key).entries(entries.iter()).word(*commit).word(*destaged)
            }
            Self::Durable { key, lsn, marked } => to(8).key(*key).word(*lsn).word(*marked),
            Self::Copy { key, batch, slots } => to(9).key(*key).word(*batch as u64).slots(slots),
            Self::Copied { key, batch } => to(10).key(*key).word(*batch as u64),
            Self::EndCopy(key) => to(11).key(*key),
            Self::CopyEnded(key) => to(12).key(*key),
            Self::Warm { key, slots } => to(13).key(*key).slots(slots),
            Self::Yours => to(14),
            Self::RemoteRead { id, block } => to(15).word(*id).word(*block),
            Self::RemoteValue { id, data: None } => to(16).word(*id),
            Self::RemoteValue { id, data: Some(data) } => to(17).word(*id).content(data),
        };
        encoded.0
    }

    /// The message encoded in `bytes`; `None` if they are not a message.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut from = Decoder(bytes);
        let message = match from.byte()? {
            1 => Self::Join { epoch: from.word()?, session: from.word()? },
            2 => Self::Joined { key: from.key()?, valid_to: from.word()? },
            3 => Self::Superseded(from.word()?),
            4 => Self::Detached(from.key()?),
            5 => Self::Reset { key: from.key()?, base: from.word()?, entries: from.entries()? },
            6 => Self::Begin { key: from.key()?, start: from.word()?, floor: from.maybe().ok()? },
            7 => {
                let (key, entries) = (from.key()?, from.entries()?);
                Self::Entries { key, entries, commit: from.word()?, destaged: from.word()? }
            }
            8 => Self::Durable { key: from.key()?, lsn: from.word()?, marked: from.word()? },
            9 => Self::Copy { key: from.key()?, batch: from.number()?, slots: from.slots()? },
            10 => Self::Copied { key: from.key()?, batch: from.number()? },
            11 => Self::EndCopy(from.key()?),
            12 => Self::CopyEnded(from.key()?),
            13 => Self::Warm { key: from.key()?, slots: from.slots()? },
            14 => Self::Yours,
            15 => Self::RemoteRead { id: from.word()?, block: from.word()? },
            16 => Self::RemoteValue { id: from.word()?, data: None },
            17 => Self::RemoteValue { id: from.word()?, data: Some(from.data()?.into()) },
            _ => return None,
        };
        from.end(message)
    }
}

#[cfg(test)]
mod tests {
    use crate::image::{BlockSlot, EntryKind, LogEntry};
    use crate::message::{AttachmentKey, PeerMessage};

    #[test]
    fn every_message_survives_the_way_and_no_part_of_one_is_a_message() {
        let key = AttachmentKey { epoch: 1, session: 2, boot: u64::MAX };
        let write = EntryKind::Write { block: 7, data: [1, 2].into() };
        let entries =
            vec![LogEntry { lsn: 5, kind: write }, LogEntry { lsn: 6, kind: EntryKind::Barrier }];
        let slots = vec![(3, BlockSlot { lsn: 4, data: [9].into() })];
        for message in [
            PeerMessage::Join { epoch: 3, session: 4 },
            PeerMessage::Joined { key, valid_to: 8 },
            PeerMessage::Superseded(9),
            PeerMessage::Detached(key),
            PeerMessage::Reset { key, base: 4, entries: entries.clone() },
            PeerMessage::Begin { key, start: 1, floor: None },
            PeerMessage::Begin { key, start: 1, floor: Some(2) },
            PeerMessage::Entries { key, entries, commit: 2, destaged: 1 },
            PeerMessage::Durable { key, lsn: 2, marked: 1 },
            PeerMessage::Copy { key, batch: 64, slots: slots.clone() },
            PeerMessage::Copied { key, batch: 64 },
            PeerMessage::EndCopy(key),
            PeerMessage::CopyEnded(key),
            PeerMessage::Warm { key, slots },
            PeerMessage::Yours,
            PeerMessage::RemoteRead { id: 1, block: 2 },
            PeerMessage::RemoteValue { id: 1, data: None },
            PeerMessage::RemoteValue { id: 1, data: Some([5, 6].into()) },
        ] {
            let mut bytes = message.encode();
            assert_eq!(PeerMessage::decode(&bytes).as_ref(), Some(&message));
            for length in 0..bytes.len() {
                assert_eq!(PeerMessage::decode(&bytes[..length]), None, "{message:?} cut");
            }
            bytes.push(0);
            assert_eq!(PeerMessage::decode(&bytes), None, "{message:?} and more");
        }
    }
}
