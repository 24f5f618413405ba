//! The databases recorded as attached in a log file or a checkpoint.

use units::ObjectId;

use crate::bytes::{array_at, get_array, u32_at, u64_at};
use crate::lgpos::Lgpos;
use crate::signature::Signature;

/// Byte offsets in an attachment.
mod field {
    pub(super) const NAME_BYTES: usize = 2;
    pub(super) const DBTIME: usize = 4;
    pub(super) const LAST_OBJECT: usize = 12;
    pub(super) const ATTACHED: usize = 20;
    pub(super) const CONSISTENT: usize = 28;
    pub(super) const SIGNATURE: usize = 36;
    pub(super) const NAME: usize = 64;
}

/// Bytes of the list of attachments.
const ATTACHMENT_BYTES: usize = 2048;

/// A database that was attached when the header was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// Its number within the log stream.
    pub database_id: u8,
    /// Its database time.
    pub dbtime: u64,
    /// Its highest object identifier.
    pub last_object: ObjectId,
    /// Log position of the attach.
    pub attached_at: Lgpos,
    /// Log position at which it was last consistent.
    pub consistent_at: Lgpos,
    /// Identity of the database.
    pub signature: Signature,
    /// Its path, as recorded by the engine.
    pub path: String,
}

/// The attachments of a list, which ends with database 0. Pointers outside the list are ignored.
pub(super) fn attachments(bytes: &[u8]) -> Vec<Attachment> {
    let mut rest = &bytes[..ATTACHMENT_BYTES.min(bytes.len())];
    let mut found = Vec::new();
    while let Some((one, bytes)) = one_attachment(rest) {
        found.push(one);
        rest = &rest[bytes..];
    }
    found
}

/// The first attachment of a list, and its length in bytes.
fn one_attachment(bytes: &[u8]) -> Option<(Attachment, usize)> {
    let database_id = *bytes.first().filter(|id| **id != 0)?;
    let name_bytes = usize::from(u16::from_le_bytes(get_array(bytes, field::NAME_BYTES)?));
    let end = field::NAME + name_bytes;
    let name = bytes.get(field::NAME..end)?;
    let one = Attachment {
        database_id,
        dbtime: u64_at(bytes, field::DBTIME),
        last_object: ObjectId(u32_at(bytes, field::LAST_OBJECT)),
        attached_at: Lgpos::decode(array_at(bytes, field::ATTACHED)),
        consistent_at: Lgpos::decode(array_at(bytes, field::CONSISTENT)),
        signature: Signature::decode(array_at(bytes, field::SIGNATURE)),
        path: path(name),
    };
    Some((one, end))
}

/// Decodes a path in UTF-16 or one byte per character, up to its first zero.
fn path(bytes: &[u8]) -> String {
    let is_wide = bytes.get(1) == Some(&0);
    let units: Vec<u16> = if is_wide {
        bytes.as_chunks::<2>().0.iter().copied().map(u16::from_le_bytes).collect()
    } else {
        bytes.iter().copied().map(u16::from).collect()
    };
    let end = units.iter().position(|unit| *unit == 0);
    String::from_utf16_lossy(&units[..end.unwrap_or(units.len())])
}
