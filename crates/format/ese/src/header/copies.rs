//! Selects one of the two copies of a header, and finds the page size of the file.

use std::fmt;

use units::PageNumber;

use crate::checksum::{self, PageVerdict};
use crate::header::{DatabaseHeader, FILE_TYPE_DATABASE, MAGIC};
use crate::log_file::FILE_TYPE_LOG;
use crate::page::PageSize;

/// Length of the start of a file that is sure to include both header copies, whatever the page
/// size.
pub const PROBE_BYTES: usize = 2 * PageSize::KIB_32.bytes();

/// State of one copy of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyState {
    /// Its checksum is right and it states the page size it was found with.
    Good,
    /// It is invalid for another reason than those below.
    Bad,
    /// The copy is invalid, but differs from the good copy in only one bit.
    FlippedBit {
        /// The bit, counted from the beginning of the copy.
        bit: u32,
    },
    /// The copy's place holds an intact page of the database: a misdirected write.
    HoldsPage(PageNumber),
    /// The file ends before it.
    Missing,
}

/// The header of a file, from the selected copy.
#[derive(Clone, Debug)]
pub struct HeaderCopies {
    /// The header that counts.
    pub header: DatabaseHeader,
    /// The page size of the file.
    pub page_size: PageSize,
    /// The copy at the beginning of the file. It counts if it is good.
    pub primary: CopyState,
    /// The second copy, one page after the first.
    pub shadow: CopyState,
    /// Whether the two copies are the same. If both are good but differ, a crash happened between
    /// the two writes.
    pub copies_agree: bool,
}

/// Why a file has no usable header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderError {
    /// Neither copy is good at any page size.
    NoGoodCopy,
    /// There is no header, only one byte value repeated: the file was never written.
    NeverWritten {
        /// The byte.
        fill: u8,
    },
    /// The header is good, but of another file type, such as a log file.
    NotADatabase {
        /// The stated file type.
        file_type: u32,
    },
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoGoodCopy => write!(
                f,
                "neither copy of the database header is good at any page size; \
                 this is no ESE database, or it must be restored from a copy"
            ),
            Self::NeverWritten { fill } => write!(
                f,
                "the file begins with nothing but bytes {fill:#04x}: it was never written, has \
                 lost its first pages, or is the room that an engine keeps for a log to come"
            ),
            Self::NotADatabase { file_type: FILE_TYPE_LOG } => {
                f.write_str("the file is not a database but a transaction log of ESE")
            }
            Self::NotADatabase { file_type } => {
                write!(f, "the file is not a database but of ESE file type {file_type}")
            }
        }
    }
}

impl std::error::Error for HeaderError {}

/// Why a file with this beginning has no good copy.
fn without_copies(start_of_file: &[u8]) -> HeaderError {
    match start_of_file.split_first() {
        Some((&fill, rest)) if rest.iter().all(|byte| *byte == fill) => {
            HeaderError::NeverWritten { fill }
        }
        _ => HeaderError::NoGoodCopy,
    }
}

/// Finds the header in the first [`PROBE_BYTES`] of a file, or in all of a shorter one.
///
/// A copy is good only if its checksum is right and it states the page size it was tried with. The
/// first copy wins if both are good.
pub fn read_copies(start_of_file: &[u8]) -> Result<HeaderCopies, HeaderError> {
    let found = PageSize::ALL.into_iter().find_map(|size| try_page_size(start_of_file, size));
    let copies = found.ok_or_else(|| without_copies(start_of_file))?;
    match copies.header.file_type {
        // Files that predate file types state 0.
        0 | FILE_TYPE_DATABASE if copies.header.magic == MAGIC => Ok(copies),
        file_type => Err(HeaderError::NotADatabase { file_type }),
    }
}

fn try_page_size(start_of_file: &[u8], size: PageSize) -> Option<HeaderCopies> {
    let page = |index: usize| start_of_file.get(index * size.bytes()..(index + 1) * size.bytes());
    let (mut primary, mut shadow) = (judge(page(0), size), judge(page(1), size));
    if let Some(bit) = page(0).zip(page(1)).and_then(|(one, other)| flipped_bit(one, other)) {
        for copy in [&mut primary, &mut shadow] {
            if *copy == CopyState::Bad {
                *copy = CopyState::FlippedBit { bit };
            }
        }
    }
    let counts = match (primary, shadow) {
        (CopyState::Good, _) => page(0)?,
        (_, CopyState::Good) => page(1)?,
        _ => return None,
    };
    Some(HeaderCopies {
        header: DatabaseHeader::decode(counts),
        page_size: size,
        primary,
        shadow,
        copies_agree: page(0) == page(1),
    })
}

/// The bit in which two pages differ, if there is exactly one.
fn flipped_bit(one: &[u8], other: &[u8]) -> Option<u32> {
    let differences = one.iter().zip(other).map(|(one, other)| one ^ other);
    let mut differences = (0..).zip(differences).filter(|(_, bits)| *bits != 0);
    let (at, bits): (u32, u8) = differences.next()?;
    let is_only = bits.is_power_of_two() && differences.next().is_none();
    is_only.then(|| at * 8 + bits.trailing_zeros())
}

fn judge(page: Option<&[u8]>, size: PageSize) -> CopyState {
    let Some(page) = page else {
        return CopyState::Missing;
    };
    let states_size = DatabaseHeader::decode(page).page_size() == Some(size);
    let is_good = checksum::header_is_good(page);
    if states_size && is_good {
        return CopyState::Good;
    }
    // No page has the number 0, so a non-zero page belongs elsewhere.
    match checksum::verify(page, PageNumber::NONE) {
        PageVerdict::WrongPage { really } if !is_good => CopyState::HoldsPage(really),
        _ => CopyState::Bad,
    }
}
