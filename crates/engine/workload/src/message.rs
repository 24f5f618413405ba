//! The fixed columns of a message: generated from the seed, and compared when its record is read.

/// The fixed columns of a message; the payload is in [`Pads`](crate::Pads).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Primary key, from 1.
    pub message_id: i64,
    /// Object number of its database: the index in the plan, plus 1.
    pub object: u32,
    /// 1 when inserted; each replace adds 1.
    pub version: u32,
    /// Value of the secondary index; ascends with the key and is shared by 16 messages.
    pub received: i64,
    /// XXH3-128 of the record's other columns, in canonical (big-endian) order.
    pub record_hash: [u8; 16],
    /// XXH3-128 of key, object, version and long pad, in canonical (big-endian) order.
    pub long_hash: [u8; 16],
}
