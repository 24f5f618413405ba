//! The state of a page that was read: one judge for reads, the background scan, redo and `check`.
//!
//! Checksum, mark, the page's own structure and the flush map each detect part of the damage. Pure:
//! it maps the bytes, the page's number and the state of its last write to the page's state.

use std::fmt;

use units::PageNumber;

use crate::checksum::{PageVerdict, repair, verify};
use crate::flush_map::{FlushVerdict, LastWrite};
use crate::page::PageRef;
use crate::page_check::{self, PageFault};

/// State of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageState {
    /// It matches the last write.
    Sound,
    /// All zeros, with no known write.
    Unwritten,
    /// Something is wrong with it.
    Damaged(PageDamage),
}

impl PageState {
    /// Whether a reader gets the content of the last write, once flipped bits are corrected.
    pub const fn is_readable(&self) -> bool {
        matches!(self, Self::Sound | Self::Damaged(PageDamage::FlippedBit { .. }))
    }
}

/// Kind of damage.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PageDamage {
    /// Single bits have flipped, at most one per checksum block;
    /// [`flip`](crate::checksum::flip) turns them back.
    FlippedBit {
        /// Their places in bits from the beginning of the page.
        bits: Vec<u32>,
    },
    /// One bit has flipped in a page of zeros, which carries no checksum.
    FlippedZero {
        /// Its place in bits from the beginning of the page.
        bit: u32,
    },
    /// One bit of the page's own checksum has flipped; its content is whole.
    FlippedChecksum {
        /// Its place in bits from the beginning of the page.
        bit: u32,
    },
    /// The page is intact but old: its last write was acknowledged but never reached the medium.
    LostFlush {
        /// The flush type of the last write.
        written: u8,
        /// The flush type of the page; 0 if it is all zero.
        found: u8,
    },
    /// The checksum misses it, but the content differs from the sealed page: a write reached the
    /// medium only in part.
    Torn,
    /// The checksum of a block does not match its bytes.
    Checksum {
        /// The first such block, counted from 0.
        block: usize,
    },
    /// An intact page that belongs elsewhere.
    WrongNumber {
        /// The page number that it belongs to.
        really: PageNumber,
    },
    /// Zeros in place of a page that a tree points to. [`judge`] sees one page and never returns
    /// this; its callers do if [`PageState::Unwritten`] is impossible.
    Wiped,
    /// The checksum is right but the content is inconsistent: damaged before it was written.
    Malformed(PageFault),
}

impl PageDamage {
    /// Whether the medium flipped single bits and the right content is known.
    pub const fn is_flip(&self) -> bool {
        matches!(
            self,
            Self::FlippedBit { .. } | Self::FlippedZero { .. } | Self::FlippedChecksum { .. }
        )
    }
}

impl fmt::Display for PageDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FlippedBit { bits } => {
                let many = if bits.len() == 1 { "one bit" } else { "single bits" };
                write!(f, "{many} flipped at ")?;
                for (at, bit) in bits.iter().enumerate() {
                    let separator = if at == 0 { "" } else { ", " };
                    write!(f, "{separator}byte {} bit {}", bit / 8, bit % 8)?;
                }
                write!(f, "; can be corrected")
            }
            Self::FlippedZero { bit } => write!(
                f,
                "one bit flipped at byte {} bit {}, in a page of zeros that was never written",
                bit / 8,
                bit % 8
            ),
            Self::FlippedChecksum { bit } => write!(
                f,
                "one bit flipped at byte {} bit {}, in the page's own checksum; its content is \
                 whole",
                bit / 8,
                bit % 8
            ),
            Self::LostFlush { found: 0, .. } => f.write_str(
                "lost flush: all zeros, but a write of it was acknowledged: it never reached the \
                 medium, or the page was wiped",
            ),
            Self::LostFlush { written, found } => write!(
                f,
                "lost flush: its last write was acknowledged and never reached the medium (flush \
                 type {found} instead of {written})"
            ),
            Self::Torn => f.write_str(
                "torn: a write of it reached the medium only in part, in a way that its checksum \
                 does not see",
            ),
            Self::Checksum { block } => {
                write!(f, "damaged beyond repair: the checksum of block {block} is wrong")
            }
            Self::WrongNumber { really } => {
                write!(f, "holds page {really}: a write went to the wrong place")
            }
            Self::Wiped => {
                f.write_str("all zeros, but a tree points to it: wiped or never written")
            }
            Self::Malformed(fault) => {
                write!(f, "its checksum is right, but {fault}: damaged before it was written")
            }
        }
    }
}

