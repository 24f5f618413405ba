//! One batch of the log: a summary that identifies its blocks, and the blocks.

use device::Buffer;

use super::fields::{FieldReader, FieldWriter};
use super::geometry::SUMMARY_BYTES;
use super::index::{CachedEntry, Key};

const MAGIC: &[u8; 8] = b"PLMGROUP";

/// No segment, no block.
const NONE: u32 = u32::MAX;

/// Contents of a group's summary block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GroupSummary {
    /// Number of the group across all segments: a group found elsewhere was misdirected.
    pub group: u32,
    pub session: u64,
    /// Sequence number of the group, counted across both queues.
    pub sequence: u64,
    /// The segment that continues the queue after this one, if it is known.
    pub next_segment: Option<u32>,
    /// Identity of each block; `None` if it is unused or invalidated.
    pub entries: Vec<Option<CachedEntry>>,
}

impl GroupSummary {
    /// Writes the summary into the first bytes of `group`, in front of its blocks.
    pub(super) fn encode_into(&self, group: Buffer, identity: &[u8; 16]) -> Buffer {
        let mut fields = FieldWriter::over(group);
        fields.bytes(MAGIC).bytes(identity).u32(self.group).u64(self.session).u64(self.sequence);
        fields.u32(self.next_segment.unwrap_or(NONE));
        fields.u32(u32::try_from(self.entries.len()).expect("invariant: at most 128 blocks"));
        for entry in &self.entries {
            let none =
                CachedEntry { key: Key { volume: 0, block: NONE }, accesses: 0, checksum: 0 };
            let entry = entry.unwrap_or(none);
            fields.u32(entry.key.block).u16(entry.key.volume).u32(entry.checksum);
        }
        fields.sealed(SUMMARY_BYTES)
    }

    /// Decodes a summary from the first bytes of a group; `None` if they are not a valid summary of
    /// this store.
    pub(super) fn decode(block: &[u8], identity: &[u8; 16]) -> Option<Self> {
        let mut fields = FieldReader::checked(block)?;
        if fields.bytes(MAGIC.len()) != MAGIC || fields.identity() != *identity {
            return None;
        }
        let (group, session, sequence) = (fields.u32(), fields.u64(), fields.u64());
        let next_segment = Some(fields.u32()).filter(|&segment| segment != NONE);
        let mut entries = Vec::new();
        for _ in 0..fields.u32().min(256) {
            let (block, volume, checksum) = (fields.u32(), fields.u16(), fields.u32());
            let key = Key { volume, block };
            entries.push((block != NONE).then_some(CachedEntry { key, accesses: 0, checksum }));
        }
        Some(Self { group, session, sequence, next_segment, entries })
    }
}

#[cfg(test)]
mod tests {
    use device::Buffer;

    use super::GroupSummary;
    use crate::store::geometry::SUMMARY_BYTES;
    use crate::store::index::{CachedEntry, Key};

    #[test]
    fn a_full_summary_survives_and_no_flipped_bit_does() {
        let entry =
            |block| CachedEntry { key: Key { volume: 7, block }, accesses: 0, checksum: !block };
        let entries = (0..128).map(|block| (block % 3 > 0).then(|| entry(block))).collect();
        let summary =
            GroupSummary { group: 4, session: 2, sequence: 77, next_segment: Some(9), entries };
        let group = summary.encode_into(Buffer::zeroed(SUMMARY_BYTES + 4_096), &[1; 16]);
        let block = &group[..SUMMARY_BYTES];
        assert_eq!(GroupSummary::decode(block, &[1; 16]), Some(summary));
        for byte in (0..block.len()).step_by(61) {
            let mut flipped = Buffer::copy_of(block);
            flipped[byte] ^= 1;
            assert_eq!(GroupSummary::decode(&flipped, &[1; 16]), None, "byte {byte}");
        }
    }
}
