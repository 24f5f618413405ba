//! Encoding and decoding of log record fields, such that garbage results in an error and never a
//! panic.

use std::fmt;

/// Why bytes cannot be decoded as a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// The field or kind that cannot be decoded.
    pub what: &'static str,
    /// Byte offset within the record.
    pub offset: usize,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no valid {} at byte {} of the record", self.what, self.offset)
    }
}

impl std::error::Error for DecodeError {}

/// Takes fields off the front of a byte string.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
    offset: usize,
}

impl<'a> Fields<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, offset: 0 }
    }

    pub(crate) const fn error(&self, what: &'static str) -> DecodeError {
        DecodeError { what, offset: self.offset }
    }

    pub(crate) fn take(
        &mut self,
        length: usize,
        what: &'static str,
    ) -> Result<&'a [u8], DecodeError> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(self.error(what))?;
        self.rest = rest;
        self.offset += length;
        Ok(taken)
    }

    pub(crate) fn u8(&mut self, what: &'static str) -> Result<u8, DecodeError> {
        Ok(self.take(1, what)?[0])
    }

    /// Decodes a number as written by [`put_number`], rejecting longer encodings: equal records
    /// have equal bytes.
    pub(crate) fn number<T: TryFrom<u64>>(&mut self, what: &'static str) -> Result<T, DecodeError> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.u8(what)?;
            let bits = u64::from(byte & !MORE);
            let is_lost = bits << shift >> shift != bits;
            let is_idle = byte == 0 && shift > 0;
            if is_lost || is_idle {
                return Err(self.error(what));
            }
            number |= bits << shift;
            if byte & MORE == 0 {
                return T::try_from(number).map_err(|_| self.error(what));
            }
        }
        Err(self.error(what))
    }

    /// Decodes a byte string preceded by its length.
    pub(crate) fn bytes(&mut self, what: &'static str) -> Result<Vec<u8>, DecodeError> {
        let length = self.number(what)?;
        Ok(self.take(length, what)?.to_vec())
    }

    /// Fails if anything follows the last field.
    pub(crate) const fn end(&self) -> Result<(), DecodeError> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.error("end of record")) }
    }
}

/// Set in every byte of a number except the last.
const MORE: u8 = 0x80;

/// Appends a number, seven bits per byte, lowest first (LEB128), so that small numbers are short.
pub(crate) fn put_number(out: &mut Vec<u8>, number: impl Into<u64>) {
    let mut rest = number.into();
    while rest > 0x7F {
        out.push(rest.to_le_bytes()[0] | MORE);
        rest >>= 7;
    }
    out.push(rest.to_le_bytes()[0]);
}

/// Appends a count or a length.
pub(crate) fn put_length(out: &mut Vec<u8>, length: usize) {
    put_number(out, length as u64);
}

/// Appends a byte string after its length.
pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_length(out, bytes.len());
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Fields, put_number};

    proptest! {
        #[test]
        fn numbers_read_back_and_small_ones_are_short(number: u64, bits in 0..64_u32) {
            let number = number >> bits;
            let mut encoded = Vec::new();
            put_number(&mut encoded, number);
            let mut fields = Fields::new(&encoded);
            prop_assert_eq!(fields.number("number"), Ok(number));
            prop_assert!(fields.end().is_ok());
            let significant = (u64::BITS - number.leading_zeros()).max(1);
            prop_assert_eq!(encoded.len(), significant.div_ceil(7) as usize);
        }
    }

    #[test]
    fn longer_spellings_and_too_large_numbers_are_refused() {
        let number = |bytes: &[u8]| Fields::new(bytes).number::<u16>("number").ok();
        assert_eq!(number(&[0xFF, 0xFF, 0x03]), Some(u16::MAX));
        assert_eq!(number(&[0x80, 0x80, 0x04]), None, "beyond 16 bits");
        assert_eq!(number(&[0x85, 0x00]), None, "five in two bytes");
        assert_eq!(number(&[0x85]), None, "cut short");
        assert_eq!(number(&[]), None);
        let most = [[0xFF; 9].as_slice(), &[0x01]].concat();
        assert_eq!(Fields::new(&most).number("number"), Ok(u64::MAX));
        let beyond = [[0xFF; 9].as_slice(), &[0x02]].concat();
        assert!(Fields::new(&beyond).number::<u64>("number").is_err());
    }
}
