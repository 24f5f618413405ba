//! Writes records, without allocating once the builder has warmed up.

use crate::long_value::LongValueId;
use crate::page::PageSize;
use crate::record::{RecordError, tag_flags};
use crate::schema::{ColumnClass, ColumnDefinition, ColumnId, TableDefinition};

/// Bytes before the fixed columns.
const HEADER_BYTES: usize = 4;
/// Number stored as the last variable column if a record has none.
const NO_VARIABLE: u8 = 127;
/// Longest record: offsets in a record have 15 bits, those of tagged fields on small pages 13.
const LONGEST_LARGE: usize = 0x7FFF;
const LONGEST_SMALL: usize = 0x1FFF;
/// In the offset of a tagged field on small pages: the value begins with a byte of flags.
const SMALL_HAS_FLAGS: u16 = 0x4000;

/// Position and size of a column.
#[derive(Clone, Copy, Debug, Default)]
struct FieldPlace {
    offset: usize,
    bytes: usize,
}

/// Builds records of one table, one after the other, reusing its memory.
///
/// Variable and tagged columns are set in ascending order, each once; a column that is not set is
/// null.
#[derive(Clone, Debug)]
pub struct RecordBuilder {
    is_small: bool,
    /// The places of fixed columns, indexed by column number minus 1.
    fixed_places: Vec<FieldPlace>,
    /// Maximum value lengths of variable columns, indexed by column number minus 128; 0 means no
    /// limit.
    variable_limits: Vec<usize>,
    /// Tagged columns, ascending, and whether they are long.
    tagged_columns: Vec<(u16, bool)>,
    /// The record's beginning: header, then fixed columns.
    fixed: Vec<u8>,
    nulls: [u8; 16],
    last_fixed: usize,
    ends: Vec<u16>,
    variable: Vec<u8>,
    /// Column and offset, relative to the first tagged value.
    tags: Vec<(u16, u16)>,
    tagged: Vec<u8>,
}

impl RecordBuilder {
    /// A builder for records of `table` on pages of `page_size`.
    pub fn new(table: &TableDefinition, page_size: PageSize) -> Self {
        let mut builder = Self {
            is_small: page_size.is_small(),
            fixed_places: Vec::new(),
            variable_limits: Vec::new(),
            tagged_columns: Vec::new(),
            fixed: Vec::new(),
            nulls: [0xFF; 16],
            last_fixed: 0,
            ends: Vec::new(),
            variable: Vec::new(),
            tags: Vec::new(),
            tagged: Vec::new(),
        };
        table.columns.iter().for_each(|column| builder.add_column(column));
        let end = builder.fixed_places.iter().map(|place| place.offset + place.bytes).max();
        builder.fixed.resize(end.unwrap_or(HEADER_BYTES), 0);
        builder
    }

    fn add_column(&mut self, column: &ColumnDefinition) {
        let (id, bytes) = (usize::from(column.id.0), column.max_bytes as usize);
        match column.id.class() {
            ColumnClass::Fixed => {
                self.fixed_places.resize(id.max(self.fixed_places.len()), FieldPlace::default());
                let offset = usize::from(column.record_offset);
                self.fixed_places[id - 1] = FieldPlace { offset, bytes };
            }
            ColumnClass::Variable => {
                let index = id - usize::from(ColumnId::FIRST_VARIABLE.0);
                self.variable_limits.resize((index + 1).max(self.variable_limits.len()), 0);
                self.variable_limits[index] = bytes;
            }
            ColumnClass::Tagged => {
                self.tagged_columns.push((column.id.0, column.column_type.is_long()));
            }
        }
    }

    /// Clears the values: every column is null again.
    pub fn clear(&mut self) {
        self.fixed.fill(0);
        self.nulls = [0xFF; 16];
        self.last_fixed = 0;
        self.ends.clear();
        self.variable.clear();
        self.tags.clear();
        self.tagged.clear();
    }

    /// Sets a column to its stored bytes: numbers little-endian, the rest unchanged.
    #[inline]
    pub fn set(&mut self, column: ColumnId, value: &[u8]) -> Result<(), RecordError> {
        match column.class() {
            ColumnClass::Fixed => self.set_fixed(column, value),
            ColumnClass::Variable => self.set_variable(column, value),
            ColumnClass::Tagged => {
                let is_long = self.open_tag(column)?;
                self.push_tagged(if is_long { tag_flags::LONG_VALUE } else { 0 }, value);
                Ok(())
            }
        }
    }

    /// Sets a long column to a value stored separately.
    pub fn set_separated(
        &mut self,
        column: ColumnId,
        value: LongValueId,
    ) -> Result<(), RecordError> {
        if !self.open_tag(column)? {
            return Err(RecordError::NoColumn { column });
        }
        self.push_tagged(tag_flags::LONG_VALUE | tag_flags::SEPARATED, &value.encode());
        Ok(())
    }

