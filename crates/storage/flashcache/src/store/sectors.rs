//! Blocks with self-validating sectors, which distinguish a write torn by a power cut from bit rot.
//!
//! If one of two alternately written copies is torn, it was being written and the other one is
//! valid. A damaged copy may be the newer: then the other is stale, and must not be relied on.

use device::{Buffer, SECTOR};
use twox_hash::XxHash3_64;

/// Payload of a sector, in bytes.
const PAYLOAD: usize = SECTOR - 16;

/// Payload of a block of `length` bytes.
pub(super) const fn payload_of(length: usize) -> usize {
    length / SECTOR * PAYLOAD
}

/// Condition of a sealed block on flash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SealedCopy {
    /// All sectors are valid and from the same write.
    Whole {
        /// Counts the writes of both copies.
        sequence: u64,
        /// The reassembled payload.
        payload: Vec<u8>,
    },
    /// Its sectors are valid but come from different writes.
    Torn,
    /// A sector does not have the content that was written.
    Damaged,
}

/// Tag that distinguishes blocks of different kind or place.
pub(super) fn tag(kind: &[u8], identity: &[u8; 16], number: u32) -> u64 {
    let seed = u64::from(number);
    XxHash3_64::oneshot_with_seed(seed, &[kind, identity].concat())
}

fn checksum(tag: u64, sector: usize, bytes: &[u8]) -> [u8; 8] {
    XxHash3_64::oneshot_with_seed(tag ^ (sector as u64) << 56, bytes).to_le_bytes()
}

/// Spreads the first bytes of `payload` over the sectors of a block of `length` bytes.
pub(super) fn spread(payload: &[u8], length: usize, tag: u64, sequence: u64) -> Buffer {
    let mut block = Buffer::zeroed(length);
    let parts = payload.chunks(PAYLOAD);
    for (at, (sector, part)) in block.chunks_mut(SECTOR).zip(parts).enumerate() {
        sector[..part.len()].copy_from_slice(part);
        sector[PAYLOAD..PAYLOAD + 8].copy_from_slice(&sequence.to_le_bytes());
        let sum = checksum(tag, at, &sector[..PAYLOAD + 8]);
        sector[PAYLOAD + 8..].copy_from_slice(&sum);
    }
    block
}

/// Checks a block's sectors and reassembles its payload.
pub(super) fn gather(block: &[u8], tag: u64) -> SealedCopy {
    let mut payload = Vec::with_capacity(payload_of(block.len()));
    let mut first = None;
    let mut is_torn = false;
    for (at, sector) in block.chunks(SECTOR).enumerate() {
        let (body, sum) = sector.split_at(PAYLOAD + 8);
        if checksum(tag, at, body) != sum {
            return SealedCopy::Damaged;
        }
        let (part, sequence) = body.split_at(PAYLOAD);
        let sequence = sequence.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        is_torn |= *first.get_or_insert(sequence) != sequence;
        payload.extend_from_slice(part);
    }
    match first {
        Some(sequence) if !is_torn => SealedCopy::Whole { sequence, payload },
        _ => SealedCopy::Torn,
    }
}

/// The valid copy of two that were written alternately; `None` if either may be the newer.
pub(super) fn newest(copies: [SealedCopy; 2]) -> Option<(u64, Vec<u8>)> {
    let mut newest = None;
    for copy in copies {
        match copy {
            SealedCopy::Damaged => return None,
            SealedCopy::Torn => {}
            SealedCopy::Whole { sequence, payload } => {
                let is_newer = newest.as_ref().is_none_or(|&(older, _)| older < sequence);
                newest = if is_newer { Some((sequence, payload)) } else { newest };
            }
        }
    }
    newest
}

#[cfg(test)]
mod tests {
    use device::SECTOR;

    use super::{SealedCopy, gather, newest, payload_of, spread};

    #[test]
    fn torn_and_damaged_copies_are_told_apart() {
        let payload = vec![7; payload_of(4_096)];
        let old = spread(&payload, 4_096, 5, 8);
        let new = spread(&payload, 4_096, 5, 10);
        let other = spread(&payload, 4_096, 5, 9);
        let whole = |sequence| SealedCopy::Whole { sequence, payload: payload.clone() };
        assert_eq!(gather(&old, 5), whole(8));
        assert_eq!(gather(&old, 6), SealedCopy::Damaged, "of another place");
        let mut torn = old.clone();
        torn[SECTOR..3 * SECTOR].copy_from_slice(&new[SECTOR..3 * SECTOR]);
        assert_eq!(gather(&torn, 5), SealedCopy::Torn);
        let used = newest([gather(&torn, 5), gather(&other, 5)]);
        assert_eq!(used.map(|(sequence, _)| sequence), Some(9));
        let used = newest([gather(&new, 5), gather(&other, 5)]);
        assert_eq!(used.map(|(sequence, _)| sequence), Some(10));
        for bit in (0..new.len() * 8).step_by(1_001) {
            let mut rotten = new.clone();
            rotten[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(gather(&rotten, 5), SealedCopy::Damaged, "bit {bit}");
            assert_eq!(newest([gather(&rotten, 5), gather(&other, 5)]), None);
        }
    }
}
