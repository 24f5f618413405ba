//! Little-endian fields of the blocks that the store writes, and the checksum at their end.

use device::Buffer;
use twox_hash::XxHash3_64;

/// Bytes of a checksum.
const CHECKSUM_BYTES: usize = 8;

/// Fills a buffer from its beginning.
pub(super) struct FieldWriter {
    buffer: Buffer,
    at: usize,
}

impl FieldWriter {
    /// Fills a zeroed buffer of `bytes`.
    pub(super) fn new(bytes: usize) -> Self {
        Self::over(Buffer::zeroed(bytes))
    }

    /// Fills `buffer`; bytes beyond the fields are kept.
    pub(super) const fn over(buffer: Buffer) -> Self {
        Self { buffer, at: 0 }
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.buffer[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
        self
    }

    pub(super) fn u16(&mut self, value: u16) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    pub(super) fn u32(&mut self, value: u32) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    pub(super) fn u64(&mut self, value: u64) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    /// Returns the buffer without a checksum.
    pub(super) fn into_buffer(self) -> Buffer {
        self.buffer
    }

    /// The buffer, with a checksum at the end of its first `length` bytes.
    pub(super) fn sealed(mut self, length: usize) -> Buffer {
        let (body, end) = self.buffer[..length].split_at_mut(length - CHECKSUM_BYTES);
        end.copy_from_slice(&XxHash3_64::oneshot(body).to_le_bytes());
        self.buffer
    }
}

/// Reads fields in the order in which they were written; zeros beyond the end.
pub(super) struct FieldReader<'a> {
    rest: &'a [u8],
}

impl<'a> FieldReader<'a> {
    /// The fields of a block verified by other means.
    pub(super) const fn of(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    /// Returns the fields of `block` if its checksum matches.
    pub(super) fn checked(block: &'a [u8]) -> Option<Self> {
        let (body, end) = block.split_last_chunk::<CHECKSUM_BYTES>()?;
        (XxHash3_64::oneshot(body).to_le_bytes() == *end).then_some(Self { rest: body })
    }

    pub(super) fn bytes(&mut self, length: usize) -> &'a [u8] {
        let (bytes, rest) = self.rest.split_at(length.min(self.rest.len()));
        self.rest = rest;
        bytes
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        self.bytes(N).first_chunk().copied().unwrap_or([0; N])
    }

    pub(super) fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.array())
    }

    pub(super) fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    pub(super) fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.array())
    }

    pub(super) fn identity(&mut self) -> [u8; 16] {
        self.array()
    }
}
