//! The flush map (`.jfm`): the flush type of each page at its last write.
//!
//! A write that a disk acknowledged but never performed leaves an older page behind, and that page
//! is intact: no checksum detects it. Its flush type differs from the map. The map is trusted only
//! if it was closed cleanly together with the database, which the two signatures in both headers
//! prove; otherwise its entries count as "not known", and an unknown page is not judged.

use std::fmt;

use units::PageNumber;

use crate::bytes::{array_at, put, u16_at, u32_at, u64_at};
use crate::checksum::{header_is_good, store, store_header};
use crate::log_time::LogTime;
use crate::page::{PageRef, PageSize, word_of_its_mark};
use crate::signature::Signature;

mod pairing;
#[cfg(test)]
mod tests;

pub use pairing::{MapRefusal, file_name, longest_file, names_a_map, unpair};

/// Bytes of a map page, the header page included.
pub const MAP_PAGE_BYTES: usize = 8192;
/// Header bytes of every data page.
const MAP_PAGE_HEADER_BYTES: usize = 64;
/// Number of database pages covered by one data page: 2 bits each in 8,128 bytes.
pub(crate) const PAGES_PER_MAP_PAGE: u32 = 32_512;
/// Extension of the map's file name, which replaces the database's.
pub(crate) const EXTENSION: &str = "jfm";
/// Version of the map's format: major, update, minor.
const VERSION: [u32; 3] = [3, 0, 0];
const FILE_TYPE_FLUSH_MAP: u32 = 7;
/// Indicates that every known page with room for a mark has one (see [`word_of_its_mark`]).
const MARKED: u64 = u64::from_le_bytes(*b"plimmark");
const FLAG_CLEAN: u32 = 1;
const FLAG_NEW_CHECKSUM: u32 = 0x2000;

/// Byte offsets in the header page.
mod header {
    pub(super) const VERSION: usize = 4;
    pub(super) const FLAGS: usize = 36;
    pub(super) const CREATED: usize = 40;
    pub(super) const ATTACHED: usize = 48;
    pub(super) const DETACHED: usize = 56;
    pub(super) const DATABASE_FLUSH: usize = 88;
    pub(super) const MAP_FLUSH: usize = 116;
    pub(super) const FILE_TYPE: usize = 667;
    /// Unused by ESE.
    pub(super) const MARKED: usize = 4096;
}

/// Byte offsets in a data page. Its flags are at the same offset as in a database page.
mod data {
    pub(super) const DBTIME_MAX: usize = 8;
    pub(super) const NUMBER: usize = 16;
    pub(super) const FLAGS: usize = 36;
}

/// Why a flush map cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FlushMapError {
    /// The file is not a flush map, or its header is damaged.
    Header,
    /// The major version is not supported; holds it.
    Version(u32),
    /// A data page's checksum or number is wrong.
    Page(u32),
    /// The file ends before a page that its stated length includes.
    Truncated,
}

impl fmt::Display for FlushMapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header => write!(f, "not a flush map, or its header is damaged; remove it"),
            Self::Version(version) => write!(f, "flush map of unknown version {version}"),
            Self::Page(page) => write!(f, "flush map page {page} is damaged; remove the map"),
            Self::Truncated => write!(f, "the flush map ends within a page; remove it"),
        }
    }
}

impl std::error::Error for FlushMapError {}

/// Pairs a map with one state of its database, and records the time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlushMapHeader {
    /// Whether the map was closed together with the database.
    pub is_clean: bool,
    /// When the map was made.
    pub created: LogTime,
    /// When the database was last attached.
    pub attached: LogTime,
    /// When it was last detached.
    pub detached: LogTime,
    /// The database header's own signature of its last write.
    pub database_flush: Signature,
    /// The signature of this header's last write, which the database header repeats.
    pub map_flush: Signature,
}

/// The flush types of a database's pages. 0 means "not known".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlushMap {
    /// Four pages a byte, the first in the highest bits; page 0 is the unused first entry.
    states: Vec<u8>,
    /// The highest database time among the pages of each map page.
    dbtime_max: Vec<u64>,
    /// Whether the map was begun by an engine that does not mark pages, so that marks mean nothing.
    is_unmarked: bool,
}

/// Whether a page that was read agrees with the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlushVerdict {
    /// The page is the one last written.
    Agrees,
    /// The last write of the page is not known.
    Unknown,
    /// A later write of the page is missing.
    LostWrite {
        /// The flush type of the last write.
        written: u8,
        /// The flush type found.
        found: u8,
    },
}

