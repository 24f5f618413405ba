//! Checks that a row read is the row written, by the hashes of a record and of its long value.
//!
//! The hashes are plain XXH3-128 over bytes that any reader can assemble, so that independent
//! readers of the file can check them too (`docs/format.md`).

use std::fmt;

use twox_hash::XxHash3_128;

use crate::message::Message;

/// The columns of a record as read, or as they will be written.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// The fixed columns.
    pub message: Message,
    /// The payload in the record.
    pub short_pad: &'a [u8],
}

/// The corrupt part of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The record contains a different key from the one it was found under.
    Key,
    /// The record belongs to another database.
    Object,
    /// The record's columns do not match its hash.
    Record,
    /// The long value does not match its hash.
    LongValue,
}

/// A message that differs from the one written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The key that was looked up.
    pub message_id: i64,
    /// The version it claims.
    pub version: u32,
    /// The part that differs.
    pub part: Part,
    /// The expected hash, key or object, as a number.
    pub wanted: u128,
    /// The value found.
    pub found: u128,
}

impl<'a> Record<'a> {
    /// The record of `message` with its short pad.
    pub const fn new(message: &Message, short_pad: &'a [u8]) -> Self {
        Self { message: *message, short_pad }
    }

    /// XXH3-128 over key, object, version, received (little-endian), long hash and short pad.
    pub(crate) fn hash(&self) -> [u8; 16] {
        let message = &self.message;
        let mut head = [0; 40];
        head[..8].copy_from_slice(&message.message_id.to_le_bytes());
        head[8..12].copy_from_slice(&message.object.to_le_bytes());
        head[12..16].copy_from_slice(&message.version.to_le_bytes());
        head[16..24].copy_from_slice(&message.received.to_le_bytes());
        head[24..].copy_from_slice(&message.long_hash);
        digest(&head, self.short_pad)
    }

    /// XXH3-128 over key, object, version (little-endian) and the long pad.
    pub(crate) fn hash_of_long(&self, long_pad: &[u8]) -> [u8; 16] {
        let message = &self.message;
        let mut head = [0; 16];
        head[..8].copy_from_slice(&message.message_id.to_le_bytes());
        head[8..12].copy_from_slice(&message.object.to_le_bytes());
        head[12..].copy_from_slice(&message.version.to_le_bytes());
        digest(&head, long_pad)
    }

    /// Checks a record that was found under `message_id` in the database `object`.
    pub fn check(&self, message_id: i64, object: u32) -> Result<(), Mismatch> {
        let message = &self.message;
        let (key, found_key) = (message_id.cast_unsigned(), message.message_id.cast_unsigned());
        for (part, wanted, found) in [
            (Part::Key, key.into(), found_key.into()),
            (Part::Object, object.into(), message.object.into()),
            (Part::Record, number(self.hash()), number(message.record_hash)),
        ] {
            if wanted != found {
                let version = message.version;
                return Err(Mismatch { message_id, version, part, wanted, found });
            }
        }
        Ok(())
    }

    /// Checks the long value of this record, which should have passed [`Record::check`].
    pub fn check_long(&self, long_pad: &[u8]) -> Result<(), Mismatch> {
        let (found, wanted) = (self.hash_of_long(long_pad), self.message.long_hash);
        if wanted == found {
            return Ok(());
        }
        Err(Mismatch {
            message_id: self.message.message_id,
            version: self.message.version,
            part: Part::LongValue,
            wanted: number(wanted),
            found: number(found),
        })
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { message_id, version, wanted, found, .. } = self;
        match self.part {
            Part::Key => write!(f, "message {message_id}: the record there has the key {found}"),
            Part::Object => write!(
                f,
                "message {message_id}: the record belongs to database {found}, not {wanted}"
            ),
            Part::Record => write!(
                f,
                "message {message_id} version {version}: the record's hash is {found:032x}, its \
                 columns give {wanted:032x}"
            ),
            Part::LongValue => write!(
                f,
                "message {message_id} version {version}: the long value gives the hash \
                 {found:032x}, the record says {wanted:032x}"
            ),
        }
    }
}

impl std::error::Error for Mismatch {}

fn digest(head: &[u8], body: &[u8]) -> [u8; 16] {
    let mut hasher = XxHash3_128::new();
    hasher.write(head);
    hasher.write(body);
    hasher.finish_128().to_be_bytes()
}

const fn number(hash: [u8; 16]) -> u128 {
    u128::from_be_bytes(hash)
}
