//! Commands of SCSI disks as the target sees them (SPC-4, SBC-3).

mod access;
mod command;
mod pages;
mod sense;

pub(crate) use access::CommandAccess;
pub(crate) use command::{
    CommandPlan, RESERVE_BYTES, is_plain_write, number, plan, size_fault, work,
};
pub(crate) use pages::no_unit;
pub(crate) use sense::Sense;

/// The volume as initiators see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedDisk {
    /// Blocks.
    pub blocks: u64,
    /// Block size in bytes: a power of two, at least 512.
    pub block_bytes: u32,
    /// Size in bytes in which the storage writes: a power of two, at least `block_bytes`.
    pub physical_bytes: u32,
    /// Transfers of this many bytes, or multiples, are fastest.
    pub preferred_bytes: u32,
    /// Serial number: unique, printable, the same after every restart.
    pub serial: String,
    /// Number that identifies the volume in addition to its serial number.
    pub identity: u64,
    /// Whether writes are refused.
    pub is_read_only: bool,
}

impl ServedDisk {
    pub(crate) fn bytes(&self, blocks: u64) -> u64 {
        blocks.saturating_mul(u64::from(self.block_bytes))
    }
}

/// Work for the caller to perform on the volume. Offsets and lengths are in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ScsiWork {
    /// Reads.
    Read {
        /// First byte.
        offset: u64,
        /// Bytes.
        length: usize,
    },
    /// Writes.
    Write {
        /// First byte.
        offset: u64,
        /// Content.
        data: Vec<u8>,
        /// Whether the data must be durable on completion (FUA).
        is_durable: bool,
    },
    /// Makes completed writes durable.
    Flush,
    /// Writes `block` repeatedly.
    Fill {
        /// First byte.
        offset: u64,
        /// Bytes, a multiple of the block.
        length: u64,
        /// One block.
        block: Vec<u8>,
    },
    /// The content of these ranges (first byte, bytes) is no longer needed.
    Unmap(Vec<(u64, u64)>),
    /// Writes if the current content equals `compare`, atomically.
    CompareAndWrite {
        /// First byte.
        offset: u64,
        /// Expected content.
        compare: Vec<u8>,
        /// New content, of the same length.
        write: Vec<u8>,
    },
    /// Waits for all work in progress on the volume to complete.
    Settle,
}

/// Why work failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkError {
    /// The content differs; holds the position of the first differing byte of the comparison.
    Differs(u32),
    /// The volume returned an error to a read.
    Read,
    /// The volume returned an error to a write or a flush.
    Write,
    /// The volume has no room left.
    Full,
    /// The command was aborted before it began.
    Aborted,
}
