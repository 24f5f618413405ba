//! Numbers of the protocol.

/// First bytes of a server.
pub(super) const GREETING: u64 = 0x4e42_444d_4147_4943;
/// Precedes every option, and is the second field of the greeting.
pub(super) const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054;
/// Precedes the reply to an option.
pub(super) const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
/// Precedes a request.
pub(super) const REQUEST_MAGIC: u32 = 0x2560_9513;
/// Precedes a request with an extended header.
pub(super) const EXTENDED_REQUEST_MAGIC: u32 = 0x21e4_1c71;
/// Precedes a simple reply.
pub(super) const SIMPLE_REPLY_MAGIC: u32 = 0x6744_6698;
/// Precedes a chunk of a structured reply.
pub(super) const STRUCTURED_REPLY_MAGIC: u32 = 0x668e_33ef;
/// Precedes a chunk with an extended header.
pub(super) const EXTENDED_REPLY_MAGIC: u32 = 0x6e8a_278c;

/// Flags of the handshake, both ways.
pub(super) mod handshake {
    /// Every option is answered.
    pub(crate) const FIXED_NEWSTYLE: u32 = 1;
    /// Omits the 124 zeros after the answer to the oldest option.
    pub(crate) const NO_ZEROES: u32 = 2;
}

/// Options of a client.
pub(super) mod option {
    pub(crate) const EXPORT_NAME: u32 = 1;
    pub(crate) const ABORT: u32 = 2;
    pub(crate) const LIST: u32 = 3;
    pub(crate) const STARTTLS: u32 = 5;
    pub(crate) const INFO: u32 = 6;
    pub(crate) const GO: u32 = 7;
    pub(crate) const STRUCTURED_REPLY: u32 = 8;
    pub(crate) const LIST_META_CONTEXT: u32 = 9;
    pub(crate) const SET_META_CONTEXT: u32 = 10;
    pub(crate) const EXTENDED_HEADERS: u32 = 11;
}

/// Replies to options.
pub(super) mod answer {
    pub(crate) const ACK: u32 = 1;
    pub(crate) const SERVER: u32 = 2;
    pub(crate) const INFO: u32 = 3;
    pub(crate) const META_CONTEXT: u32 = 4;
    const ERROR: u32 = 1 << 31;
    pub(crate) const ERR_UNSUP: u32 = ERROR | 1;
    pub(crate) const ERR_INVALID: u32 = ERROR | 3;
    pub(crate) const ERR_PLATFORM: u32 = ERROR | 4;
    pub(crate) const ERR_TLS_REQUIRED: u32 = ERROR | 5;
    pub(crate) const ERR_UNKNOWN: u32 = ERROR | 6;
    pub(crate) const ERR_TOO_BIG: u32 = ERROR | 9;
}

/// Kinds of information about an export.
pub(super) mod info {
    pub(crate) const EXPORT: u16 = 0;
    pub(crate) const NAME: u16 = 1;
    pub(crate) const DESCRIPTION: u16 = 2;
    pub(crate) const BLOCK_SIZE: u16 = 3;
}

/// Flags of an export.
pub(super) mod export {
    pub(crate) const HAS_FLAGS: u16 = 1;
    pub(crate) const READ_ONLY: u16 = 2;
    pub(crate) const SEND_FLUSH: u16 = 4;
    pub(crate) const SEND_FUA: u16 = 8;
    pub(crate) const SEND_TRIM: u16 = 32;
    pub(crate) const SEND_WRITE_ZEROES: u16 = 64;
    pub(crate) const SEND_DF: u16 = 128;
    pub(crate) const CAN_MULTI_CONN: u16 = 256;
    pub(crate) const SEND_CACHE: u16 = 1024;
}

/// Commands.
pub(super) mod command {
    pub(crate) const READ: u16 = 0;
    pub(crate) const WRITE: u16 = 1;
    pub(crate) const DISCONNECT: u16 = 2;
    pub(crate) const FLUSH: u16 = 3;
    pub(crate) const TRIM: u16 = 4;
    pub(crate) const CACHE: u16 = 5;
    pub(crate) const WRITE_ZEROES: u16 = 6;
    pub(crate) const BLOCK_STATUS: u16 = 7;
}

/// Flags of commands.
pub(super) mod flag {
    pub(crate) const FUA: u16 = 1;
    pub(crate) const NO_HOLE: u16 = 2;
    pub(crate) const DF: u16 = 4;
    pub(crate) const REQ_ONE: u16 = 8;
    pub(crate) const PAYLOAD_LENGTH: u16 = 32;
}

/// Kinds of chunks.
pub(super) mod chunk {
    pub(crate) const DONE: u16 = 1;
    pub(crate) const NONE: u16 = 0;
    pub(crate) const OFFSET_DATA: u16 = 1;
    pub(crate) const BLOCK_STATUS: u16 = 5;
    pub(crate) const BLOCK_STATUS_EXTENDED: u16 = 6;
    pub(crate) const ERROR: u16 = 1 << 15 | 1;
    pub(crate) const ERROR_OFFSET: u16 = 1 << 15 | 2;
}

/// Error numbers of replies.
pub(super) mod errno {
    pub(crate) const EPERM: u32 = 1;
    pub(crate) const EIO: u32 = 5;
    pub(crate) const EINVAL: u32 = 22;
    pub(crate) const ENOSPC: u32 = 28;
}

/// The only metadata context that is offered: which bytes are allocated.
pub(super) const ALLOCATION: &str = "base:allocation";

/// Number of this context.
pub(super) const ALLOCATION_ID: u32 = 1;

/// Flags of bytes that occupy no storage and read as zeros (`NBD_STATE_HOLE`, `NBD_STATE_ZERO`).
pub(super) const HOLE_OF_ZEROS: u32 = 3;

/// The namespace that a client may list as a whole.
pub(super) const BASE: &str = "base:";
