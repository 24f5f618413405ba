//! Tagged columns: an array of column numbers and offsets, then the values with their flags.

use crate::bytes::{get_array, u16_at};
use crate::long_value::LongValueId;
use crate::record::{Element, RecordError, Stored};
use crate::schema::ColumnId;

/// Flags that a tagged value may begin with.
pub(crate) mod tag_flags {
    /// The column is of a long type.
    pub(crate) const LONG_VALUE: u8 = 1;
    /// The (first) value is compressed.
    pub(crate) const COMPRESSED: u8 = 2;
    /// The value is stored separately; the field holds its identifier.
    pub(crate) const SEPARATED: u8 = 4;
    /// There are several values.
    pub(crate) const MULTI_VALUES: u8 = 8;
    /// There are two values.
    pub(crate) const TWO_VALUES: u8 = 0x10;
    /// No value.
    pub(crate) const NULL: u8 = 0x20;
    /// The value is encrypted.
    pub(crate) const ENCRYPTED: u8 = 0x40;
}

/// Bytes of a column number and its offset in the array.
const TAG_BYTES: usize = 4;
/// On small pages, in a field's offset: the value begins with flags.
const SMALL_HAS_FLAGS: u16 = 0x4000;
/// On small pages, in a field's offset: no value.
const SMALL_NULL: u16 = 0x2000;
/// The column comes from a template table.
const DERIVED: u16 = 0x8000;
/// In the offsets of several values: the value is stored separately.
const VALUE_SEPARATED: u16 = 0x8000;

/// A tagged column of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaggedField<'a> {
    /// The column.
    pub column: ColumnId,
    /// Whether the column belongs to the template table.
    pub is_derived: bool,
    /// Its values.
    pub stored: Stored<'a>,
}

const DAMAGED: RecordError = RecordError::Damaged { part: "tagged columns" };

/// The array of a record's tagged fields, with verified order and offsets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tags<'a> {
    bytes: &'a [u8],
    count: usize,
    is_small: bool,
}

impl<'a> Tags<'a> {
    /// Parses the tagged fields in `bytes`, which is everything after the variable columns.
    pub(super) fn parse(bytes: &'a [u8], is_small: bool) -> Result<Self, RecordError> {
        let mut tags = Self { bytes, count: 0, is_small };
        if bytes.is_empty() {
            return Ok(tags);
        }
        let first = u16::from_le_bytes(get_array(bytes, 2).ok_or(DAMAGED)?);
        let array_bytes = tags.offset_of(first);
        if array_bytes == 0 || !array_bytes.is_multiple_of(TAG_BYTES) || array_bytes > bytes.len() {
            return Err(RecordError::TagOffset { column: tags.column(0) });
        }
        tags.count = array_bytes / TAG_BYTES;
        tags.check_order()?;
        Ok(tags)
    }

    /// Checks order and offsets: searches rely on ascending columns, and a value ends at the next
    /// offset.
    fn check_order(&self) -> Result<(), RecordError> {
        let (mut before, mut least) = (None, 0);
        for index in 0..self.count {
            let (column, word) = (self.column(index), self.word(index));
            let rank = (word & DERIVED == 0, column);
            if before.is_some_and(|before| before >= rank) {
                return Err(RecordError::TagOrder { column });
            }
            let offset = self.offset_of(word);
            if offset < least || offset > self.bytes.len() {
                return Err(RecordError::TagOffset { column });
            }
            (before, least) = (Some(rank), offset);
        }
        Ok(())
    }

    fn column(&self, index: usize) -> ColumnId {
        ColumnId(u16_at(self.bytes, index * TAG_BYTES))
    }

    fn word(&self, index: usize) -> u16 {
        u16_at(self.bytes, index * TAG_BYTES + 2)
    }

    /// Index of a column's field. Fields of the template table come first; both groups ascend by
    /// column, and a number may appear in both.
    fn search(&self, column: ColumnId, is_derived: bool) -> Option<usize> {
        let own = partition(0, self.count, |index| self.word(index) & DERIVED != 0);
        let (from, to) = if is_derived { (0, own) } else { (own, self.count) };
        let found = partition(from, to, |index| self.column(index) < column);
        (found < to && self.column(found) == column).then_some(found)
    }

