//! The bytes of files as values: sparse, and cheap to copy because blocks are shared.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::ALIGNMENT;

/// The bytes of a block have a separate allocation. In one with the counts of an `Rc`, they would
/// take 5 KiB instead of 4 from an allocator whose size classes are near powers of two.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ImageBlock(Box<[u8; ALIGNMENT]>);

impl ImageBlock {
    fn shared(bytes: &[u8; ALIGNMENT]) -> Rc<Self> {
        Rc::new(Self(Box::new(*bytes)))
    }
}

/// The bytes of one file. A block that was never written takes no memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileImage {
    length: u64,
    blocks: Vec<Option<Rc<ImageBlock>>>,
}

/// The files of a folder by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VolumeImage {
    /// Bytes by file name.
    pub files: BTreeMap<String, FileImage>,
}

/// The blocks touched by `length` bytes at `offset`: block index, first byte in the block, and the
/// corresponding range of the caller's slice.
fn pieces(
    offset: u64,
    length: usize,
) -> impl Iterator<Item = (usize, usize, std::ops::Range<usize>)> {
    let start = usize::try_from(offset).expect("invariant: files in memory fit the address space");
    let mut done = 0;
    std::iter::from_fn(move || {
        if done == length {
            return None;
        }
        let inside = (start + done) % ALIGNMENT;
        let take = (ALIGNMENT - inside).min(length - done);
        let piece = ((start + done) / ALIGNMENT, inside, done..done + take);
        done += take;
        Some(piece)
    })
}

/// Blocks needed for `bytes` bytes.
fn blocks_of(bytes: u64) -> usize {
    usize::try_from(bytes.div_ceil(ALIGNMENT as u64))
        .expect("invariant: files in memory fit the address space")
}

impl FileImage {
    /// A file of `length` zero bytes.
    pub fn zeroed(length: u64) -> Self {
        let mut image = Self::default();
        image.set_length(length);
        image
    }

