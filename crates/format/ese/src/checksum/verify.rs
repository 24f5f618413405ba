//! Judges a page by its checksums, and corrects a single flipped bit.

use units::PageNumber;

use crate::bytes::{get_array, u32_at, u64_at};
use crate::checksum::{PLACES, block_checksum, header_checksum};
use crate::page::{PageRef, PageSize, page_flags};
use crate::page_check;

/// The bit that selects a page's kind of checksum. No repair may flip it.
const FORMAT_BIT: u32 = 36 * 8 + 13;
/// Bits excluded from the first block, because they are its own checksum.
const OWN_CHECKSUM_BITS: u32 = 64;

/// Result of verifying a page's checksums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageVerdict {
    /// Intact.
    Good,
    /// All zero: allocated but never written.
    Uninitialised,
    /// All zero but for one bit: it has flipped since. No checksum proves it, so [`repair`] leaves
    /// it alone; but no page in use is empty to the last bit.
    FlippedZero {
        /// The flipped bit, counted from the beginning of the page.
        bit: u32,
    },
    /// One bit has flipped in each affected block; [`repair`] corrects them.
    Correctable {
        /// The flipped bits, counted from the beginning of the page; at most one per block.
        bits: Vec<u32>,
    },
    /// One bit has flipped in the page's own checksum, or the one that selects the kind of
    /// checksum. The rest is intact. ESE refuses to repair it, and so does [`repair`].
    FlippedChecksum {
        /// The flipped bit, counted from the beginning of the page.
        bit: u32,
    },
    /// An intact page that belongs elsewhere: a misdirected write.
    WrongPage {
        /// The page number that it belongs to.
        really: PageNumber,
    },
    /// Damaged beyond repair.
    Bad {
        /// The first damaged block.
        block: usize,
        /// Its stored checksum.
        stored: u64,
        /// The expected value.
        computed: u64,
    },
}

/// The difference between a block's stored and computed checksums.
#[derive(Clone, Copy)]
struct Difference {
    block: usize,
    stored: u64,
    computed: u64,
}

impl Difference {
    const fn is_none(self) -> bool {
        self.stored == self.computed
    }

    /// The two halves of the error-correcting code (low, high) and the XOR.
    const fn parts(self) -> (u32, u32, u32) {
        let bits = self.stored ^ self.computed;
        ((bits >> 32) as u32 & 0xFFFF, (bits >> 48) as u32, (bits & 0xFFFF_FFFF) as u32)
    }

    /// The one flipped bit of the block, if one explains the difference.
    fn single_bit(self, block_bytes: usize) -> Option<u32> {
        let (low, high, xor) = self.parts();
        let highest_bit = u32::try_from(block_bytes * 8 - 1).ok()?;
        let is_single = (low ^ high) & highest_bit == highest_bit && xor.is_power_of_two();
        let is_repairable = low <= highest_bit
            && (self.block != 0 || (low >= OWN_CHECKSUM_BITS && low != FORMAT_BIT));
        (is_single && is_repairable).then_some(low)
    }
}

/// Judges the page in `bytes`, read from the place of page `page`.
pub fn verify(bytes: &[u8], page: PageNumber) -> PageVerdict {
    let view = PageRef::new(bytes);
    if view.is_uninitialised() {
        return PageVerdict::Uninitialised;
    }
    if let Some(bit) = only_bit(bytes) {
        return PageVerdict::FlippedZero { bit };
    }
    if !view.has(page_flags::NEW_CHECKSUM) {
        return match verify_old(bytes, page) {
            PageVerdict::Bad { .. } if is_good_with(FORMAT_BIT, bytes, page) => {
                PageVerdict::FlippedChecksum { bit: FORMAT_BIT }
            }
            verdict => verdict,
        };
    }
    let mut stored = PLACES.map(|place| u64_at(bytes, place));
    let block_bytes = view.size().checksum_block_bytes();
    let blocks = view.size().bytes() / block_bytes;
    let computed: Vec<u64> = bytes
        .chunks(block_bytes)
        .enumerate()
        .map(|(block, bytes)| block_checksum(bytes, block == 0, page))
        .collect();
    if computed == stored[..blocks] {
        return PageVerdict::Good;
    }
    if let Some(really) = misplaced(&stored[..blocks], &computed, page) {
        return PageVerdict::WrongPage { really };
    }
    if let Some(bit) = flipped_checksum(&stored[..blocks], &computed) {
        return PageVerdict::FlippedChecksum { bit };
    }
    correctable(&mut stored, &computed, view.size())
}

