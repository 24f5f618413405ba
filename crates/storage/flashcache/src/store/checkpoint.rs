//! The index on flash: self-validating chunks, written while the store keeps working.
//!
//! A checkpoint is fuzzy: chunks are made one after another, so some are older than others. That is
//! safe because every block is verified by its checksum when it is read, and because a region
//! written to since the checkpoint began stays marked in the dirty-region log.

use device::Buffer;

use super::fields::{FieldReader, FieldWriter};
use super::geometry::{CHUNK_BYTES, ENTRIES_A_CHUNK, SEGMENTS_A_CHUNK, StoreGeometry};
use super::index::{BlockIndex, CachedEntry, Key};

const HEAD: [u8; 8] = *b"PLMCKPTH";
const BODY: [u8; 8] = *b"PLMCKPTB";

/// Marks a position that holds nothing, and a segment that is not known.
const NONE: u32 = u32::MAX;

/// Position at which the log of one queue continues after a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LogPosition {
    pub segment: u32,
    /// First group of the segment that the checkpoint does not cover.
    pub group: u32,
    /// The segment after this one, if it was known.
    pub next_segment: Option<u32>,
}

/// Contents of a checkpoint other than the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CheckpointHead {
    /// Groups up to this sequence are covered.
    pub sequence: u64,
    pub logs: [LogPosition; 2],
    /// The full segments of each queue, oldest first.
    pub full: [Vec<u32>; 2],
}

/// Identifies a chunk by store, checkpoint and number.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChunkName {
    pub identity: [u8; 16],
    pub number: u64,
    pub chunk: u32,
}

/// Encodes chunk `name.chunk` of a checkpoint from the current index.
pub(super) fn encode(
    name: &ChunkName,
    head: &CheckpointHead,
    geometry: StoreGeometry,
    index: &BlockIndex,
) -> Buffer {
    let heads = geometry.head_chunks();
    if name.chunk < heads {
        encode_head(name, head)
    } else {
        encode_body(name, heads, index, geometry)
    }
}

fn front(name: &ChunkName, magic: [u8; 8], count: u32) -> FieldWriter {
    let mut fields = FieldWriter::new(CHUNK_BYTES);
    fields.bytes(&magic).bytes(&name.identity).u64(name.number).u32(name.chunk).u32(count);
    fields
}

fn encode_head(name: &ChunkName, head: &CheckpointHead) -> Buffer {
    let all: Vec<u32> = head.full.concat();
    let mut parts = all.chunks(SEGMENTS_A_CHUNK);
    let part = parts.nth(name.chunk as usize).unwrap_or_default();
    let count = u32::try_from(part.len()).expect("invariant: below 64 Ki");
    let mut fields = front(name, HEAD, count);
    fields.u64(head.sequence);
    fields.u32(u32::try_from(head.full[0].len()).expect("invariant: segments are few"));
    for log in head.logs {
        fields.u32(log.segment).u32(log.group).u32(log.next_segment.unwrap_or(NONE));
    }
    for &segment in part {
        fields.u32(segment);
    }
    fields.sealed(CHUNK_BYTES)
}

fn encode_body(
    name: &ChunkName,
    heads: u32,
    index: &BlockIndex,
    geometry: StoreGeometry,
) -> Buffer {
    let first = (name.chunk - heads) * ENTRIES_A_CHUNK;
    let end = geometry.positions().min(first + ENTRIES_A_CHUNK);
    let mut fields = front(name, BODY, end - first);
    for position in first..end {
        match index.entry(position) {
            Some(entry) => {
                let volume = entry.key.volume | u16::from(entry.accesses) << 12;
                fields.u32(entry.key.block).u16(volume).u32(entry.checksum);
            }
            None => _ = fields.u32(NONE).u16(0).u32(0),
        }
    }
    fields.sealed(CHUNK_BYTES)
}

/// Reads a checkpoint chunk by chunk, in their order.
pub(super) struct CheckpointReader {
    name: ChunkName,
    geometry: StoreGeometry,
    small_count: usize,
    all: Vec<u32>,
    head: CheckpointHead,
}

impl CheckpointReader {
    pub(super) fn new(identity: [u8; 16], number: u64, geometry: StoreGeometry) -> Self {
        let log = LogPosition { segment: 0, group: 0, next_segment: None };
        let head = CheckpointHead { sequence: 0, logs: [log; 2], full: Default::default() };
        let name = ChunkName { identity, number, chunk: 0 };
        Self { name, geometry, small_count: 0, all: Vec::new(), head }
    }