/// State of the last write of a page to be read: a flush map's entry, or the reason it is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LastWrite {
    /// No trusted map knows it.
    #[default]
    Unknown,
    /// Power failed, and no map is trusted. A torn page is likelier than a flipped bit, and one in
    /// a few thousand looks like one.
    BeforeCrash,
    /// The write completed.
    Known {
        /// The flush type that it carried: 1 to 3.
        flush_type: u8,
        /// Whether the page was marked with a hash of its content, which needs free space on the
        /// page.
        is_marked: bool,
    },
}

impl LastWrite {
    /// Compares a page that was read, whose checksum must be right, with its last write. A page
    /// that reads as zeros although it was written has lost that write, too.
    pub fn judge(self, read: PageRef<'_>) -> FlushVerdict {
        let found = read.flush_type();
        match self {
            Self::Unknown | Self::BeforeCrash => FlushVerdict::Unknown,
            Self::Known { flush_type, .. } if flush_type == found => FlushVerdict::Agrees,
            Self::Known { flush_type, .. } => {
                FlushVerdict::LostWrite { written: flush_type, found }
            }
        }
    }

    /// Whether a page that was read with a correct checksum is torn after all: its last write was
    /// marked with a hash of its content, and the page carries a different one.
    pub(crate) fn is_torn(self, read: &[u8], page: PageNumber) -> bool {
        self.word_of_mark(read, page) == Some(false)
    }

    /// Whether the content of a page matches the mark of its last write. `None` if that write
    /// carried no mark or is unknown.
    pub(crate) fn word_of_mark(self, read: &[u8], page: PageNumber) -> Option<bool> {
        let is_marked = matches!(self, Self::Known { is_marked: true, .. });
        if is_marked { word_of_its_mark(read, page) } else { None }
    }

    /// Whether a page is trusted after its flipped bits were corrected. After a crash, only if its
    /// mark agrees.
    pub(crate) fn allows_repair(self, repaired: &[u8], page: PageNumber) -> bool {
        self != Self::BeforeCrash || word_of_its_mark(repaired, page) == Some(true)
    }
}

impl FlushMap {
    /// An empty map: no page is known.
    pub fn new() -> Self {
        Self::default()
    }

    /// The flush type of the page's last write, 0 if it is not known.
    pub fn written(&self, page: PageNumber) -> u8 {
        let (byte, shift) = place(page);
        self.states.get(byte).map_or(0, |state| state >> shift & 3)
    }

    /// Records a completed write of `page`.
    pub fn remember(&mut self, page: PageNumber, flush_type: u8, dbtime: u64) {
        assert!(flush_type <= 3, "a flush type has two bits");
        let map_page = (page.0 / PAGES_PER_MAP_PAGE) as usize;
        if self.dbtime_max.len() <= map_page {
            self.dbtime_max.resize(map_page + 1, 0);
            self.states.resize((map_page + 1) * (MAP_PAGE_BYTES - MAP_PAGE_HEADER_BYTES), 0);
        }
        let (byte, shift) = place(page);
        self.states[byte] = self.states[byte] & !(3 << shift) | flush_type << shift;
        self.dbtime_max[map_page] = self.dbtime_max[map_page].max(dbtime);
    }

    /// Marks `page` as unknown.
    #[cfg(test)]
    pub(crate) fn forget(&mut self, page: PageNumber) {
        let (byte, shift) = place(page);
        if let Some(state) = self.states.get_mut(byte) {
            *state &= !(3 << shift);
        }
    }

    /// Records that the pages in `bytes`, starting with `first`, have been written. Pages of zeros
    /// have no flush type, so their state is unknown afterwards.
    pub fn remember_all(&mut self, first: PageNumber, bytes: &[u8], size: PageSize) {
        let pages = bytes.chunks_exact(size.bytes()).map(PageRef::new);
        for (number, page) in (first.0..).map(PageNumber).zip(pages) {
            self.remember(number, page.flush_type(), page.dbtime());
        }
    }

    /// The flush type that the next write of `page` carries. It follows from the last write, not
    /// from the page in memory, which may have been rebuilt without reading the file: so a lost
    /// write always leaves a different type behind.
    pub fn next(&self, page: PageNumber, in_memory: PageRef<'_>) -> u8 {
        let last = match self.written(page) {
            0 => in_memory.flush_type(),
            written => written,
        };
        last % 3 + 1
    }

    /// State of the last write of `page`.
    pub fn last_write(&self, page: PageNumber) -> LastWrite {
        match self.written(page) {
            0 => LastWrite::Unknown,
            flush_type => LastWrite::Known { flush_type, is_marked: !self.is_unmarked },
        }
    }

