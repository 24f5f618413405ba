//! Decodes values that the engine stores compressed. Read only: this project compresses nothing.
//!
//! The first byte's upper five bits name the method. See Microsoft's [MS-XCA] for Xpress.

use std::fmt;

use crate::bytes::get_array;

/// Why a compressed value could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompressionError {
    /// A method of the real engine that is not decoded here.
    UnknownMethod {
        /// Its number.
        method: u8,
    },
    /// The compressed bytes are inconsistent.
    Damaged,
}

impl fmt::Display for CompressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownMethod { method } => {
                let name = match method {
                    5 => "XPRESS9",
                    6 => "XPRESS10",
                    _ => "SCRUB",
                };
                write!(f, "compressed by {name} (number {method}), which is not decoded")
            }
            Self::Damaged => write!(f, "the compressed value contradicts itself"),
        }
    }
}

impl std::error::Error for CompressionError {}

/// The value that `stored` encodes.
pub fn decompress(stored: &[u8]) -> Result<Vec<u8>, CompressionError> {
    let (&first, rest) = stored.split_first().ok_or(CompressionError::Damaged)?;
    match first >> 3 {
        1 => Ok(seven_bit(first, rest)),
        2 => Ok(seven_bit(first, rest).into_iter().flat_map(|byte| [byte, 0]).collect()),
        3 => sized(rest, xpress),
        7 => sized(rest, lz4),
        method @ 4..=6 => Err(CompressionError::UnknownMethod { method }),
        _ => Err(CompressionError::Damaged),
    }
}

/// Unpacks characters of 7 bits, lowest bits first. The low three bits of the first byte hold the
/// number of valid bits in the last byte, minus one.
fn seven_bit(first: u8, packed: &[u8]) -> Vec<u8> {
    let bits = (packed.len() * 8).saturating_sub(7 - usize::from(first & 7));
    let mut characters = Vec::with_capacity(bits / 7);
    for index in 0..bits / 7 {
        let (byte, shift) = (index * 7 / 8, index * 7 % 8);
        let low = packed.get(byte).copied().unwrap_or(0);
        let high = packed.get(byte + 1).copied().unwrap_or(0);
        characters.push((u16::from_le_bytes([low, high]) >> shift & 0x7F) as u8);
    }
    characters
}

/// Decodes a method that stores the size of the value in two bytes before the compressed ones.
fn sized(
    rest: &[u8],
    method: fn(&[u8], usize) -> Option<Vec<u8>>,
) -> Result<Vec<u8>, CompressionError> {
    let bytes = u16::from_le_bytes(get_array(rest, 0).ok_or(CompressionError::Damaged)?);
    let value = method(&rest[2..], usize::from(bytes)).ok_or(CompressionError::Damaged)?;
    if value.len() == usize::from(bytes) { Ok(value) } else { Err(CompressionError::Damaged) }
}

/// Compressed bytes being read.
struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Position of the half-used byte from which the next long match takes its upper half.
    half: Option<usize>,
}

impl Input<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let taken = get_array(self.bytes, self.at)?;
        self.at += N;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take().map(|[byte]| byte)
    }

    fn half_byte(&mut self) -> Option<u8> {
        if let Some(at) = self.half.take() {
            return Some(self.bytes[at] >> 4);
        }
        self.half = Some(self.at);
        self.byte().map(|byte| byte & 15)
    }
}

/// Decodes plain LZ77 of [MS-XCA] section 2.4.
fn xpress(compressed: &[u8], most: usize) -> Option<Vec<u8>> {
    let mut input = Input { bytes: compressed, at: 0, half: None };
    let mut out = Vec::with_capacity(most);
    while out.len() < most && input.at < compressed.len() {
        let flags = u32::from_le_bytes(input.take()?);
        for bit in (0..32).rev() {
            if out.len() >= most {
                break;
            }
            if flags >> bit & 1 == 0 {
                out.push(input.byte()?);
            } else {
                let token = u16::from_le_bytes(input.take()?);
                let length = xpress_length(token, &mut input)?;
                copy_match(&mut out, usize::from(token >> 3) + 1, length, most)?;
            }
        }
    }
    Some(out)
}

