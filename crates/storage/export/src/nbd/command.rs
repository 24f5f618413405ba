//! Commands of the transmission phase.

use device::Buffer;

/// What a client asks for.
#[derive(Debug)]
pub enum NbdCommand {
    /// Bytes of the export.
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
    /// Which bytes are allocated.
    BlockStatus,
}