/// Judges the page in `bytes`, read from the place of page `number` while no write of it was in
/// flight.
pub fn judge(bytes: &[u8], number: PageNumber, last_write: LastWrite) -> PageState {
    judged(bytes, number, last_write, Structure::OfAll)
}

/// Judges like [`judge`], but accepts a mark as proof of the page's structure, since it identifies
/// the sealed page. For reads with a waiter; damage in memory before sealing is left to the
/// background scan and to `check`.
pub fn judge_by_mark(bytes: &[u8], number: PageNumber, last_write: LastWrite) -> PageState {
    judged(bytes, number, last_write, Structure::OfUnmarked)
}

/// Which pages have their structure checked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Structure {
    OfAll,
    OfUnmarked,
}

fn judged(
    bytes: &[u8],
    number: PageNumber,
    last_write: LastWrite,
    structure: Structure,
) -> PageState {
    let page = PageRef::new(bytes);
    let damage = match verify(bytes, number) {
        PageVerdict::Good => good(bytes, number, last_write, structure),
        PageVerdict::Uninitialised => match lost(last_write, page) {
            Some(lost) => Some(lost),
            None => return PageState::Unwritten,
        },
        PageVerdict::Correctable { bits } => Some(flipped(bytes, number, bits, last_write)),
        PageVerdict::FlippedChecksum { bit } => {
            Some(lost(last_write, page).unwrap_or(PageDamage::FlippedChecksum { bit }))
        }
        PageVerdict::FlippedZero { bit } => {
            let zeros = vec![0; bytes.len()];
            let lost = lost(last_write, PageRef::new(&zeros));
            Some(lost.unwrap_or(PageDamage::FlippedZero { bit }))
        }
        PageVerdict::WrongPage { really } => Some(PageDamage::WrongNumber { really }),
        PageVerdict::Bad { block, .. } => Some(PageDamage::Checksum { block }),
    };
    damage.map_or(PageState::Sound, PageState::Damaged)
}

/// The fault of a page with a correct checksum.
fn good(
    bytes: &[u8],
    number: PageNumber,
    last_write: LastWrite,
    structure: Structure,
) -> Option<PageDamage> {
    let page = PageRef::new(bytes);
    match last_write.word_of_mark(bytes, number) {
        Some(false) => return Some(PageDamage::Torn),
        Some(true) if structure == Structure::OfUnmarked => return lost(last_write, page),
        _ => {}
    }
    match page_check::check(page, number) {
        Ok(()) => lost(last_write, page),
        Err(fault) => Some(PageDamage::Malformed(fault)),
    }
}

/// Several flipped bits can look like one: unless flipping `bits` back makes the page intact, it is
/// beyond repair. If the repaired page is an older one, its last write was lost.
fn flipped(bytes: &[u8], number: PageNumber, bits: Vec<u32>, last_write: LastWrite) -> PageDamage {
    let mut copy = bytes.to_vec();
    let is_whole = repair(&mut copy, number).is_some();
    if is_whole && last_write.is_torn(&copy, number) {
        return PageDamage::Torn;
    }
    if is_whole && last_write.allows_repair(&copy, number) {
        let lost = lost(last_write, PageRef::new(&copy));
        return lost.unwrap_or(PageDamage::FlippedBit { bits });
    }
    let block_bytes = PageRef::new(bytes).size().checksum_block_bytes();
    let first = bits.first().map_or(0, |bit| *bit as usize / 8);
    PageDamage::Checksum { block: first / block_bytes }
}

/// The lost write, if any, of a page without other damage.
fn lost(last_write: LastWrite, page: PageRef<'_>) -> Option<PageDamage> {
    match last_write.judge(page) {
        FlushVerdict::LostWrite { written, found } => {
            Some(PageDamage::LostFlush { written, found })
        }
        FlushVerdict::Agrees | FlushVerdict::Unknown => None,
    }
}

/// Corrects single flipped bits of a page and returns the damage found, if any; `None` if the
/// content of the page cannot be restored.
pub fn corrected(bytes: &mut [u8], number: PageNumber) -> Option<Option<PageDamage>> {
    match verify(bytes, number) {
        PageVerdict::Good | PageVerdict::Uninitialised => Some(None),
        PageVerdict::FlippedChecksum { bit } => Some(Some(PageDamage::FlippedChecksum { bit })),
        PageVerdict::Correctable { bits } if repair(bytes, number).is_some() => {
            Some(Some(PageDamage::FlippedBit { bits }))
        }
        PageVerdict::Correctable { .. }
        | PageVerdict::FlippedZero { .. }
        | PageVerdict::WrongPage { .. }
        | PageVerdict::Bad { .. } => None,
    }
}

#[cfg(test)]
mod tests;
