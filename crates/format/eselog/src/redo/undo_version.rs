//! One change that may have to be undone: what undo needs to know of it, and its stored form.

use std::borrow::Cow;

use ese::Lgpos;
use units::PageNumber;

use crate::bytes::{array, u32_at, u64_at};

/// Numbers that records and undo information give to operations.
pub(super) mod operations {
    pub(crate) const INSERT: u64 = 1;
    pub(crate) const REPLACE: u64 = 2;
    pub(crate) const FLAG_DELETE: u64 = 3;
    pub(crate) const DELTA: u64 = 4;
    pub(crate) const DELTA64: u64 = 9;
}

/// Effect of a change, as far as undo needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Undoable<'a> {
    Insert,
    FlagDelete,
    Replace {
        before: Cow<'a, [u8]>,
    },
    /// An addition to a number of four bytes, or of eight if wide.
    Delta {
        offset: usize,
        delta: i64,
        is_wide: bool,
    },
}

impl Undoable<'_> {
    /// Returns its operation number in records.
    pub(super) const fn operation(&self) -> u64 {
        match self {
            Self::Insert => operations::INSERT,
            Self::Replace { .. } => operations::REPLACE,
            Self::FlagDelete => operations::FLAG_DELETE,
            Self::Delta { is_wide: false, .. } => operations::DELTA,
            Self::Delta { is_wide: true, .. } => operations::DELTA64,
        }
    }
}

/// A change that can be taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UndoVersion<'a> {
    pub(super) number: u32,
    pub(super) level: u8,
    pub(super) root: PageNumber,
    /// The page that was changed; a split may have moved the row since.
    pub(super) page: PageNumber,
    pub(super) place: Lgpos,
    pub(super) is_unique: bool,
    /// The row's key in two parts, as records and pages have it.
    pub(super) key: [Cow<'a, [u8]>; 2],
    pub(super) data: Cow<'a, [u8]>,
    pub(super) change: Undoable<'a>,
}

/// Bytes of the stored form in front of key, data and former data: number, level, operation,
/// uniqueness, root, page, place, lengths of key and data, offset and sum.
const FIXED_BYTES: usize = 43;

impl UndoVersion<'_> {
    /// The number of the version whose stored form is `bytes`.
    pub(super) fn stored_number(bytes: &[u8]) -> u32 {
        u32_at(bytes, 0).unwrap_or_default()
    }

    /// The level of the version whose stored form is `bytes`.
    pub(super) fn stored_level(bytes: &[u8]) -> u8 {
        bytes.get(4).copied().unwrap_or_default()
    }

    /// Changes the level in a stored form.
    pub(super) fn set_stored_level(bytes: &mut [u8], level: u8) {
        if let Some(stored) = bytes.get_mut(4) {
            *stored = level;
        }
    }

    /// Appends the stored form.
    pub(super) fn store(&self, out: &mut Vec<u8>) {
        let [head, tail] = &self.key;
        let key_bytes = head.len() + tail.len();
        let (offset, delta, before): (usize, i64, &[u8]) = match &self.change {
            Undoable::Insert | Undoable::FlagDelete => (0, 0, &[]),
            Undoable::Replace { before } => (0, 0, before),
            Undoable::Delta { offset, delta, .. } => (*offset, *delta, &[]),
        };
        let [operation, ..] = self.change.operation().to_le_bytes();
        out.reserve(FIXED_BYTES + key_bytes + self.data.len() + before.len());
        out.extend(self.number.to_le_bytes());
        out.extend([self.level, operation, u8::from(self.is_unique)]);
        out.extend(self.root.0.to_le_bytes());
        out.extend(self.page.0.to_le_bytes());
        out.extend(self.place.encode());
        for length in [key_bytes, self.data.len(), offset] {
            out.extend(u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
        }
        out.extend(delta.to_le_bytes());
        for part in [head, tail, &self.data] {
            out.extend_from_slice(part);
        }
        out.extend_from_slice(before);
    }

    /// Parses a version from its stored form; `None` if `bytes` is not one.
    pub(super) fn read(bytes: &[u8]) -> Option<UndoVersion<'static>> {
        let length = |at| u32_at(bytes, at).map(|length| length as usize);
        let (key_bytes, data_bytes) = (length(23)?, length(27)?);
        let (key, rest) = bytes.get(FIXED_BYTES..)?.split_at_checked(key_bytes)?;
        let (data, before) = rest.split_at_checked(data_bytes)?;
        let operation = u64::from(*bytes.get(5)?);
        let change = match operation {
            operations::INSERT => Undoable::Insert,
            operations::FLAG_DELETE => Undoable::FlagDelete,
            operations::REPLACE => Undoable::Replace { before: Cow::Owned(before.to_vec()) },
            _ => Undoable::Delta {
                offset: length(31)?,
                delta: u64_at(bytes, 35)?.cast_signed(),
                is_wide: operation == operations::DELTA64,
            },
        };
        Some(UndoVersion {
            number: Self::stored_number(bytes),
            level: Self::stored_level(bytes),
            root: PageNumber(u32_at(bytes, 7)?),
            page: PageNumber(u32_at(bytes, 11)?),
            place: Lgpos::decode(array(bytes, 15)?),
            is_unique: *bytes.get(6)? != 0,
            key: [Cow::Owned(key.to_vec()), Cow::Borrowed(&[])],
            data: Cow::Owned(data.to_vec()),
            change,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use ese::Lgpos;
    use units::{Generation, PageNumber};

    use super::{UndoVersion, Undoable};

    #[test]
    fn a_stored_version_reads_back() {
        let changes = [
            Undoable::Insert,
            Undoable::FlagDelete,
            Undoable::Replace { before: Cow::Borrowed(b"before") },
            Undoable::Delta { offset: 4, delta: -7, is_wide: true },
        ];
        for change in changes {
            let version = UndoVersion {
                number: 9,
                level: 2,
                root: PageNumber(5),
                page: PageNumber(6),
                place: Lgpos { generation: Generation(1), segment: 2, byte: 3 },
                is_unique: false,
                key: [Cow::Borrowed(b"key"), Cow::Borrowed(b"")],
                data: Cow::Borrowed(b"data"),
                change,
            };
            let mut bytes = Vec::new();
            version.store(&mut bytes);
            assert_eq!(UndoVersion::read(&bytes), Some(version));
            assert_eq!(UndoVersion::read(&bytes[..20]), None);
        }
    }
}