    /// Reads the next chunk; `None` if it is not a valid chunk of this checkpoint.
    pub(super) fn take(&mut self, chunk: &[u8], index: &mut BlockIndex) -> Option<()> {
        let mut fields = FieldReader::checked(chunk)?;
        let heads = self.geometry.head_chunks();
        let is_head = self.name.chunk < heads;
        let is_ours = fields.bytes(8) == if is_head { &HEAD } else { &BODY }
            && fields.identity() == self.name.identity
            && fields.u64() == self.name.number
            && fields.u32() == self.name.chunk;
        if !is_ours {
            return None;
        }
        if is_head {
            self.take_head(&mut fields);
        } else {
            take_body(&mut fields, (self.name.chunk - heads) * ENTRIES_A_CHUNK, index);
        }
        self.name.chunk += 1;
        Some(())
    }

    fn take_head(&mut self, fields: &mut FieldReader<'_>) {
        let count = fields.u32();
        self.head.sequence = fields.u64();
        self.small_count = fields.u32() as usize;
        for log in &mut self.head.logs {
            let (segment, group, next) = (fields.u32(), fields.u32(), fields.u32());
            *log = LogPosition { segment, group, next_segment: Some(next).filter(|&n| n != NONE) };
        }
        let most = u32::try_from(SEGMENTS_A_CHUNK).expect("invariant: 16 Ki");
        self.all.extend((0..count.min(most)).map(|_| fields.u32()));
    }

    /// Contents of the checkpoint other than the index; `None` if they name segments that do not
    /// exist.
    pub(super) fn finish(mut self) -> Option<CheckpointHead> {
        let named = self.head.logs.iter().map(|log| log.segment).chain(self.all.iter().copied());
        let exist = named.into_iter().all(|segment| segment < self.geometry.segments);
        if !exist || self.small_count > self.all.len() {
            return None;
        }
        let main = self.all.split_off(self.small_count);
        self.head.full = [self.all, main];
        Some(self.head)
    }
}

fn take_body(fields: &mut FieldReader<'_>, first: u32, index: &mut BlockIndex) {
    for position in first..first + fields.u32().min(ENTRIES_A_CHUNK) {
        let (block, volume, checksum) = (fields.u32(), fields.u16(), fields.u32());
        if block != NONE {
            let accesses = u8::try_from(volume >> 12 & 3).expect("invariant: two bits");
            let key = Key { volume: volume & 0xFFF, block };
            index.insert(position, CachedEntry { key, accesses, checksum });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CheckpointHead, CheckpointReader, ChunkName, LogPosition, encode};
    use crate::store::geometry::StoreGeometry;
    use crate::store::index::{BlockIndex, CachedEntry, Key};

    #[test]
    fn an_index_survives_its_way_to_flash_and_a_damaged_chunk_is_noticed() {
        let geometry = StoreGeometry::of(64 << 20, 4 << 10).unwrap();
        let mut index = BlockIndex::new(geometry);
        let mut entries = Vec::new();
        for position in (0..geometry.positions()).step_by(3) {
            let key = Key { volume: 4_095, block: position * 3 };
            let entry =
                CachedEntry { key, accesses: u8::try_from(position % 4).unwrap(), checksum: 5 };
            index.insert(position, entry);
            entries.push((position, entry));
        }
        let log = LogPosition { segment: 3, group: 0, next_segment: Some(9) };
        let full = [vec![1, 2], vec![7, 0, 4]];
        let head = CheckpointHead { sequence: 11, logs: [log; 2], full };
        let mut copy = BlockIndex::new(geometry);
        let mut reader = CheckpointReader::new([2; 16], 6, geometry);
        for chunk in 0..geometry.checkpoint_chunks() {
            let name = ChunkName { identity: [2; 16], number: 6, chunk };
            let mut bytes = encode(&name, &head, geometry, &index);
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            assert!(reader.take(&bytes, &mut copy).is_none(), "damaged");
            bytes[middle] ^= 1;
            assert!(reader.take(&bytes, &mut copy).is_some());
        }
        assert_eq!(reader.finish(), Some(head));
        assert!(entries.into_iter().all(|(position, entry)| copy.entry(position) == Some(entry)));
        assert_eq!(copy.live(), index.live());
    }
}
