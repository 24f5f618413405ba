//! Checksums of pages and headers, and the repair of single flipped bits.
//!
//! A page's checksum is 64 bits per block: the XOR of its 32-bit words, and an error-correcting
//! code that locates one flipped bit. All of it is linear over bits. It is blind to some damage
//! (two equal swaps, one triple flip in ten), so payloads that must be proven carry a separate
//! strong hash.

mod kernel;
mod parities;
mod simd;
mod tree;
mod verify;

#[cfg(test)]
mod tests;

pub use kernel::Kernel;
pub use parities::Parities;
pub use verify::{PageVerdict, flip, repair, verify};

use units::PageNumber;

use crate::bytes::{put, u32_at};
use crate::page::PageSize;

/// Initial value of header checksums, and the magic number of database files.
const HEADER_SEED: u32 = 0x89AB_CDEF;

/// Offset of each block's checksum in a page.
const PLACES: [usize; 4] = [0, 40, 48, 56];

/// The checksum of the header page `bytes`: XOR of all 32-bit words but the first, and the seed.
pub(crate) fn header_checksum(bytes: &[u8]) -> u32 {
    let (words, _) = bytes.as_chunks::<4>();
    words.iter().skip(1).fold(HEADER_SEED, |sum, word| sum ^ u32::from_le_bytes(*word))
}

/// Stores the checksum of the header page `bytes` in its first word.
pub(crate) fn store_header(bytes: &mut [u8]) {
    let sum = header_checksum(bytes);
    put(bytes, 0, &sum.to_le_bytes());
}

/// Whether the first word of the header page `bytes` is its checksum.
pub(crate) fn header_is_good(bytes: &[u8]) -> bool {
    header_checksum(bytes) == u32_at(bytes, 0)
}

/// The checksum of one block (4 or 8 KiB). The first block of a page does not count its own
/// first 8 bytes.
pub(crate) fn block_checksum(block: &[u8], is_first: bool, page: PageNumber) -> u64 {
    let mut sums = Kernel::best().parities(block);
    if is_first {
        sums.forget_first_word(block);
    }
    sums.checksum(block.len(), page)
}

/// Computes and stores all checksums of page `page`: the later blocks first, because the first
/// block covers their stored checksums.
pub fn store(bytes: &mut [u8], page: PageNumber) {
    let size = PageSize::from_bytes(bytes.len()).expect("invariant: a whole page is sealed");
    let block_bytes = size.checksum_block_bytes();
    for index in (0..size.bytes() / block_bytes).rev() {
        let block = &bytes[index * block_bytes..][..block_bytes];
        let sum = block_checksum(block, index == 0, page);
        put(bytes, PLACES[index], &sum.to_le_bytes());
    }
}
