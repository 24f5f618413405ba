//! Numbers of virtio-blk. Source: Virtual I/O Device (VIRTIO) 1.2, sections 5.2 and 6.

/// Bits that device and driver agree on.
pub(crate) mod feature {
    pub(crate) const MOST_SEGMENTS: u64 = 1 << 2;
    pub(crate) const READ_ONLY: u64 = 1 << 5;
    pub(crate) const BLOCK_SIZE: u64 = 1 << 6;
    pub(crate) const FLUSH: u64 = 1 << 9;
    pub(crate) const TOPOLOGY: u64 = 1 << 10;
    pub(crate) const MULTIPLE_RINGS: u64 = 1 << 12;
    pub(crate) const DISCARD: u64 = 1 << 13;
    pub(crate) const WRITE_ZEROES: u64 = 1 << 14;
    pub(crate) const INDIRECT_DESCRIPTORS: u64 = 1 << 28;
    pub(crate) const EVENT_INDEX: u64 = 1 << 29;
    pub(crate) const VERSION_1: u64 = 1 << 32;
}

/// Kinds of requests.
pub(crate) mod kind {
    pub(crate) const READ: u32 = 0;
    pub(crate) const WRITE: u32 = 1;
    pub(crate) const FLUSH: u32 = 4;
    pub(crate) const IDENTIFY: u32 = 8;
    pub(crate) const DISCARD: u32 = 11;
    pub(crate) const WRITE_ZEROES: u32 = 13;
}

/// The last byte of an answer.
pub(crate) mod status {
    pub(crate) const DONE: u8 = 0;
    pub(crate) const FAILED: u8 = 1;
    pub(crate) const UNSUPPORTED: u8 = 2;
}

/// Unit of addresses and lengths, in bytes, regardless of the device's sector size.
pub(crate) const SECTOR: u32 = 512;

/// Bytes of a request's header.
pub(crate) const HEADER_BYTES: usize = 16;

/// Length of the name with which a device answers [`kind::IDENTIFY`], in bytes.
pub(crate) const SERIAL_BYTES: usize = 20;

/// The flag of a zeroed range that may be deallocated.
pub(crate) const UNMAP: u32 = 1;
