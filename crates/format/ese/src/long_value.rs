//! Long values: values too long for a record, cut into chunks in a separate tree.

use std::fmt;

use crate::bytes::{get_array, put};
use crate::page::PageSize;

/// Identifier of a long value within a table (ESE LID). Files up to format update 69 use 4 bytes of
/// it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LongValueId(pub u64);

impl LongValueId {
    /// The identifier that a record stores, in 4 or 8 bytes.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        match bytes.len() {
            4 => get_array(bytes, 0).map(|low| Self(u64::from(u32::from_le_bytes(low)))),
            8 => get_array(bytes, 0).map(|all| Self(u64::from_le_bytes(all))),
            _ => None,
        }
    }

    /// The encoding used in records of this project.
    pub(crate) fn encode(self) -> [u8; 4] {
        self.short().to_le_bytes()
    }

    /// The key of the value's root node, as this project writes it.
    pub fn root_key(self) -> [u8; 4] {
        self.short().to_be_bytes()
    }

    /// The key of the chunk that begins at byte `offset` of the value.
    pub fn chunk_key(self, offset: u32) -> [u8; 8] {
        let mut key = [0; 8];
        put(&mut key, 0, &self.root_key());
        put(&mut key, 4, &offset.to_be_bytes());
        key
    }

    /// The key of the value's root node, whatever the format update: identifiers of 8 bytes have
    /// their top bit set.
    pub(crate) fn any_root_key(self) -> Vec<u8> {
        if self.is_wide() { self.0.to_be_bytes().to_vec() } else { self.root_key().to_vec() }
    }

    /// The greatest key that a node of the value can have.
    pub(crate) fn last_key(self) -> Vec<u8> {
        [&self.any_root_key()[..], &[0xFF; 4]].concat()
    }

    const fn is_wide(self) -> bool {
        self.0 >> 63 != 0
    }

    fn short(self) -> u32 {
        u32::try_from(self.0).expect("invariant: this project's long values are 32-bit")
    }
}

impl fmt::Display for LongValueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// Meaning of a key in a long-value tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LongValueKey {
    /// The root node of a value.
    Root(LongValueId),
    /// A chunk of a value, and the byte of the value at which it begins.
    Chunk(LongValueId, u32),
}

impl LongValueKey {
    /// Reads a key of a long-value tree.
    pub fn decode(key: &[u8]) -> Option<Self> {
        let is_wide = key.first()? & 0x80 != 0;
        let id_bytes = if is_wide { 8 } else { 4 };
        let (id, rest) = key.split_at_checked(id_bytes)?;
        let id = LongValueId(id.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte)));
        match rest.len() {
            0 => Some(Self::Root(id)),
            4 => Some(Self::Chunk(id, u32::from_be_bytes(get_array(rest, 0)?))),
            _ => None,
        }
    }
}

/// The data of a value's root node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongValueRoot {
    /// Number of records that hold the value. At 0 it awaits removal.
    pub references: u32,
    /// Bytes of the value.
    pub bytes: u32,
}

impl LongValueRoot {
    /// Offset of the reference count in the data.
    pub const REFERENCES_OFFSET: usize = 0;

    /// Reads the data of a root node; later formats append to it.
    pub fn decode(data: &[u8]) -> Option<Self> {
        Some(Self {
            references: u32::from_le_bytes(get_array(data, Self::REFERENCES_OFFSET)?),
            bytes: u32::from_le_bytes(get_array(data, 4)?),
        })
    }

    /// The data of a root node.
    pub fn encode(self) -> [u8; 8] {
        let mut data = [0; 8];
        put(&mut data, Self::REFERENCES_OFFSET, &self.references.to_le_bytes());
        put(&mut data, 4, &self.bytes.to_le_bytes());
        data
    }
}

/// The chunks of `value` with their starting offsets.
pub fn chunks(value: &[u8], page_size: PageSize) -> impl Iterator<Item = (u32, &[u8])> {
    let step = page_size.long_value_chunk_bytes();
    value.chunks(step).enumerate().map(move |(index, chunk)| {
        let offset = u32::try_from(index * step).expect("invariant: long values end at 2 GiB");
        (offset, chunk)
    })
}

#[cfg(test)]
mod tests {
    use super::{LongValueId, LongValueKey, LongValueRoot, chunks};
    use crate::page::PageSize;

    #[test]
    fn keys_read_back_in_both_widths() {
        let id = LongValueId(0x0102_0304);
        assert_eq!(id.root_key(), [1, 2, 3, 4]);
        assert_eq!(id.chunk_key(0x1FD6), [1, 2, 3, 4, 0, 0, 0x1F, 0xD6]);
        assert_eq!(LongValueKey::decode(&id.root_key()), Some(LongValueKey::Root(id)));
        let chunk = LongValueKey::Chunk(id, 8150);
        assert_eq!(LongValueKey::decode(&id.chunk_key(8150)), Some(chunk));
        let wide = LongValueId(1 << 63 | 5);
        assert_eq!(LongValueKey::decode(&wide.any_root_key()), Some(LongValueKey::Root(wide)));
        assert_eq!(LongValueKey::decode(&[1, 2, 3, 4, 5]), None);
        assert_eq!(LongValueId::decode(&id.encode()), Some(id));
    }

    #[test]
    fn the_root_holds_references_and_length() {
        let root = LongValueRoot { references: 2, bytes: 2000 };
        assert_eq!(root.encode(), [2, 0, 0, 0, 0xD0, 0x07, 0, 0]);
        assert_eq!(LongValueRoot::decode(&root.encode()), Some(root));
        assert_eq!(LongValueRoot::decode(&[1; 7]), None);
    }

    #[test]
    fn a_value_is_cut_at_the_size_its_pages_have() {
        let value = vec![1; 8151];
        let cut: Vec<_> = chunks(&value, PageSize::KIB_32).map(|(o, c)| (o, c.len())).collect();
        assert_eq!(cut, [(0, 8150), (8150, 1)]);
    }
}