    /// The whole file.
    pub fn encode(&self, header: &FlushMapHeader) -> Vec<u8> {
        let mut file = header.encode();
        if !self.is_unmarked {
            put(&mut file, header::MARKED, &MARKED.to_le_bytes());
            store_header(&mut file);
        }
        let states = self.states.chunks(MAP_PAGE_BYTES - MAP_PAGE_HEADER_BYTES);
        for (number, (states, dbtime)) in (0..).zip(states.zip(&self.dbtime_max)) {
            file.extend_from_slice(&encode_page(number, *dbtime, states));
        }
        file
    }

    /// Decodes a whole file into its header and map.
    pub fn decode(file: &[u8]) -> Result<(FlushMapHeader, Self), FlushMapError> {
        let (pages, rest) = file.as_chunks::<MAP_PAGE_BYTES>();
        let (first, pages) = pages.split_first().ok_or(FlushMapError::Header)?;
        let header = FlushMapHeader::decode(first)?;
        if !rest.is_empty() {
            return Err(FlushMapError::Truncated);
        }
        let mut map =
            Self { is_unmarked: u64_at(first, header::MARKED) != MARKED, ..Self::default() };
        for (number, page) in (0..).zip(pages) {
            let mut sealed = *page;
            store(&mut sealed, PageNumber(number));
            let is_sound = sealed == *page && u32_at(page, data::NUMBER) == number;
            // The file may have grown ahead of the writes: pages there are unknown.
            if !is_sound && page.iter().any(|&byte| byte != 0) {
                return Err(FlushMapError::Page(number));
            }
            map.states.extend_from_slice(&page[MAP_PAGE_HEADER_BYTES..]);
            map.dbtime_max.push(u64_at(page, data::DBTIME_MAX));
        }
        Ok((header, map))
    }
}

impl FlushMapHeader {
    fn encode(&self) -> Vec<u8> {
        let mut page = vec![0; MAP_PAGE_BYTES];
        for (field, number) in VERSION.iter().enumerate() {
            put(&mut page, header::VERSION + 4 * field, &number.to_le_bytes());
        }
        let flags = FLAG_NEW_CHECKSUM | if self.is_clean { FLAG_CLEAN } else { 0 };
        put(&mut page, header::FLAGS, &flags.to_le_bytes());
        put(&mut page, header::CREATED, &self.created.encode());
        put(&mut page, header::ATTACHED, &self.attached.encode());
        put(&mut page, header::DETACHED, &self.detached.encode());
        put(&mut page, header::DATABASE_FLUSH, &self.database_flush.encode());
        put(&mut page, header::MAP_FLUSH, &self.map_flush.encode());
        put(&mut page, header::FILE_TYPE, &FILE_TYPE_FLUSH_MAP.to_le_bytes());
        store_header(&mut page);
        page
    }

    /// The header in the first page of a map.
    pub fn decode(page: &[u8]) -> Result<Self, FlushMapError> {
        if page.len() < MAP_PAGE_BYTES
            || !header_is_good(page)
            || u32_at(page, header::FILE_TYPE) != FILE_TYPE_FLUSH_MAP
        {
            return Err(FlushMapError::Header);
        }
        let version = u32_at(page, header::VERSION);
        if version != VERSION[0] {
            return Err(FlushMapError::Version(version));
        }
        Ok(Self {
            is_clean: u16_at(page, header::FLAGS) & 1 == 1,
            created: LogTime::decode(array_at(page, header::CREATED)),
            attached: LogTime::decode(array_at(page, header::ATTACHED)),
            detached: LogTime::decode(array_at(page, header::DETACHED)),
            database_flush: Signature::decode(array_at(page, header::DATABASE_FLUSH)),
            map_flush: Signature::decode(array_at(page, header::MAP_FLUSH)),
        })
    }
}

/// The byte that holds a page's two bits, and their shift within it.
const fn place(page: PageNumber) -> (usize, u32) {
    (page.0 as usize / 4, 6 - 2 * (page.0 % 4))
}

fn encode_page(number: u32, dbtime_max: u64, states: &[u8]) -> [u8; MAP_PAGE_BYTES] {
    let mut page = [0; MAP_PAGE_BYTES];
    put(&mut page, data::DBTIME_MAX, &dbtime_max.to_le_bytes());
    put(&mut page, data::NUMBER, &number.to_le_bytes());
    put(&mut page, data::FLAGS, &FLAG_NEW_CHECKSUM.to_le_bytes());
    put(&mut page, MAP_PAGE_HEADER_BYTES, states);
    store(&mut page, PageNumber(number));
    page
}
