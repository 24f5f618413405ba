//! Tag 0 of root pages: where a tree's space is accounted for.

use units::PageNumber;

use crate::bytes::{get_array, put, u32_at, u64_at};
use crate::space::Extent;

/// Flags of a space header.
mod space_flags {
    /// The tree has an owned-extents and an available-extents tree.
    pub(crate) const MULTIPLE_EXTENTS: u32 = 1;
    /// Keys may repeat.
    pub(super) const NON_UNIQUE: u32 = 2;
}

/// How the space of a tree is accounted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extents {
    /// In the header: bit `i` is set if page `root + 1 + i` is free. At most 32 pages.
    Single {
        /// The bits.
        available: u32,
    },
    /// In two trees.
    Multiple {
        /// Root of the owned-extents tree. The root of the available-extents tree is the next page.
        owned: PageNumber,
    },
}

/// The space header of a tree, 16 bytes on its root page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpaceHeader {
    /// Pages of the tree's first extent (or, with flag 4, of its last).
    pub primary_pages: u32,
    /// Root of the tree that provides this tree's space; `NONE` for the database itself.
    pub parent: PageNumber,
    /// Whether the tree's keys may repeat.
    pub is_non_unique: bool,
    /// How the tree's space is accounted for.
    pub extents: Extents,
}

impl SpaceHeader {
    /// Bytes of a stored space header.
    pub const BYTES: usize = 16;

    /// Decodes a stored space header.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: [u8; Self::BYTES] = get_array(bytes, 0)?;
        let (flags, place) = (u32_at(&bytes, 8), u32_at(&bytes, 12));
        Some(Self {
            primary_pages: u32_at(&bytes, 0),
            parent: PageNumber(u32_at(&bytes, 4)),
            is_non_unique: flags & space_flags::NON_UNIQUE != 0,
            extents: if flags & space_flags::MULTIPLE_EXTENTS == 0 {
                Extents::Single { available: place }
            } else {
                Extents::Multiple { owned: PageNumber(place) }
            },
        })
    }

    /// Encodes the header as tag 0 of the root page.
    pub fn encode(&self) -> [u8; Self::BYTES] {
        let (mut flags, place) = match self.extents {
            Extents::Single { available } => (0, available),
            Extents::Multiple { owned } => (space_flags::MULTIPLE_EXTENTS, owned.0),
        };
        if self.is_non_unique {
            flags |= space_flags::NON_UNIQUE;
        }
        let mut bytes = [0; Self::BYTES];
        for (index, word) in [self.primary_pages, self.parent.0, flags, place].iter().enumerate() {
            put(&mut bytes, index * 4, &word.to_le_bytes());
        }
        bytes
    }

    /// Root of the owned-extents tree, if there is one.
    pub const fn owned_root(&self) -> Option<PageNumber> {
        match self.extents {
            Extents::Multiple { owned } => Some(owned),
            Extents::Single { .. } => None,
        }
    }

    /// Root of the available-extents tree, if there is one.
    pub fn available_root(&self) -> Option<PageNumber> {
        self.owned_root().map(|owned| PageNumber(owned.0.wrapping_add(1)))
    }
}

/// All possible contents of tag 0 of a root page.
///
/// Up to format update 29 that is the space header alone. Later ones put a byte of flags before it
/// and may leave fields out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RootFields {
    /// The space header.
    pub space: Option<SpaceHeader>,
    /// The highest auto-increment value of the table.
    pub auto_increment: Option<u64>,
}

impl RootFields {
    const SPACE: u8 = 1;
    const AUTO_INCREMENT: u8 = 2;

    /// Reads tag 0 of a root page.
    pub fn decode(tag: &[u8]) -> Option<Self> {
        if tag.len() == SpaceHeader::BYTES {
            return Some(Self { space: SpaceHeader::decode(tag), auto_increment: None });
        }
        let (&flags, mut rest) = tag.split_first()?;
        let mut fields = Self::default();
        if flags & Self::SPACE != 0 {
            fields.space = Some(SpaceHeader::decode(rest)?);
            rest = &rest[SpaceHeader::BYTES..];
        }
        if flags & Self::AUTO_INCREMENT != 0 {
            fields.auto_increment = Some(u64_at(&get_array::<8>(rest, 0)?, 0));
        }
        Some(fields)
    }
}

/// Tag 0 of a space tree's root: two extents reserved so that the tree itself can always split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SplitBuffer {
    /// The two extents; those without pages are unused.
    pub extents: [Extent; 2],
}

impl SplitBuffer {
    /// Bytes of a stored split buffer.
    pub const BYTES: usize = 16;

    /// Decodes a stored split buffer.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: [u8; Self::BYTES] = get_array(bytes, 0)?;
        let extent =
            |at| Extent { last: PageNumber(u32_at(&bytes, at)), pages: u32_at(&bytes, at + 4) };
        Some(Self { extents: [extent(0), extent(8)] })
    }

    /// Encodes the buffer as tag 0 of the root page.
    pub fn encode(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        for (index, extent) in self.extents.iter().enumerate() {
            put(&mut bytes, index * 8, &extent.last.0.to_le_bytes());
            put(&mut bytes, index * 8 + 4, &extent.pages.to_le_bytes());
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::{Extents, RootFields, SpaceHeader, SplitBuffer};
    use crate::space::Extent;
    use units::PageNumber;

    #[test]
    fn both_kinds_of_header_keep_their_bytes() {
        let single = SpaceHeader {
            primary_pages: 4,
            parent: PageNumber(1),
            is_non_unique: true,
            extents: Extents::Single { available: 7 },
        };
        assert_eq!(single.encode(), [4, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 7, 0, 0, 0]);
        let owned = PageNumber(32);
        let extents = Extents::Multiple { owned };
        let multiple = SpaceHeader { is_non_unique: false, extents, ..single };
        assert_eq!(multiple.encode()[8..], [1, 0, 0, 0, 32, 0, 0, 0]);
        assert_eq!(multiple.available_root(), Some(PageNumber(33)));
        for header in [single, multiple] {
            assert_eq!(SpaceHeader::decode(&header.encode()), Some(header));
            let later = [&[3][..], &header.encode(), &9u64.to_le_bytes()].concat();
            let fields = RootFields { space: Some(header), auto_increment: Some(9) };
            assert_eq!(RootFields::decode(&later), Some(fields));
        }
        assert_eq!(RootFields::decode(&[1, 2, 3]), None);
    }

    #[test]
    fn a_split_buffer_keeps_two_extents() {
        let buffer =
            SplitBuffer { extents: [Extent { last: PageNumber(40), pages: 3 }, Extent::default()] };
        assert_eq!(buffer.encode(), [40, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(SplitBuffer::decode(&buffer.encode()), Some(buffer));
    }
}
