//! The line to the peer: splits messages of the state machine into parts that a NATS server
//! carries. If a part is lost, so is its message.

use std::collections::BTreeMap;

use carrier::{Carrier, Letter, Listening, Outbox};
use mirror::{NodeEvent, PeerMessage};

use super::event::EventSlot;
use crate::cache::mirror::messages;
use console::error::CommandError;

/// Bytes per part; a server carries messages of up to 1 MiB by default.
const PART: usize = 512 << 10;

/// Header bytes: message number, index of the part, number of parts.
const HEAD: usize = 16;

/// Maximum incomplete messages at a time.
const MOST_INCOMPLETE: usize = 64;

/// See the module.
pub(super) struct PeerLine {
    outbox: Outbox,
    subject: String,
    next: u64,
    _listening: Listening,
}

/// Opens the line of `volume` between `me` and `peer`. `boot` distinguishes it from earlier ones.
pub(super) fn open(
    carrier: &Carrier,
    volume: &str,
    (me, peer): (&str, &str),
    boot: u64,
    slot: EventSlot,
) -> Result<PeerLine, CommandError> {
    let mut incomplete = Incomplete::default();
    let listening = carrier.listen(
        messages(volume, me),
        Box::new(move |letter| {
            receive(&letter, &mut incomplete, &slot);
            true
        }),
    )?;
    let (outbox, subject) = (carrier.outbox(), messages(volume, peer));
    Ok(PeerLine { outbox, subject, next: boot, _listening: listening })
}

impl PeerLine {
    /// Sends a message, or loses it if the line does not keep up.
    pub(super) fn send(&mut self, message: &PeerMessage) {
        self.next = self.next.wrapping_add(1);
        for part in parts(self.next, &message.encode()) {
            if !self.outbox.send(&self.subject, part) {
                return;
            }
        }
    }
}

fn receive(letter: &Letter, incomplete: &mut Incomplete, slot: &EventSlot) {
    let whole = incomplete.add(&letter.bytes);
    if let Some(message) = whole.and_then(|bytes| PeerMessage::decode(&bytes)) {
        slot.node(NodeEvent::Peer(message));
    }
}

/// Message `number` in parts.
fn parts(number: u64, bytes: &[u8]) -> Vec<Vec<u8>> {
    let count = bytes.len().div_ceil(PART);
    let part = |(at, part): (usize, &[u8])| {
        let [at, count] = [at, count].map(|number| u32::try_from(number).unwrap_or(u32::MAX));
        [&number.to_le_bytes()[..], &at.to_le_bytes(), &count.to_le_bytes(), part].concat()
    };
    bytes.chunks(PART).enumerate().map(part).collect()
}

/// Messages with missing parts.
#[derive(Debug, Default)]
struct Incomplete(BTreeMap<u64, BTreeMap<u32, Vec<u8>>>);

impl Incomplete {
    /// Adds a part; returns the message if this completes it.
    fn add(&mut self, letter: &[u8]) -> Option<Vec<u8>> {
        let (head, part) = letter.split_at_checked(HEAD)?;
        let number = u64::from_le_bytes(head[..8].try_into().ok()?);
        let at = u32::from_le_bytes(head[8..12].try_into().ok()?);
        let count = u32::from_le_bytes(head[12..].try_into().ok()?);
        if count == 1 {
            return Some(part.to_vec());
        }
        let parts = self.0.entry(number).or_default();
        parts.insert(at, part.to_vec());
        if parts.len() == usize::try_from(count).ok()? {
            let parts = self.0.remove(&number)?;
            return Some(parts.into_values().flatten().collect());
        }
        while self.0.len() > MOST_INCOMPLETE {
            self.0.pop_first();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{Incomplete, MOST_INCOMPLETE, PART, parts};

    #[test]
    fn a_message_is_whole_once_all_its_parts_have_come_in_any_order() {
        let bytes: Vec<u8> = (0..2 * PART + 5).map(|at| at.to_le_bytes()[0]).collect();
        let mut incomplete = Incomplete::default();
        let mut sent = parts(7, &bytes);
        assert_eq!(sent.len(), 3);
        sent.rotate_left(1);
        sent.insert(1, sent[0].clone());
        let received: Vec<_> = sent.iter().filter_map(|part| incomplete.add(part)).collect();
        assert_eq!(received, [bytes]);
        assert!(incomplete.0.is_empty());
        assert_eq!(incomplete.add(&parts(8, &[1, 2])[0]), Some(vec![1, 2]));
    }

    #[test]
    fn lost_parts_do_not_fill_the_memory() {
        let mut incomplete = Incomplete::default();
        for number in 0..1_000 {
            assert_eq!(incomplete.add(&parts(number, &vec![0; PART + 1])[0]), None);
        }
        assert_eq!(incomplete.0.len(), MOST_INCOMPLETE);
        assert_eq!(incomplete.add(&[1, 2, 3]), None);
    }
}
