//! The page sizes of the format and all quantities that depend on the size alone.

use std::fmt;

use units::PageNumber;

/// The page size of a database: 4, 8, 16 or 32 KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageSize(u32);

impl PageSize {
    /// 4 KiB, one checksum block.
    pub const KIB_4: Self = Self(4096);
    /// 8 KiB, one checksum block.
    pub const KIB_8: Self = Self(8192);
    /// 16 KiB, four checksum blocks of 4 KiB.
    pub const KIB_16: Self = Self(16384);
    /// 32 KiB, four checksum blocks of 8 KiB; the size that mail servers use.
    pub const KIB_32: Self = Self(32768);
    /// All of them, smallest first.
    pub const ALL: [Self; 4] = [Self::KIB_4, Self::KIB_8, Self::KIB_16, Self::KIB_32];

    /// The page size of `bytes` bytes; `None` if there is no such size.
    pub const fn from_bytes(bytes: usize) -> Option<Self> {
        match bytes {
            4096 => Some(Self::KIB_4),
            8192 => Some(Self::KIB_8),
            16384 => Some(Self::KIB_16),
            32768 => Some(Self::KIB_32),
            _ => None,
        }
    }

    /// The size in bytes.
    pub const fn bytes(self) -> usize {
        self.0 as usize
    }

    /// The size in bytes, in the type of file offsets.
    pub const fn bytes_u64(self) -> u64 {
        self.0 as u64
    }

    /// The size in bytes, in the type stored in the file header.
    pub const fn bytes_u32(self) -> u32 {
        self.0
    }

    /// Whether tags and tagged fields have the small layout (13-bit sizes, flags in the offset).
    pub const fn is_small(self) -> bool {
        self.0 <= 8192
    }

    /// Bytes of the page header: 40 on small pages, 80 on large ones.
    pub(crate) const fn header_bytes(self) -> usize {
        if self.is_small() { 40 } else { 80 }
    }

    /// Bytes of a page available to tags and nodes.
    pub const fn body_bytes(self) -> usize {
        self.bytes() - self.header_bytes()
    }

    /// Bytes of one checksum block: the whole of a small page, a quarter of a large one.
    pub const fn checksum_block_bytes(self) -> usize {
        if self.is_small() { self.bytes() } else { self.bytes() / 4 }
    }

    /// Bytes of a long value that one chunk node holds (ESE `InitVariablesWithPageSize`).
    pub(crate) const fn long_value_chunk_bytes(self) -> usize {
        match self.0 {
            4096 => 4014,
            8192 => 8110,
            16384 => 4050,
            _ => 8150,
        }
    }

    /// Offset of page `page` in its file: two header pages come before page 1.
    pub const fn file_offset(self, page: PageNumber) -> u64 {
        (page.0 as u64 + 1) * self.bytes_u64()
    }

    /// The length of a file whose last page is `last`, header pages included.
    pub const fn file_length(self, last: PageNumber) -> u64 {
        self.file_offset(last) + self.bytes_u64()
    }

    /// The page that contains the byte at `offset` of a file; `None` in its header pages.
    pub fn page_at(self, offset: u64) -> Option<PageNumber> {
        let page = (offset / self.bytes_u64()).checked_sub(1)?;
        u32::try_from(page).ok().map(PageNumber).filter(|page| page.is_some())
    }

    /// Number of whole pages after the header pages in a file of `length` bytes.
    pub const fn pages_of_file(self, length: u64) -> u64 {
        (length / self.bytes_u64()).saturating_sub(2)
    }
}

impl fmt::Display for PageSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} KiB", self.0 / 1024)
    }
}
