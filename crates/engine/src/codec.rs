//! Reading and writing little-endian fields of log records, so that garbage gives an error and
//! never a panic.

use std::fmt;

/// The bytes are no record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// The field or kind that cannot be read.
    pub what: &'static str,
    /// Byte offset within the record.
    pub offset: usize,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no valid {} at byte {} of the record",
            self.what, self.offset
        )
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
        Self {
            rest: bytes,
            offset: 0,
        }
    }

    pub(crate) const fn error(&self, what: &'static str) -> DecodeError {
        DecodeError {
            what,
            offset: self.offset,
        }
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

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], DecodeError> {
        let taken = self.take(N, what)?;
        Ok(taken
            .try_into()
            .expect("invariant: take gives the length asked for"))
    }

    pub(crate) fn u8(&mut self, what: &'static str) -> Result<u8, DecodeError> {
        Ok(self.array::<1>(what)?[0])
    }

    pub(crate) fn u16(&mut self, what: &'static str) -> Result<u16, DecodeError> {
        Ok(u16::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn u32(&mut self, what: &'static str) -> Result<u32, DecodeError> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn u64(&mut self, what: &'static str) -> Result<u64, DecodeError> {
        Ok(u64::from_le_bytes(self.array(what)?))
    }

    /// A byte string behind its 16-bit length.
    pub(crate) fn bytes(&mut self, what: &'static str) -> Result<Vec<u8>, DecodeError> {
        let length = self.u16(what)?;
        Ok(self.take(usize::from(length), what)?.to_vec())
    }

    /// Nothing may follow the last field.
    pub(crate) const fn end(&self) -> Result<(), DecodeError> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(self.error("end of record"))
        }
    }
}

pub(crate) fn put_u16(out: &mut Vec<u8>, value: u16) {
    out.extend_from_slice(&value.to_le_bytes());
}

pub(crate) fn put_u32(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_le_bytes());
}

pub(crate) fn put_u64(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&value.to_le_bytes());
}

/// A count or length that page geometry keeps below 64 Ki.
pub(crate) fn put_length(out: &mut Vec<u8>, length: usize) {
    put_u16(
        out,
        u16::try_from(length).expect("invariant: no part of a page exceeds 64 KiB"),
    );
}

/// A byte string behind its 16-bit length.
pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_length(out, bytes.len());
    out.extend_from_slice(bytes);
}