/// The only bit set, if there is exactly one. For a page in use this reads only the checksum.
fn only_bit(bytes: &[u8]) -> Option<u32> {
    let words =
        (0..).step_by(8).map_while(|at| Some((at, u64::from_le_bytes(get_array(bytes, at)?))));
    let mut set = words.filter(|(_, word)| *word != 0);
    let (at, word) = set.next()?;
    let is_only = word.is_power_of_two() && set.next().is_none();
    let bit = u32::try_from(at * 8).ok()? + word.trailing_zeros();
    is_only.then_some(bit)
}

/// Whether the page is good once `bit` is flipped.
fn is_good_with(bit: u32, bytes: &[u8], page: PageNumber) -> bool {
    let mut turned = bytes.to_vec();
    flip(&mut turned, &[bit]);
    verify(&turned, page) == PageVerdict::Good
}

/// The flipped bit of the page's own checksum, if that explains the whole difference. A flip in the
/// data never does: it changes one bit of the XOR and many of the code, or none of the XOR and an
/// even number of the code.
fn flipped_checksum(stored: &[u64], computed: &[u64]) -> Option<u32> {
    let difference = stored[0] ^ computed[0];
    let is_single = difference.is_power_of_two() && stored[1..] == computed[1..];
    is_single.then(|| difference.trailing_zeros())
}

/// Flips the given bits, counted from the beginning of the page.
pub fn flip(bytes: &mut [u8], bits: &[u32]) {
    for bit in bits {
        bytes[*bit as usize / 8] ^= 1 << (bit % 8);
    }
}

/// Flips bits back if that makes the page good by its checksums and by [`page_check`], and returns
/// them. Otherwise leaves the page unchanged and returns `None`.
pub fn repair(bytes: &mut [u8], page: PageNumber) -> Option<Vec<u32>> {
    let PageVerdict::Correctable { bits } = verify(bytes, page) else {
        return None;
    };
    let mut repaired = bytes.to_vec();
    flip(&mut repaired, &bits);
    let is_good = verify(&repaired, page) == PageVerdict::Good
        && page_check::check(PageRef::new(&repaired), page).is_ok();
    is_good.then(|| {
        bytes.copy_from_slice(&repaired);
        bits
    })
}

/// The page that these checksums fit, if it is another one: the codes agree and the XORs differ
/// in every block by the same page number.
fn misplaced(stored: &[u64], computed: &[u64], page: PageNumber) -> Option<PageNumber> {
    let difference = stored[0] ^ computed[0];
    let is_same = stored.iter().zip(computed).all(|(s, c)| s ^ c == difference);
    let xor = u32::try_from(difference).ok()?;
    is_same.then_some(PageNumber(page.0 ^ xor))
}

fn correctable(stored: &mut [u64; 4], computed: &[u64], size: PageSize) -> PageVerdict {
    let block_bytes = size.checksum_block_bytes();
    let mut bits = Vec::new();
    for (block, &computed) in computed.iter().enumerate() {
        let difference = Difference { block, stored: stored[block], computed };
        if difference.is_none() {
            continue;
        }
        let Some(bit) = difference.single_bit(block_bytes) else {
            return PageVerdict::Bad { block, stored: stored[block], computed };
        };
        if block == 0 {
            correct_stored(stored, bit);
        }
        bits.push(bit + u32::try_from(block * block_bytes * 8).expect("invariant: on the page"));
    }
    PageVerdict::Correctable { bits }
}

/// Corrects a later block's stored checksum if the flipped bit of the first block is in it, so that
/// the later block is judged by the corrected one.
fn correct_stored(stored: &mut [u64; 4], bit: u32) {
    for (place, sum) in PLACES.iter().zip(stored).skip(1) {
        let first = u32::try_from(place * 8).expect("invariant: within the page header");
        if let Some(within) = bit.checked_sub(first).filter(|within| *within < 64) {
            *sum ^= 1 << within;
        }
    }
}

/// Verifies the checksum of files from before 2006: a plain XOR, with the page number next to it.
fn verify_old(bytes: &[u8], page: PageNumber) -> PageVerdict {
    let (stored, computed) = (u32_at(bytes, 0), header_checksum(bytes));
    let really = PageNumber(u32_at(bytes, 4));
    if stored != computed {
        return PageVerdict::Bad { block: 0, stored: stored.into(), computed: computed.into() };
    }
    if really == page { PageVerdict::Good } else { PageVerdict::WrongPage { really } }
}