    /// Appends the record to `out`. The values stay until [`RecordBuilder::clear`].
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), RecordError> {
        let start = out.len();
        self.push_fixed(out);
        for end in &self.ends {
            out.extend_from_slice(&end.to_le_bytes());
        }
        out.extend_from_slice(&self.variable);
        let result = self.push_tags(out);
        let (bytes, most) = (out.len() - start, LONGEST_LARGE);
        if result.is_ok() && bytes <= most {
            return Ok(());
        }
        out.truncate(start);
        result.and(Err(RecordError::TooLong { bytes, most }))
    }

    #[inline]
    fn set_fixed(&mut self, column: ColumnId, value: &[u8]) -> Result<(), RecordError> {
        let number = usize::from(column.0);
        let place = number.checked_sub(1).and_then(|index| self.fixed_places.get(index));
        let place = place.copied().filter(|place| place.bytes > 0);
        let FieldPlace { offset, bytes } = place.ok_or(RecordError::NoColumn { column })?;
        if value.len() != bytes {
            return Err(RecordError::WrongSize { column, bytes: value.len(), expected: bytes });
        }
        self.fixed[offset..offset + bytes].copy_from_slice(value);
        self.nulls[(number - 1) / 8] &= !(1 << ((number - 1) % 8));
        self.last_fixed = self.last_fixed.max(number);
        Ok(())
    }

    #[inline]
    fn set_variable(&mut self, column: ColumnId, value: &[u8]) -> Result<(), RecordError> {
        let index = usize::from(column.0 - ColumnId::FIRST_VARIABLE.0);
        let limit = *self.variable_limits.get(index).ok_or(RecordError::NoColumn { column })?;
        if limit != 0 && value.len() > limit {
            return Err(RecordError::WrongSize { column, bytes: value.len(), expected: limit });
        }
        assert!(index >= self.ends.len(), "variable columns are set once, in ascending order");
        let before = offset_field(self.variable.len());
        self.ends.resize(index, before | 0x8000);
        self.variable.extend_from_slice(value);
        self.ends.push(offset_field(self.variable.len()));
        Ok(())
    }

    /// Begins a tagged value; returns whether its column is long.
    fn open_tag(&mut self, column: ColumnId) -> Result<bool, RecordError> {
        let found = self.tagged_columns.binary_search_by_key(&column.0, |(id, _)| *id);
        let index = found.map_err(|_| RecordError::NoColumn { column })?;
        let is_ascending = self.tags.last().is_none_or(|(id, _)| *id < column.0);
        assert!(is_ascending, "tagged columns are set once, in ascending order");
        if self.tagged.len() > LONGEST_LARGE {
            let bytes = self.tagged.len();
            return Err(RecordError::TooLong { bytes, most: LONGEST_LARGE });
        }
        self.tags.push((column.0, offset_field(self.tagged.len())));
        Ok(self.tagged_columns[index].1)
    }

    /// Adds a tagged value. Large pages store flags with every value, small ones only if any are
    /// set.
    fn push_tagged(&mut self, flags: u8, value: &[u8]) {
        if !self.is_small {
            self.tagged.push(flags);
        } else if flags != 0 {
            self.tagged.push(flags);
            let tag = self.tags.last_mut().expect("invariant: the tag has just been opened");
            tag.1 |= SMALL_HAS_FLAGS;
        }
        self.tagged.extend_from_slice(value);
    }

    fn push_fixed(&self, out: &mut Vec<u8>) {
        let end = match self.last_fixed {
            0 => HEADER_BYTES,
            last => self.fixed_places[last - 1].offset + self.fixed_places[last - 1].bytes,
        };
        let null_bytes = self.last_fixed.div_ceil(8);
        let last_variable = NO_VARIABLE + self.ends.len().to_le_bytes()[0];
        out.extend_from_slice(&[self.last_fixed.to_le_bytes()[0], last_variable]);
        out.extend_from_slice(&offset_field(end + null_bytes).to_le_bytes());
        out.extend_from_slice(&self.fixed[HEADER_BYTES..end]);
        // Bits after the last column stay set, as the real engine leaves them.
        out.extend_from_slice(&self.nulls[..null_bytes]);
    }

    fn push_tags(&self, out: &mut Vec<u8>) -> Result<(), RecordError> {
        let array_bytes = self.tags.len() * 4;
        let most = if self.is_small { LONGEST_SMALL } else { LONGEST_LARGE };
        let bytes = array_bytes + self.tagged.len();
        if bytes > most {
            return Err(RecordError::TooLong { bytes, most });
        }
        for (column, offset) in &self.tags {
            out.extend_from_slice(&column.to_le_bytes());
            out.extend_from_slice(&(offset + offset_field(array_bytes)).to_le_bytes());
        }
        out.extend_from_slice(&self.tagged);
        Ok(())
    }
}

/// Lengths beyond the field's range are refused when the record is finished.
fn offset_field(bytes: usize) -> u16 {
    u16::try_from(bytes.min(LONGEST_LARGE)).expect("invariant: the minimum fits 15 bits")
}
