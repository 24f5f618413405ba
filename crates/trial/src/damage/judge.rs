//! What one block of pages is worth: pure, so that it is tested on bytes alone.

use std::fmt;

use device::DeviceError;
use ese::checksum::{PageVerdict, repair, verify};
use ese::page::{PageRef, PageSize};
use ese::page_check::{self, PageFault};
use units::PageNumber;

use super::{Tally, references};

/// A damaged page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The page, by its place in the file.
    pub page: PageNumber,
    /// What is wrong.
    pub damage: Damage,
}

/// What is wrong with a page.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// Single bits have flipped, at most one per checksum block; they could be turned back.
    FlippedBit {
        /// Their places in bits from the beginning of the page.
        bits: Vec<u32>,
    },
    /// One bit of a page of zeros has flipped, which carries no checksum.
    FlippedZero {
        /// Its place in bits from the beginning of the page.
        bit: u32,
    },
    /// One bit of the page's own checksum has flipped; its content is whole.
    FlippedChecksum {
        /// Its place in bits from the beginning of the page.
        bit: u32,
    },
    /// The page is whole and old: its last write was acknowledged and never reached the medium.
    LostFlush {
        /// The flush type of the last write.
        written: u8,
        /// The flush type of the page; 0: it is all zero.
        found: u8,
    },
    /// The checksum cannot see it, but the content is not what was sealed: a write reached the
    /// medium only in part.
    Torn,
    /// The checksum of a block does not fit its bytes.
    Checksum {
        /// The first such block, counted from 0.
        block: usize,
    },
    /// An intact page that belongs elsewhere.
    WrongNumber {
        /// Where it belongs.
        really: PageNumber,
    },
    /// Zeros where a tree points to.
    Wiped,
    /// The checksum is right and the content contradicts itself: damaged before it was written.
    Malformed(PageFault),
    /// The device does not give it.
    Unreadable(DeviceError),
}

impl Damage {
    /// Whether the medium changed single bits and what it should be is known.
    pub(crate) const fn is_flip(&self) -> bool {
        matches!(
            self,
            Self::FlippedBit { .. } | Self::FlippedZero { .. } | Self::FlippedChecksum { .. }
        )
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FlippedBit { bits } => {
                write!(
                    f,
                    "{} flipped at ",
                    if bits.len() == 1 {
                        "one bit"
                    } else {
                        "single bits"
                    }
                )?;
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
                write!(
                    f,
                    "damaged beyond repair: the checksum of block {block} is wrong"
                )
            }
            Self::WrongNumber { really } => {
                write!(f, "holds page {really}: a write went to the wrong place")
            }
            Self::Wiped => write!(
                f,
                "all zeros, but a tree points to it: wiped or never written"
            ),
            Self::Malformed(fault) => {
                write!(
                    f,
                    "its checksum is right, but {fault}: damaged before it was written"
                )
            }
            Self::Unreadable(error) => write!(f, "cannot be read: {error}"),
        }
    }
}

/// Judges the pages in `block`, the first of which is `first`.
pub(super) fn judge(block: &[u8], size: PageSize, first: PageNumber, tally: &mut Tally) {
    for (number, bytes) in (first.0..).zip(block.chunks_exact(size.bytes())) {
        let number = PageNumber(number);
        tally.seen += 1;
        if number > tally.owned {
            judge_foreign(bytes, number, tally);
            continue;
        }
        match damage(bytes, number, tally) {
            Ok(page) => references::each(page, |used| tally.referenced.insert(used)),
            Err(Some(damage)) => tally.note(number, damage),
            Err(None) => {
                tally.uninitialised += 1;
                tally.zeros.insert(number);
            }
        }
    }
}

/// What lies behind the database may be anything, so only a flip says that the medium changed it.
/// Zeros are room that the engine made ahead.
fn judge_foreign(bytes: &[u8], number: PageNumber, tally: &mut Tally) {
    let found = damage(bytes, number, tally).err();
    if found == Some(None) {
        tally.uninitialised += 1;
        return;
    }
    tally.foreign += 1;
    if let Some(flip) = found.flatten().filter(Damage::is_flip) {
        tally.note(number, flip);
    }
}

/// A sound page; or its damage, none where it was never written.
fn damage<'a>(
    bytes: &'a [u8],
    number: PageNumber,
    tally: &Tally,
) -> Result<PageRef<'a>, Option<Damage>> {
    let page = PageRef::new(bytes);
    let damage = match verify(bytes, number) {
        PageVerdict::Good if tally.is_torn(number, bytes) => Damage::Torn,
        PageVerdict::Good => match page_check::check(page, number) {
            Ok(()) => {
                return tally
                    .lost(number, page)
                    .map_or(Ok(page), |lost| Err(Some(lost)));
            }
            Err(fault) => Damage::Malformed(fault),
        },
        PageVerdict::Uninitialised => return Err(tally.lost(number, page)),
        PageVerdict::WrongPage { really } => tally
            .flipped_number(page.size(), number, really)
            .map_or(Damage::WrongNumber { really }, |bit| {
                Damage::FlippedChecksum { bit }
            }),
        PageVerdict::Correctable { bits } => flipped(bytes, number, bits, tally),
        PageVerdict::FlippedChecksum { bit } => {
            let lost = tally.lost(number, page);
            lost.unwrap_or(Damage::FlippedChecksum { bit })
        }
        PageVerdict::FlippedZero { bit } => {
            let zeros = vec![0; bytes.len()];
            let lost = tally.lost(number, PageRef::new(&zeros));
            lost.unwrap_or(Damage::FlippedZero { bit })
        }
        PageVerdict::Bad { block, .. } => Damage::Checksum { block },
    };
    Err(Some(damage))
}

/// Several flipped bits can look like one: what a repair does not make whole is beyond it. What it
/// makes an older page of is more than a flipped bit.
fn flipped(bytes: &[u8], number: PageNumber, bits: Vec<u32>, tally: &Tally) -> Damage {
    let mut copy = bytes.to_vec();
    if repair(&mut copy, number).is_some() {
        if tally.is_torn(number, &copy) {
            return Damage::Torn;
        }
        let lost = tally.lost(number, PageRef::new(&copy));
        return lost.unwrap_or(Damage::FlippedBit { bits });
    }
    let block_bytes = PageRef::new(bytes).size().checksum_block_bytes();
    let block = bits
        .first()
        .map_or(0, |bit| *bit as usize / 8 / block_bytes);
    Damage::Checksum { block }
}