/// The length of a match: 3 bits, then half a byte, a byte, two bytes, four bytes, as needed.
fn xpress_length(token: u16, input: &mut Input<'_>) -> Option<usize> {
    let mut length = usize::from(token & 7);
    if length == 7 {
        let half = usize::from(input.half_byte()?);
        length += half;
        if half == 15 {
            length += match input.byte()? {
                255 => xpress_long_length(input)?.checked_sub(15 + 7)?,
                byte => usize::from(byte),
            };
        }
    }
    Some(length + 3)
}

fn xpress_long_length(input: &mut Input<'_>) -> Option<usize> {
    match u16::from_le_bytes(input.take()?) {
        0 => usize::try_from(u32::from_le_bytes(input.take()?)).ok(),
        length => Some(usize::from(length)),
    }
}

/// One LZ4 block.
fn lz4(compressed: &[u8], most: usize) -> Option<Vec<u8>> {
    let mut input = Input { bytes: compressed, at: 0, half: None };
    let mut out = Vec::with_capacity(most);
    while input.at < compressed.len() {
        let token = input.byte()?;
        let literals = lz4_length(token >> 4, &mut input)?;
        out.extend_from_slice(compressed.get(input.at..input.at.checked_add(literals)?)?);
        input.at += literals;
        if out.len() >= most || input.at >= compressed.len() {
            break;
        }
        let distance = usize::from(u16::from_le_bytes(input.take()?));
        let length = lz4_length(token & 15, &mut input)? + 4;
        copy_match(&mut out, distance, length, most)?;
    }
    Some(out)
}

fn lz4_length(start: u8, input: &mut Input<'_>) -> Option<usize> {
    let mut length = usize::from(start);
    if start == 15 {
        loop {
            let byte = input.byte()?;
            length += usize::from(byte);
            if byte != 255 {
                break;
            }
        }
    }
    Some(length)
}

/// Repeats `length` bytes from `distance` before the end; the two may overlap.
fn copy_match(out: &mut Vec<u8>, distance: usize, length: usize, most: usize) -> Option<()> {
    let from = out.len().checked_sub(distance).filter(|_| distance > 0)?;
    if out.len() + length > most {
        return None;
    }
    for index in from..from + length {
        out.push(out[index]);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::{CompressionError, decompress};
    use proptest::prelude::*;

    #[test]
    fn seven_bit_text_unpacks_into_bytes_or_utf16() {
        // "ab" = 1100001 1100010, lowest bits first: 14 bits, 6 of the last byte.
        assert_eq!(decompress(&[1 << 3 | 5, 0x61, 0x31]), Ok(b"ab".to_vec()));
        assert_eq!(decompress(&[2 << 3 | 5, 0x61, 0x31]), Ok(b"a\0b\0".to_vec()));
    }

    #[test]
    fn xpress_examples_of_its_specification_unpack() {
        let alphabet = [&[0x18, 26, 0, 0x3F, 0, 0, 0][..], b"abcdefghijklmnopqrstuvwxyz"].concat();
        assert_eq!(decompress(&alphabet), Ok(b"abcdefghijklmnopqrstuvwxyz".to_vec()));
        let hundred = [
            &[0x18, 0x2C, 0x01, 0xFF, 0xFF, 0xFF, 0x1F][..],
            b"abc",
            &[0x17, 0x00, 0x0F, 0xFF, 0x26, 0x01],
        ]
        .concat();
        assert_eq!(decompress(&hundred), Ok(b"abc".repeat(100)));
    }

    #[test]
    fn lz4_literals_and_overlapping_matches_unpack() {
        let block = [7 << 3, 9, 0, 0x32, b'a', b'b', b'c', 3, 0];
        assert_eq!(decompress(&block), Ok(b"abcabcabc".to_vec()));
    }

    #[test]
    fn unknown_methods_and_damage_are_told_apart() {
        let unknown = Err(CompressionError::UnknownMethod { method: 5 });
        assert_eq!(decompress(&[5 << 3, 1, 2]), unknown);
        // No engine has these methods.
        for method in [0, 8, 11, 31] {
            assert_eq!(decompress(&[method << 3, 1, 2]), Err(CompressionError::Damaged));
        }
        assert_eq!(decompress(&[]), Err(CompressionError::Damaged));
        assert_eq!(decompress(&[0x18, 9, 0, 0, 0, 0, 0x80, 1, 0]), Err(CompressionError::Damaged));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(
            mut bytes in proptest::collection::vec(any::<u8>(), 1..80),
            m in 0u8..8,
        ) {
            bytes[0] = m << 3 | bytes[0] & 7;
            let _ = decompress(&bytes);
        }
    }
}
