//! One record, with its fields by name; any bytes are accepted.

use std::borrow::Cow;
use std::fmt;

use ese::{Lgpos, LogTime, Signature};
use units::{ObjectId, PageNumber};

use crate::bytes::{array, u16_at, u32_at, u64_at};
use crate::layout::{Field, FieldAt, FieldKind, Part, RecordLayout, find, layout_of, parts};

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// An unsigned number.
    Number(u64),
    /// A signed number.
    Signed(i64),
    /// A position in the log.
    Place(Lgpos),
    /// A time of the calendar.
    Time(LogTime),
    /// The identity of a database or a log stream.
    Signature(Signature),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Signed(number) => number.fmt(f),
            Self::Place(place) => place.fmt(f),
            Self::Time(time) => time.fmt(f),
            Self::Signature(signature) => signature.fmt(f),
        }
    }
}

/// A record of the log.
#[derive(Clone, Debug)]
pub struct LogRecord<'a> {
    place: Lgpos,
    bytes: Cow<'a, [u8]>,
}

impl<'a> LogRecord<'a> {
    pub(crate) const fn new(place: Lgpos, bytes: Cow<'a, [u8]>) -> Self {
        Self { place, bytes }
    }

    /// Position of the record's first byte.
    pub const fn place(&self) -> Lgpos {
        self.place
    }

    /// Returns the record's bytes, reassembled if it spans segments.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The number of its type.
    pub fn kind(&self) -> u8 {
        self.bytes.first().copied().unwrap_or_default()
    }

    fn layout(&self) -> Option<&'static RecordLayout> {
        layout_of(self.kind())
    }

    /// Returns the name of its type; `None` if the type is unknown.
    pub fn name(&self) -> Option<&'static str> {
        Some(self.layout()?.name)
    }

    /// Returns the fields that lie within the record's length, in order.
    pub fn fields(&self) -> impl Iterator<Item = (Field, Value)> + '_ {
        let fields = self.layout().into_iter().flat_map(RecordLayout::fields);
        fields.filter_map(|at| Some((at.field, self.value(at)?)))
    }

    /// The parts of variable length, in their order.
    pub fn parts(&self) -> impl Iterator<Item = (Part, &[u8])> + '_ {
        self.layout().into_iter().flat_map(|layout| parts(layout, &self.bytes))
    }

    /// Returns a part; empty if the record has none of this kind.
    pub(crate) fn part(&self, part: Part) -> &[u8] {
        self.parts().find(|(found, _)| *found == part).map_or(&[], |(_, bytes)| bytes)
    }

    /// Returns an unsigned number; 0 if the record has no such field.
    pub(crate) fn number(&self, field: Field) -> u64 {
        match find(self.kind(), field).and_then(|at| self.value(at)) {
            Some(Value::Number(number)) => number,
            Some(Value::Signed(number)) => number.cast_unsigned(),
            _ => 0,
        }
    }

    /// Returns a number that counts bytes or lines; 0 if the record has no such field.
    pub(crate) fn size(&self, field: Field) -> usize {
        usize::try_from(self.number(field)).unwrap_or(usize::MAX)
    }

    /// Returns a four-byte number; 0 if the record has no such field.
    pub(crate) fn word(&self, field: Field) -> u32 {
        u32::try_from(self.number(field)).unwrap_or_default()
    }

    /// Returns a one-byte number; 0 if the record has no such field.
    pub(crate) fn byte(&self, field: Field) -> u8 {
        u8::try_from(self.number(field)).unwrap_or_default()
    }

    /// Returns a signed number; 0 if the record has no such field.
    pub(crate) fn signed(&self, field: Field) -> i64 {
        self.number(field).cast_signed()
    }

    /// Returns a page number; `NONE` if the record has no such field.
    pub(crate) fn page(&self, field: Field) -> PageNumber {
        PageNumber(self.word(field))
    }

    /// The tree that the record changes.
    pub fn object(&self) -> ObjectId {
        ObjectId(self.word(Field::Object))
    }

    /// Returns the session that wrote the record; `None` if its type has no such field.
    pub fn session(&self) -> Option<u16> {
        let at = find(self.kind(), Field::Session)?;
        u16_at(&self.bytes, at.at)
    }

    /// Returns the number of the database within the log stream; `None` if the type concerns no
    /// database.
    pub(crate) fn database(&self) -> Option<u8> {
        let at = find(self.kind(), Field::Database)?;
        self.bytes.get(at.at).copied()
    }

    /// Returns a signature; `None` if the record has no such field.
    pub(crate) fn signature(&self, field: Field) -> Option<Signature> {
        let at = find(self.kind(), field)?;
        array(&self.bytes, at.at).map(Signature::decode)
    }

    /// The pages that the record names, each once.
    pub fn pages(&self) -> Vec<PageNumber> {
        const PAGES: [Field; 7] = [
            Field::Page,
            Field::NewPage,
            Field::LeftPage,
            Field::RightPage,
            Field::ParentPage,
            Field::OwnedRoot,
            Field::AvailableRoot,
        ];
        let mut pages: Vec<PageNumber> =
            PAGES.iter().map(|field| self.page(*field)).filter(|page| page.is_some()).collect();
        pages.extend(self.emptied_pages().into_iter().map(|(page, _)| page));
        pages.sort_unstable();
        pages.dedup();
        pages
    }

    /// The pages that an `EmptyTree` record empties, each with its database time before.
    pub(crate) fn emptied_pages(&self) -> Vec<(PageNumber, u64)> {
        /// Bytes of one entry: database time before, page, flags.
        const ENTRY_BYTES: usize = 16;
        let (entries, _) = self.part(Part::EmptyPages).as_chunks::<ENTRY_BYTES>();
        let read =
            |entry: &[u8; ENTRY_BYTES]| Some((PageNumber(u32_at(entry, 8)?), u64_at(entry, 0)?));
        entries.iter().filter_map(read).collect()
    }

    fn value(&self, at: FieldAt) -> Option<Value> {
        let (bytes, place) = (&self.bytes, at.at);
        Some(match at.kind {
            FieldKind::U8 => Value::Number(u64::from(*bytes.get(place)?)),
            FieldKind::U16 => Value::Number(u64::from(u16_at(bytes, place)?)),
            FieldKind::U32 => Value::Number(u64::from(u32_at(bytes, place)?)),
            FieldKind::U64 => Value::Number(u64_at(bytes, place)?),
            FieldKind::I16 => Value::Signed(i64::from(u16_at(bytes, place)?.cast_signed())),
            FieldKind::I32 => Value::Signed(i64::from(u32_at(bytes, place)?.cast_signed())),
            FieldKind::I64 => Value::Signed(u64_at(bytes, place)?.cast_signed()),
            FieldKind::Place => Value::Place(Lgpos::decode(array(bytes, place)?)),
            FieldKind::Time => Value::Time(LogTime::decode(array(bytes, place)?)),
            FieldKind::Signature => Value::Signature(Signature::decode(array(bytes, place)?)),
        })
    }
}