    /// All fields, in their order.
    pub(super) fn fields(&self) -> Result<Vec<TaggedField<'a>>, RecordError> {
        (0..self.count).map(|index| self.field(index)).collect()
    }

    /// The value of one column in the record.
    pub(super) fn find(
        &self,
        column: ColumnId,
        is_derived: bool,
    ) -> Result<Stored<'a>, RecordError> {
        match self.search(column, is_derived) {
            Some(index) => Ok(self.field(index)?.stored),
            None => Ok(Stored::Absent),
        }
    }

    fn offset_of(&self, word: u16) -> usize {
        usize::from(word & if self.is_small { 0x1FFF } else { 0x7FFF })
    }

    fn field(&self, index: usize) -> Result<TaggedField<'a>, RecordError> {
        let word = self.word(index);
        let end = match index + 1 {
            next if next < self.count => self.offset_of(self.word(next)),
            _ => self.bytes.len(),
        };
        let value = self.bytes.get(self.offset_of(word)..end).ok_or(DAMAGED)?;
        Ok(TaggedField {
            column: self.column(index),
            is_derived: word & DERIVED != 0,
            stored: self.stored(word, value)?,
        })
    }

    fn stored(&self, word: u16, value: &'a [u8]) -> Result<Stored<'a>, RecordError> {
        if self.is_small && word & SMALL_NULL != 0 {
            return Ok(Stored::Null);
        }
        if self.is_small && word & SMALL_HAS_FLAGS == 0 {
            return Ok(Stored::One(Element::Plain(value)));
        }
        let (&flags, value) = value.split_first().ok_or(DAMAGED)?;
        if flags & tag_flags::NULL != 0 {
            return Ok(Stored::Null);
        }
        if flags & tag_flags::TWO_VALUES != 0 {
            return two_values(flags, value);
        }
        if flags & tag_flags::MULTI_VALUES != 0 {
            return several_values(flags, value);
        }
        element(flags, flags & tag_flags::SEPARATED != 0, value).map(Stored::One)
    }
}

/// The first index of a range for which `is_before` does not hold.
fn partition(from: usize, to: usize, is_before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (from, to);
    while low < high {
        let middle = low.midpoint(high);
        if is_before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

fn element(flags: u8, is_separated: bool, value: &[u8]) -> Result<Element<'_>, RecordError> {
    if is_separated {
        return LongValueId::decode(value).map(Element::Separated).ok_or(DAMAGED);
    }
    Ok(if flags & tag_flags::ENCRYPTED != 0 {
        Element::Encrypted(value)
    } else if flags & tag_flags::COMPRESSED != 0 {
        Element::Compressed(value)
    } else {
        Element::Plain(value)
    })
}

/// Flags that apply only to the first of several values.
const FIRST_VALUE_ONLY: u8 = tag_flags::COMPRESSED;

fn two_values(flags: u8, value: &[u8]) -> Result<Stored<'_>, RecordError> {
    let (&first_bytes, rest) = value.split_first().ok_or(DAMAGED)?;
    let (first, second) = rest.split_at_checked(usize::from(first_bytes)).ok_or(DAMAGED)?;
    let second = element(flags & !FIRST_VALUE_ONLY, false, second)?;
    Ok(Stored::Many(vec![element(flags, false, first)?, second]))
}

/// Start of one of several values, decoded from its word in the leading array.
fn value_offset(word: u16) -> usize {
    usize::from(word & !VALUE_SEPARATED)
}

fn several_values(flags: u8, value: &[u8]) -> Result<Stored<'_>, RecordError> {
    let first = u16::from_le_bytes(get_array(value, 0).ok_or(DAMAGED)?);
    let array_bytes = value_offset(first);
    let count = array_bytes / 2;
    if count == 0 || !array_bytes.is_multiple_of(2) || array_bytes > value.len() {
        return Err(DAMAGED);
    }
    let mut elements = Vec::with_capacity(count);
    for index in 0..count {
        let word = u16_at(value, index * 2);
        let is_last = index + 1 == count;
        let end = if is_last { value.len() } else { value_offset(u16_at(value, index * 2 + 2)) };
        let bytes = value.get(value_offset(word)..end).ok_or(DAMAGED)?;
        let flags = if index == 0 { flags } else { flags & !FIRST_VALUE_ONLY };
        elements.push(element(flags, word & VALUE_SEPARATED != 0, bytes)?);
    }
    Ok(Stored::Many(elements))
}
