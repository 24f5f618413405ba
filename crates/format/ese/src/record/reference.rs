//! Reads records; arbitrary bytes give an error, never a panic.

use crate::bytes::get_array;
use crate::page::PageSize;
use crate::record::tagged::{TaggedField, Tags};
use crate::record::{Element, RecordError, Stored};
use crate::schema::{ColumnClass, ColumnDefinition, ColumnId};

/// The last variable column of a record that has none.
const NO_VARIABLE: u8 = 127;

/// A record to read.
#[derive(Clone, Copy, Debug)]
pub struct RecordRef<'a> {
    bytes: &'a [u8],
    last_fixed: u8,
    /// Number of variable columns with an end in the record.
    variable_count: usize,
    fixed_end: usize,
    /// The tagged fields. The other columns can be read even if these are damaged.
    tags: Result<Tags<'a>, RecordError>,
}

impl<'a> RecordRef<'a> {
    /// Reads the header of a record on a page of `page_size`.
    pub fn parse(bytes: &'a [u8], page_size: PageSize) -> Result<Self, RecordError> {
        let [last_fixed, last_variable, low, high] =
            get_array(bytes, 0).ok_or(RecordError::Damaged { part: "header" })?;
        let fixed_end = usize::from(u16::from_le_bytes([low, high]));
        let variable_count = last_variable.checked_sub(NO_VARIABLE).map(usize::from);
        let variable_count =
            variable_count.ok_or(RecordError::Damaged { part: "last variable column" })?;
        let null_bytes = usize::from(last_fixed).div_ceil(8);
        if fixed_end < 4 + null_bytes || fixed_end + variable_count * 2 > bytes.len() {
            return Err(RecordError::Damaged { part: "end of fixed columns" });
        }
        let tags = Err(RecordError::Damaged { part: "variable columns" });
        let mut record = Self { bytes, last_fixed, variable_count, fixed_end, tags };
        if let Some(tagged) = bytes.get(record.tagged_start()..) {
            record.tags = Tags::parse(tagged, page_size.is_small());
        }
        Ok(record)
    }

    /// The value of `column` in the record.
    pub fn column(&self, column: &ColumnDefinition) -> Result<Stored<'a>, RecordError> {
        match column.id.class() {
            ColumnClass::Fixed => self.fixed(column),
            ColumnClass::Variable => self.variable(column.id),
            ColumnClass::Tagged => self.tags?.find(column.id, column.is_marked_derived()),
        }
    }

    /// The bytes of a column with at most one value, stored in the record uncompressed; `None` if
    /// it is null or stored otherwise.
    pub fn plain(&self, column: &ColumnDefinition) -> Option<&'a [u8]> {
        match self.column(column).ok()? {
            Stored::One(Element::Plain(bytes)) => Some(bytes),
            _ => None,
        }
    }

    /// All tagged fields, ascending by column.
    pub fn tagged_fields(&self) -> Result<Vec<TaggedField<'a>>, RecordError> {
        self.tags?.fields()
    }

    fn fixed(&self, column: &ColumnDefinition) -> Result<Stored<'a>, RecordError> {
        let damaged = RecordError::Damaged { part: "fixed columns" };
        let (id, last) = (usize::from(column.id.0), usize::from(self.last_fixed));
        if id == 0 || id > last {
            return Ok(Stored::Absent);
        }
        let nulls_start = self.fixed_end - last.div_ceil(8);
        if self.bytes[nulls_start + (id - 1) / 8] >> ((id - 1) % 8) & 1 != 0 {
            return Ok(Stored::Null);
        }
        let start = usize::from(column.record_offset);
        let end = start + column.max_bytes as usize;
        let bytes = self.bytes[..nulls_start].get(start..end).ok_or(damaged)?;
        Ok(Stored::One(Element::Plain(bytes)))
    }

    fn variable(&self, id: ColumnId) -> Result<Stored<'a>, RecordError> {
        let index = usize::from(id.0 - ColumnId::FIRST_VARIABLE.0);
        if index >= self.variable_count {
            return Ok(Stored::Absent);
        }
        let (end, is_null) = self.variable_end(index);
        if is_null {
            return Ok(Stored::Null);
        }
        let start = if index == 0 { 0 } else { self.variable_end(index - 1).0 };
        let data = &self.bytes[self.variable_data()..];
        let damaged = RecordError::Damaged { part: "variable columns" };
        Ok(Stored::One(Element::Plain(data.get(start..end).ok_or(damaged)?)))
    }

    /// End of the data of variable column 128 + `index`, and whether it is null.
    fn variable_end(&self, index: usize) -> (usize, bool) {
        let at = self.fixed_end + index * 2;
        let word = crate::bytes::u16_at(self.bytes, at);
        (usize::from(word & 0x7FFF), word & 0x8000 != 0)
    }

    fn variable_data(&self) -> usize {
        self.fixed_end + self.variable_count * 2
    }

    /// Offset of the end of the variable columns; it may be past the end of the record.
    fn tagged_start(&self) -> usize {
        let data_bytes = match self.variable_count {
            0 => 0,
            count => self.variable_end(count - 1).0,
        };
        self.variable_data() + data_bytes
    }
}
