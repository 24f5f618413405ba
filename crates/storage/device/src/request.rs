//! Requests to a device, and their purposes.

use crate::{Buffer, SECTOR};

/// Purpose of a request. Histograms are kept by purpose and kind, so that transactional reads are
/// never mixed with maintenance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Purpose {
    /// Database pages for transactions: reads on a miss, writes by eviction or checkpoint.
    Database,
    /// Database and checkpoint headers.
    Header,
    /// Log records.
    Log,
    /// Pre-formatting of the next log generation.
    LogFormat,
    /// Closed logs read for replay or verification.
    LogRead,
    /// Closed logs read for further copies of the database.
    LogReplication,
    /// The background maintenance scan.
    Maintenance,
    /// The initial fill.
    Fill,
    /// Whole-file verification.
    Checksum,
    /// Streaming backup.
    Backup,
    /// Writes of the file that a backup creates, and reads of it.
    BackupCopy,
}

/// Whether a write may still be lost when its completion is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// May sit in a volatile cache until the next flush.
    Volatile,
    /// Has reached stable storage when it completes (force unit access or write and flush).
    Durable,
}

/// One operation. Offsets and lengths are multiples of [`crate::Caps::sector`].
#[derive(Debug)]
pub enum Op {
    /// Fill the whole buffer, starting at byte `offset`. A read that crosses the end of the file
    /// fails with [`crate::DeviceError::Short`], and the returned buffer holds the bytes that
    /// existed.
    Read {
        /// Byte offset in the file.
        offset: u64,
        /// Receives the bytes.
        buffer: Buffer,
    },
    /// Write the whole buffer at byte `offset`, within the file: set the length first. A write that
    /// extends beyond the end transfers nothing and fails with [`crate::DeviceError::Short`].
    Write {
        /// Byte offset in the file.
        offset: u64,
        /// The bytes to write.
        buffer: Buffer,
        /// Guarantee given by the completion.
        durability: Durability,
    },
    /// Make durable every write that completed before this was submitted.
    Flush,
    /// Make the file `length` bytes long; new bytes read as zeros. Durable when complete.
    SetLength {
        /// The new length in bytes.
        length: u64,
    },
}

/// The kind of an operation, without its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OpKind {
    /// [`Op::Read`]
    Read,
    /// [`Op::Write`]
    Write,
    /// [`Op::Flush`]
    Flush,
    /// [`Op::SetLength`]
    SetLength,
}

impl OpKind {
    /// The kind in a word or two, for sentences.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Flush => "flush",
            Self::SetLength => "change of length",
        }
    }
}

impl Op {
    /// The kind of this operation.
    pub const fn kind(&self) -> OpKind {
        match self {
            Self::Read { .. } => OpKind::Read,
            Self::Write { .. } => OpKind::Write,
            Self::Flush => OpKind::Flush,
            Self::SetLength { .. } => OpKind::SetLength,
        }
    }

    /// Bytes transferred: the buffer's length, or 0.
    pub fn length(&self) -> usize {
        match self {
            Self::Read { buffer, .. } | Self::Write { buffer, .. } => buffer.len(),
            Self::Flush | Self::SetLength { .. } => 0,
        }
    }

    /// Panics if offset or length is not a multiple of [`SECTOR`]; backends call it first. The
    /// operand of a length change may have any value.
    pub fn assert_aligned(&self) {
        if let Self::Read { offset, buffer } | Self::Write { offset, buffer, .. } = self {
            assert!(
                offset.is_multiple_of(SECTOR as u64) && !buffer.is_empty(),
                "offsets are aligned and buffers hold something"
            );
        }
    }

    /// The buffer of a read or write, to be returned in its outcome.
    pub fn into_buffer(self) -> Option<Buffer> {
        match self {
            Self::Read { buffer, .. } | Self::Write { buffer, .. } => Some(buffer),
            Self::Flush | Self::SetLength { .. } => None,
        }
    }
}

/// An operation and its purpose.
#[derive(Debug)]
pub struct Request {
    /// Purpose, for statistics and traces.
    pub purpose: Purpose,
    /// Operation.
    pub op: Op,
}

impl Request {
    /// A read of `length` bytes at `offset`.
    pub fn read(purpose: Purpose, offset: u64, length: usize) -> Self {
        Self { purpose, op: Op::Read { offset, buffer: Buffer::zeroed(length) } }
    }

    /// A read into `buffer` at `offset`.
    pub const fn read_into(purpose: Purpose, offset: u64, buffer: Buffer) -> Self {
        Self { purpose, op: Op::Read { offset, buffer } }
    }

    /// A write of `buffer` at `offset`.
    pub const fn write(
        purpose: Purpose,
        offset: u64,
        buffer: Buffer,
        durability: Durability,
    ) -> Self {
        Self { purpose, op: Op::Write { offset, buffer, durability } }
    }

    /// A flush.
    pub const fn flush(purpose: Purpose) -> Self {
        Self { purpose, op: Op::Flush }
    }

    /// A change of the file's length, in bytes.
    pub const fn set_length(purpose: Purpose, length: u64) -> Self {
        Self { purpose, op: Op::SetLength { length } }
    }
}
