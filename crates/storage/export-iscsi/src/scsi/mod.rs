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
    /// Bytes of a block: a power of two from 512 on.
    pub block_bytes: u32,
    /// Bytes that the storage writes at once: a power of two from `block_bytes` on.
    pub physical_bytes: u32,
    /// Transfers of this many bytes, or multiples, are fastest.
    pub preferred_bytes: u32,
    /// Serial number: unique, printable, the same after every restart.
    pub serial: String,
    /// Number that identifies the volume beside its serial number.
    pub identity: u64,
    /// Refuses writes.
    pub is_read_only: bool,
}

impl ServedDisk {
    pub(crate) fn bytes(&self, blocks: u64) -> u64 {
        blocks.saturating_mul(u64::from(self.block_bytes))
    }
}

/// What the caller does on the volume. Offsets and lengths are bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScsiWork {
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
        /// Must be durable when it ends.
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
    /// Writes if the present content equals `compare`, in one step.
    CompareAndWrite {
        /// First byte.
        offset: u64,
        /// Expected content.
        compare: Vec<u8>,
        /// New content, of the same length.
        write: Vec<u8>,
    },
    /// Waits for the end of all work on the volume that has begun.
    Settle,
}

/// Why work failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkError {
    /// The content differs; the first differing byte of the comparison.
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
