//! Commands of the transmission phase.

use device::Buffer;

/// Operation that a client requests.
#[derive(Debug)]
pub enum NbdCommand {
    /// Read bytes of the export.
    Read,
    /// Write the first `length` bytes of the buffer, which has that length or up to a sector more.
    Write(Buffer),
    /// Make every completed write durable.
    Flush,
    /// The bytes are not needed any more: a hint.
    Trim,
    /// The bytes will be read soon: a hint.
    Cache,
    /// Make the bytes zeros.
    WriteZeroes,
    /// Report which bytes are allocated.
    BlockStatus,
}
