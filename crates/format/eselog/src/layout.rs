//! The layout of records: one table for the reader, for printed dumps and for the documentation.
//!
//! A record is its type, fields at fixed offsets, and then parts of variable length. Every length
//! is in a fixed field, so that a record can be skipped without being understood.

mod fields;
mod index;
mod table;
#[cfg(test)]
mod tests;
pub(crate) mod types;

use crate::bytes::{u16_at, u32_at};

pub use fields::{Field, Part};

/// How a field is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldKind {
    U8,
    U16,
    U32,
    U64,
    I16,
    I32,
    I64,
    Place,
    Time,
    Signature,
}

#[cfg(test)]
impl FieldKind {
    /// Bytes of a stored field.
    pub(crate) const fn bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 | Self::I16 => 2,
            Self::U32 | Self::I32 => 4,
            Self::U64 | Self::I64 | Self::Place | Self::Time => 8,
            Self::Signature => 28,
        }
    }
}

/// A field, its offset in the record and its kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldAt {
    pub(crate) field: Field,
    pub(crate) at: usize,
    pub(crate) kind: FieldKind,
}

/// The field that gives the length of a part.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Length {
    /// Two bytes at this offset, masked.
    U16(usize, u16),
    /// Four bytes at this offset.
    U32(usize),
    /// A fixed number of bytes, present if the byte at this offset has one of these bits.
    If(usize, u8, usize),
    /// The four-byte length at `at` of a body, less the `fixed` bytes in front of the part.
    Behind { at: usize, fixed: usize },
}

impl Length {
    fn of(self, record: &[u8]) -> Option<usize> {
        match self {
            Self::U16(at, mask) => u16_at(record, at).map(|length| usize::from(length & mask)),
            Self::U32(at) => u32_at(record, at).map(|length| length as usize),
            Self::If(at, bits, length) => {
                record.get(at).map(|byte| if byte & bits == 0 { 0 } else { length })
            }
            Self::Behind { at, fixed } => {
                u32_at(record, at).map(|length| (length as usize).saturating_sub(fixed))
            }
        }
    }
}

/// A part of variable length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartOf {
    pub(crate) part: Part,
    pub(crate) length: Length,
}

/// Everything about one type of record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordLayout {
    pub(crate) kind: u8,
    pub(crate) name: &'static str,
    /// Bytes of the fixed fields, the type included.
    pub(crate) fixed: usize,
    /// The fixed fields, in groups that types share.
    pub(crate) groups: &'static [&'static [FieldAt]],
    pub(crate) parts: &'static [PartOf],
    /// Bytes that every form of the record has. If fewer than `fixed`, later engines may lengthen
    /// the record, and its whole length follows the type.
    pub(crate) shortest: usize,
}

impl RecordLayout {
    /// The fixed fields in their order.
    pub(crate) fn fields(&self) -> impl Iterator<Item = FieldAt> + use<> {
        self.groups.iter().flat_map(|group| group.iter().copied())
    }
}

/// Returns the layout of a type; `None` if the type or its length is unknown.
pub(crate) fn layout_of(kind: u8) -> Option<&'static RecordLayout> {
    index::layout_of(kind)
}

/// The place of a field in records of a type, if they have it.
pub(crate) fn find(kind: u8, field: Field) -> Option<FieldAt> {
    index::find(kind, field)
}

/// Length of the record at the start of `bytes`; `None` if its length fields are cut off.
pub(crate) fn record_bytes(layout: &RecordLayout, bytes: &[u8]) -> Option<usize> {
    bytes.get(layout.shortest.checked_sub(1)?)?;
    if layout.shortest < layout.fixed {
        let stated = u32_at(bytes, types::STATED_LENGTH_AT)? as usize;
        return types::IGNORABLE_BYTES.checked_add(stated);
    }
    layout.parts.iter().try_fold(layout.fixed, |sum, part| sum.checked_add(part.length.of(bytes)?))
}

/// The parts of a record, in their order; a part that is cut off is left out.
pub(crate) fn parts<'r>(
    layout: &'static RecordLayout,
    record: &'r [u8],
) -> impl Iterator<Item = (Part, &'r [u8])> + use<'r> {
    let mut at = layout.fixed;
    layout.parts.iter().map_while(move |part| {
        let length = part.length.of(record)?;
        let bytes = record.get(at..at.checked_add(length)?)?;
        at += length;
        Some((part.part, bytes))
    })
}
