//! The bytes of a directory, as specified in docs/format-volume.md.

use std::collections::BTreeMap;

use twox_hash::XxHash3_64;

use super::directory::{Directory, LONGEST_BYTES, PlacedFile, UnitRange, is_name};
use crate::{ALIGNMENT, Buffer};

const MAGIC: &[u8; 8] = b"PLIMSDIR";
/// Magic, checksum of the rest, identity, sequence, total bytes, number of files.
const HEADER_BYTES: usize = 8 + 8 + 16 + 8 + 4 + 4;
const CHECKED_FROM: usize = 16;

impl Directory {
    /// Encodes the directory for the volume `identity`, padded to whole blocks; `None` if it does
    /// not fit.
    pub(super) fn encode(&self, identity: &[u8; 16]) -> Option<Buffer> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([0; 8]);
        bytes.extend(identity);
        bytes.extend(self.sequence.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(count(self.files.len()));
        for (name, entry) in &self.files {
            bytes.push(u8::try_from(name.len()).expect("invariant: names are checked"));
            bytes.extend(name.as_bytes());
            bytes.extend(entry.length.to_le_bytes());
            bytes.extend(count(entry.extents.len()));
            for extent in &entry.extents {
                bytes.extend(extent.first.to_le_bytes());
                bytes.extend(extent.count.to_le_bytes());
            }
        }
        let used = bytes.len();
        if used > LONGEST_BYTES {
            return None;
        }
        bytes[40..44].copy_from_slice(&count(used));
        let checksum = XxHash3_64::oneshot(&bytes[CHECKED_FROM..]);
        bytes[8..16].copy_from_slice(&checksum.to_le_bytes());
        bytes.resize(used.next_multiple_of(ALIGNMENT), 0);
        Some(Buffer::copy_of(&bytes))
    }

    /// Used bytes of the copy that starts with this block; `None` if it is not a copy.
    pub(super) fn used_bytes(block: &[u8]) -> Option<usize> {
        let mut reader = ByteReader(block);
        (reader.array::<8>()? == *MAGIC).then_some(())?;
        reader.take(32)?;
        let used = reader.u32()? as usize;
        (HEADER_BYTES..=LONGEST_BYTES).contains(&used).then_some(used)
    }

    /// The contents of a copy; `None` if it is torn, damaged, of another volume, or impossible on a
    /// volume of `units` units.
    pub(super) fn decode(bytes: &[u8], identity: &[u8; 16], units: u32) -> Option<Self> {
        let used = bytes.get(..Self::used_bytes(bytes)?)?;
        let mut reader = ByteReader(used);
        reader.take(8)?;
        let checksum = reader.u64()?;
        (checksum == XxHash3_64::oneshot(&used[CHECKED_FROM..])).then_some(())?;
        (reader.array::<16>()? == *identity).then_some(())?;
        let mut directory = Self { sequence: reader.u64()?, files: BTreeMap::new() };
        reader.u32()?;
        for _ in 0..reader.u32()? {
            let length = usize::from(reader.array::<1>()?[0]);
            let name = std::str::from_utf8(reader.take(length)?).ok()?.to_owned();
            let mut entry = PlacedFile { length: reader.u64()?, extents: Vec::new() };
            for _ in 0..reader.u32()? {
                entry.extents.push(UnitRange { first: reader.u32()?, count: reader.u32()? });
            }
            is_name(&name).then_some(())?;
            directory.files.insert(name, entry).is_none().then_some(())?;
        }
        directory.makes_sense(units).then_some(directory)
    }
}

fn count(number: usize) -> [u8; 4] {
    u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes()
}

/// Takes bytes from the front.
struct ByteReader<'a>(&'a [u8]);

impl<'a> ByteReader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }
}