    /// A file with the contents `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        let mut image = Self::zeroed(bytes.len() as u64);
        image.write(0, bytes);
        image
    }

    /// Length in bytes.
    pub const fn length(&self) -> u64 {
        self.length
    }

    /// Whether none of the `length` bytes at `offset`, all inside the file, was ever written, so
    /// that they read as zeros.
    pub fn is_hole(&self, offset: u64, length: usize) -> bool {
        pieces(offset, length).all(|(block, ..)| self.blocks[block].is_none())
    }

    /// Reads into `bytes` from `offset` on; returns the number of bytes that the file had there.
    /// The rest of `bytes` is unchanged.
    pub fn read(&self, offset: u64, bytes: &mut [u8]) -> usize {
        let there = self.length.saturating_sub(offset);
        let wanted = usize::try_from(there).map_or(bytes.len(), |there| there.min(bytes.len()));
        for (block, inside, range) in pieces(offset, wanted) {
            let target = &mut bytes[range];
            match &self.blocks[block] {
                Some(block) => target.copy_from_slice(&block.0[inside..inside + target.len()]),
                None => target.fill(0),
            }
        }
        wanted
    }

    /// Writes `bytes` at `offset`, all of it inside the file.
    pub fn write(&mut self, offset: u64, bytes: &[u8]) {
        assert!(offset + bytes.len() as u64 <= self.length, "a write lies inside the file");
        let mut last: Option<Rc<ImageBlock>> = None;
        for (block, inside, range) in pieces(offset, bytes.len()) {
            let source = &bytes[range];
            let target = &mut self.blocks[block];
            if let Ok(whole) = <&[u8; ALIGNMENT]>::try_from(source) {
                // An unshared block is reused: new memory would not be in the cache.
                if let Some(own) = target.as_mut().and_then(Rc::get_mut) {
                    own.0.copy_from_slice(whole);
                    continue;
                }
                let same = last.take().filter(|last| *last.0 == *whole);
                let shared = same.unwrap_or_else(|| ImageBlock::shared(whole));
                *target = Some(Rc::clone(&shared));
                last = Some(shared);
            } else {
                let block = target.get_or_insert_with(|| ImageBlock::shared(&[0; ALIGNMENT]));
                Rc::make_mut(block).0[inside..inside + source.len()].copy_from_slice(source);
            }
        }
    }

    /// Writes the contents of `source` at `offset`, up to the end of this file. Whole blocks are
    /// shared instead of copied if the alignment of both matches.
    pub fn write_shared(&mut self, offset: u64, source: &Self) {
        let length = source.length.min(self.length.saturating_sub(offset));
        if !offset.is_multiple_of(ALIGNMENT as u64) {
            let inside = usize::try_from(length).expect("invariant: it fits memory");
            return self.write(offset.min(self.length), &source.to_vec()[..inside]);
        }
        let whole = blocks_of(length / ALIGNMENT as u64 * ALIGNMENT as u64);
        let first = blocks_of(offset);
        let targets = self.blocks.iter_mut().skip(first);
        for (target, block) in targets.zip(&source.blocks[..whole]) {
            *target =
                Some(block.as_ref().map_or_else(|| ImageBlock::shared(&[0; ALIGNMENT]), Rc::clone));
        }
        let done = (whole * ALIGNMENT) as u64;
        if done < length {
            let mut rest = [0; ALIGNMENT];
            let rest = &mut rest[..usize::try_from(length - done).expect("invariant: below 4 KiB")];
            source.read(done, rest);
            self.write(offset + done, rest);
        }
    }

    /// Truncates the file, or extends it with zeros.
    pub fn set_length(&mut self, length: u64) {
        let blocks = blocks_of(length);
        if length < self.length {
            self.zero_last_block_from(length);
        }
        self.blocks.resize(blocks, None);
        self.length = length;
    }

    /// Truncated bytes must read as zeros if the file grows again.
    fn zero_last_block_from(&mut self, length: u64) {
        if let Some((block, inside, _)) = pieces(length, 1).next()
            && inside > 0
            && let Some(block) = &mut self.blocks[block]
        {
            Rc::make_mut(block).0[inside..].fill(0);
        }
    }

    /// The whole file as bytes.
    pub fn to_vec(&self) -> Vec<u8> {
        let length =
            usize::try_from(self.length).expect("invariant: files in memory fit the address space");
        let mut bytes = vec![0; length];
        // Blocks that were never written are skipped: `bytes` is already zeroed, and its untouched
        // pages cost nothing.
        for (block, target) in self.blocks.iter().zip(bytes.chunks_mut(ALIGNMENT)) {
            if let Some(block) = block {
                target.copy_from_slice(&block.0[..target.len()]);
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use proptest::prelude::*;

    use super::FileImage;
    use crate::SECTOR;

    #[derive(Clone, Debug)]
    enum Step {
        Write { offset: usize, bytes: Vec<u8> },
        WriteShared { sector: usize, bytes: Vec<u8> },
        SetLength(usize),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let write = (0..20_000_usize, proptest::collection::vec(1_u8.., 0..9_000))
            .prop_map(|(offset, bytes)| Step::Write { offset, bytes });
        let sector = prop_oneof![(0..6_usize).prop_map(|block| block * 8), 0..48_usize];
        let shared = (sector, proptest::collection::vec(1_u8..3, 0..9_000))
            .prop_map(|(sector, bytes)| Step::WriteShared { sector, bytes });
        let length = (0..20_000_usize).prop_map(Step::SetLength);
        proptest::collection::vec(prop_oneof![write, shared, length], 0..12)
    }

    proptest! {
        #[test]
        fn behaves_as_a_plain_vector(steps in steps()) {
            let mut image = FileImage::zeroed(12_345);
            let mut twin = vec![0; 12_345];
            for step in steps {
                match step {
                    Step::Write { offset, bytes } if offset + bytes.len() <= twin.len() => {
                        image.write(offset as u64, &bytes);
                        twin[offset..offset + bytes.len()].copy_from_slice(&bytes);
                    }
                    Step::Write { .. } => {}
                    Step::WriteShared { sector, bytes } => {
                        let offset = sector * SECTOR;
                        image.write_shared(offset as u64, &FileImage::of(&bytes));
                        for (target, byte) in twin.iter_mut().skip(offset).zip(bytes) {
                            *target = byte;
                        }
                    }
                    Step::SetLength(length) => {
                        image.set_length(length as u64);
                        twin.resize(length, 0);
                    }
                }
                prop_assert_eq!(image.to_vec(), twin.clone());
            }
        }
    }

    #[test]
    fn reads_beyond_the_end_say_how_much_was_there() {
        let image = FileImage::of(&[7; 5_000]);
        let mut bytes = [1; 8_192];
        assert_eq!(image.read(4_096, &mut bytes), 904);
        assert_eq!((bytes[903], bytes[904]), (7, 1));
        assert_eq!(image.read(9_999, &mut bytes), 0);
    }

    #[test]
    fn what_was_never_written_is_a_hole() {
        let mut image = FileImage::zeroed(20_000);
        image.write(5_000, &[0]);
        assert!(image.is_hole(0, 4_096) && image.is_hole(8_192, 11_808));
        assert!(!image.is_hole(0, 4_097) && !image.is_hole(4_096, 1));
    }

    #[test]
    fn a_block_that_repeats_is_held_once_and_changes_alone() {
        let mut image = FileImage::of(&[7; 12_288]);
        assert!(Rc::ptr_eq(image.blocks[0].as_ref().unwrap(), image.blocks[2].as_ref().unwrap()));
        image.write(4_096, &[8]);
        let bytes = image.to_vec();
        assert_eq!((bytes[0], bytes[4_096], bytes[8_192]), (7, 8, 7));
    }

    #[test]
    fn copies_share_blocks_until_one_changes() {
        let before = FileImage::of(&[7; 8_192]);
        let mut after = before.clone();
        after.write(0, &[8]);
        assert_eq!((before.to_vec()[0], after.to_vec()[0]), (7, 8));
    }
}
