//! Computes all sums of a block with two XORs per row, rather than one per bit of the row's number.
//!
//! A block is treated as rows of 64 bytes. A checksum needs, for each bit of the row number, the
//! XOR of the rows with this bit set. Eight rows are folded like a knockout tournament: the loser
//! of each round belongs to the sums of that round's bit, the XOR of both advances. Eight such
//! octets fold by the same function, one level up.
//!
//! The functions are plain array code; compiled for a wider instruction set they use its
//! instructions, which is the purpose of [`super::simd`].

use crate::checksum::Parities;

/// Rows of one octet.
const OCTET: usize = 8;
/// Bytes of 64 rows, which fold in two levels.
const PANEL_BYTES: usize = 4096;

/// 64 bytes of a block, as little-endian words.
type ParityRow = [u64; 8];

/// XORs of rows by bits of their number, and of all rows.
#[derive(Default)]
struct TreeSums {
    /// Bits 0, 1, 2 of the row number: the place in its octet.
    in_octet: [ParityRow; 3],
    /// Bits 3, 4, 5: the octet's place in its panel.
    octets: [ParityRow; 3],
    /// Bit 6: the second panel of an 8 KiB block.
    second_panel: ParityRow,
    /// All rows.
    total: ParityRow,
}

/// The sums of a block of 4 or 8 KiB.
#[expect(clippy::inline_always, reason = "it must take on its caller's instruction set")]
#[inline(always)]
pub(super) fn parities(block: &[u8]) -> Parities {
    let mut sums = TreeSums::default();
    let (panels, _) = block.as_chunks::<PANEL_BYTES>();
    for (number, panel) in panels.iter().enumerate() {
        let sum = fold_panel(panel, &mut sums);
        if number == 1 {
            sums.second_panel = sum;
        }
        sums.total = xor(&sums.total, &sum);
    }
    collect(&sums)
}

#[expect(clippy::inline_always, reason = "it must take on its caller's instruction set")]
#[inline(always)]
fn fold_panel(panel: &[u8; PANEL_BYTES], sums: &mut TreeSums) -> ParityRow {
    let (rows, _) = panel.as_chunks::<{ size_of::<ParityRow>() }>();
    let (octets, _) = rows.as_chunks::<OCTET>();
    let mut folded = [ParityRow::default(); OCTET];
    for (octet, result) in octets.iter().zip(&mut folded) {
        let rows = std::array::from_fn(|row| load(&octet[row]));
        *result = fold_octet(&rows, &mut sums.in_octet);
    }
    fold_octet(&folded, &mut sums.octets)
}

#[expect(clippy::inline_always, reason = "it must take on its caller's instruction set")]
#[inline(always)]
fn fold_octet(rows: &[ParityRow; OCTET], sums: &mut [ParityRow; 3]) -> ParityRow {
    let pairs: [ParityRow; 4] =
        std::array::from_fn(|index| xor(&rows[index * 2], &rows[index * 2 + 1]));
    let quads: [ParityRow; 2] =
        std::array::from_fn(|index| xor(&pairs[index * 2], &pairs[index * 2 + 1]));
    let odd_rows = xor(&xor(&rows[1], &rows[3]), &xor(&rows[5], &rows[7]));
    sums[0] = xor(&sums[0], &odd_rows);
    sums[1] = xor(&sums[1], &xor(&pairs[1], &pairs[3]));
    sums[2] = xor(&sums[2], &quads[1]);
    xor(&quads[0], &quads[1])
}

#[expect(clippy::inline_always, reason = "it must take on its caller's instruction set")]
#[inline(always)]
fn load(bytes: &[u8; 64]) -> ParityRow {
    let (words, _) = bytes.as_chunks::<8>();
    std::array::from_fn(|index| u64::from_le_bytes(words[index]))
}

#[expect(clippy::inline_always, reason = "it must take on its caller's instruction set")]
#[inline(always)]
fn xor(a: &ParityRow, b: &ParityRow) -> ParityRow {
    std::array::from_fn(|index| a[index] ^ b[index])
}

/// Converts sums of rows to sums of words: the low bits of a word's number are its place in the
/// row, the high bits the row's number.
fn collect(sums: &TreeSums) -> Parities {
    let rows = sums.in_octet.iter().chain(&sums.octets).chain([&sums.second_panel]);
    let by_bit = (0..3).map(|bit| words_with(bit, &sums.total)).chain(rows.map(all_words));
    let odd = (0..).zip(by_bit).map(|(bit, word)| ((word.count_ones() & 1) as u16) << bit);
    Parities { words: all_words(&sums.total), odd_words: odd.fold(0, |sum, bit| sum | bit) }
}

fn all_words(row: &ParityRow) -> u64 {
    row.iter().fold(0, |sum, word| sum ^ word)
}

/// XOR of the words with this bit set in their index within the row.
fn words_with(bit: usize, row: &ParityRow) -> u64 {
    let chosen = row.iter().enumerate().filter(|(place, _)| place >> bit & 1 == 1);
    chosen.fold(0, |sum, (_, word)| sum ^ word)
}
