//! Definition of a table: columns, their types and the indexes over them, independent of any pages.

mod flags;

use std::fmt;

use crate::flag_names::set_names;
use flags::{COLUMN_FLAG_NAMES, INDEX_FLAG_NAMES};
pub(crate) use flags::{column_flags, index_flags};

/// The kind of value that a column holds (ESE `JET_COLTYP`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ColumnType {
    /// True (0xFF) or false (0).
    Bit = 1,
    /// One byte.
    UnsignedByte = 2,
    /// Two bytes, signed.
    Short = 3,
    /// Four bytes, signed.
    Long = 4,
    /// Eight bytes, signed.
    Currency = 5,
    /// Four-byte IEEE float.
    Single = 6,
    /// Eight-byte IEEE float.
    Double = 7,
    /// Days since 1899-12-30 as an eight-byte IEEE float.
    DateTime = 8,
    /// Up to 255 bytes.
    Binary = 9,
    /// Text of up to 255 bytes.
    Text = 10,
    /// Up to 2 GiB, stored outside the record if long.
    LongBinary = 11,
    /// Text of up to 2 GiB, stored outside the record if long.
    LongText = 12,
    /// Up to 2 GiB, in the streaming file next to databases of Exchange 2000 and 2003; the field
    /// gives its position.
    Streaming = 13,
    /// Four bytes, unsigned.
    UnsignedLong = 14,
    /// Eight bytes, signed.
    LongLong = 15,
    /// Sixteen bytes.
    Guid = 16,
    /// Two bytes, unsigned.
    UnsignedShort = 17,
    /// Eight bytes, unsigned.
    UnsignedLongLong = 18,
}

impl ColumnType {
    const ALL: [Self; 18] = [
        Self::Bit,
        Self::UnsignedByte,
        Self::Short,
        Self::Long,
        Self::Currency,
        Self::Single,
        Self::Double,
        Self::DateTime,
        Self::Binary,
        Self::Text,
        Self::LongBinary,
        Self::LongText,
        Self::Streaming,
        Self::UnsignedLong,
        Self::LongLong,
        Self::Guid,
        Self::UnsignedShort,
        Self::UnsignedLongLong,
    ];

    /// The type with this number in the catalog.
    pub(crate) fn from_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.number() == number)
    }

    /// The number in the catalog.
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// Size of every value in bytes, for types with a fixed size.
    pub(crate) const fn fixed_bytes(self) -> Option<usize> {
        match self {
            Self::Bit | Self::UnsignedByte => Some(1),
            Self::Short | Self::UnsignedShort => Some(2),
            Self::Long | Self::UnsignedLong | Self::Single => Some(4),
            Self::Currency
            | Self::LongLong
            | Self::UnsignedLongLong
            | Self::Double
            | Self::DateTime => Some(8),
            Self::Guid => Some(16),
            Self::Binary | Self::Text | Self::LongBinary | Self::LongText | Self::Streaming => None,
        }
    }

    /// Whether values may be stored outside the record, as long values.
    pub const fn is_long(self) -> bool {
        matches!(self, Self::LongBinary | Self::LongText)
    }

    /// Whether values are text.
    pub(crate) const fn is_text(self) -> bool {
        matches!(self, Self::Text | Self::LongText)
    }
}

/// A column of a table. Its number decides how records store it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ColumnId(pub u16);

/// How records store a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnClass {
    /// Columns 1 to 127: always at the same place.
    Fixed,
    /// Columns 128 to 255: located by a table of end offsets.
    Variable,
    /// Columns from 256 on: stored only if they have a value.
    Tagged,
}

impl ColumnId {
    /// The first variable column.
    pub(crate) const FIRST_VARIABLE: Self = Self(128);

    /// How records store the column.
    pub const fn class(self) -> ColumnClass {
        match self.0 {
            0..128 => ColumnClass::Fixed,
            128..256 => ColumnClass::Variable,
            _ => ColumnClass::Tagged,
        }
    }
}

impl fmt::Display for ColumnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Code page of Unicode text (UTF-16, little-endian).
pub(crate) const CODE_PAGE_UNICODE: u32 = 1200;
/// Code page of text in one byte per character.
pub(crate) const CODE_PAGE_WESTERN: u32 = 1252;

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnDefinition {
    /// The column.
    pub id: ColumnId,
    /// Its name.
    pub name: String,
    /// Its type.
    pub column_type: ColumnType,
    /// Size of every value in bytes for fixed-size types, else of the longest one; 0 means no
    /// limit.
    pub max_bytes: u32,
    /// Flags of the catalog; see [`flag_names`](Self::flag_names).
    pub flags: u32,
    /// Code page of text; 0 for other types.
    pub code_page: u32,
    /// Offset in records, in bytes; fixed columns only.
    pub record_offset: u16,
    /// Whether it comes from the table's template.
    pub is_inherited: bool,
    /// Value for rows stored before the column was added; empty means null.
    pub default: Vec<u8>,
}

impl ColumnDefinition {
    /// A column without flags. `max_bytes` matters only for types without a fixed size.
    pub fn new(id: u16, name: &str, column_type: ColumnType, max_bytes: u32) -> Self {
        let fixed = column_type.fixed_bytes().and_then(|bytes| u32::try_from(bytes).ok());
        Self {
            id: ColumnId(id),
            name: name.to_owned(),
            column_type,
            max_bytes: fixed.unwrap_or(max_bytes),
            flags: 0,
            code_page: if column_type.is_text() { CODE_PAGE_WESTERN } else { 0 },
            record_offset: 0,
            is_inherited: false,
            default: Vec::new(),
        }
    }

    /// Whether records mark the column as belonging to the template table. Columns of the oldest
    /// template tables share their numbers with the tables that inherit them, and are not marked.
    pub(crate) const fn is_marked_derived(&self) -> bool {
        self.is_inherited && self.flags & column_flags::TEMPLATE != 0
    }

    /// Whether rows may have several values of it.
    pub const fn is_multi_valued(&self) -> bool {
        self.flags & column_flags::MULTI_VALUED != 0
    }

    /// The value for rows stored before the column was added, if its flags promise one.
    pub fn promised_default(&self) -> Option<&[u8]> {
        let is_promised = self.flags & column_flags::DEFAULT != 0 && !self.default.is_empty();
        is_promised.then_some(self.default.as_slice())
    }

    /// The names of its flags.
    pub fn flag_names(&self) -> Vec<&'static str> {
        set_names(self.flags, &COLUMN_FLAG_NAMES)
    }

    /// Makes the column refuse null.
    #[must_use]
    pub fn not_null(mut self) -> Self {
        self.flags |= column_flags::NOT_NULL;
        self
    }
}

/// A column of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeySegment {
    /// The column.
    pub column: ColumnId,
    /// Whether the order is descending.
    pub is_descending: bool,
    /// Whether the column comes from the table's template.
    pub is_inherited: bool,
}

/// An index of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexDefinition {
    /// Its name.
    pub name: String,
    /// Flags of the catalog; see [`flag_names`](Self::flag_names).
    pub flags: u32,
    /// The columns of its key.
    pub segments: Vec<KeySegment>,
    /// Conditions that a row must meet to be in the index.
    pub conditions: Vec<IndexCondition>,
    /// Longest key in bytes; longer keys are truncated.
    pub longest_key_bytes: usize,
    /// Whether it holds substrings.
    pub is_tuple: bool,
    /// The stated locale, such as en-US; empty if none.
    pub locale: String,
}

/// A condition on the rows that an index holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexCondition {
    /// The column.
    pub column: ColumnId,
    /// Whether the column must be null rather than non-null.
    pub is_null: bool,
    /// Whether the column comes from the table's template.
    pub is_inherited: bool,
}

/// Locale stated by every index, with or without text columns (measured in real files).
const DEFAULT_LOCALE: &str = "en-US";
/// Default for the longest key of an index, in bytes.
pub(crate) const DEFAULT_LONGEST_KEY_BYTES: usize = 255;

impl IndexDefinition {
    /// The primary index over ascending columns.
    pub fn primary(name: &str, columns: &[u16]) -> Self {
        Self::new(name, index_flags::ORDINARY_PRIMARY, columns)
    }

    /// A secondary index over ascending columns, whose keys may repeat.
    pub fn secondary(name: &str, columns: &[u16]) -> Self {
        Self::new(name, index_flags::ORDINARY_SECONDARY, columns)
    }

    /// An index over ascending columns.
    pub(crate) fn new(name: &str, flags: u32, columns: &[u16]) -> Self {
        let segment =
            |&id| KeySegment { column: ColumnId(id), is_descending: false, is_inherited: false };
        Self {
            name: name.to_owned(),
            flags,
            segments: columns.iter().map(segment).collect(),
            conditions: Vec::new(),
            longest_key_bytes: DEFAULT_LONGEST_KEY_BYTES,
            is_tuple: false,
            locale: DEFAULT_LOCALE.to_owned(),
        }
    }

    /// Whether this is the primary index, which is the table itself.
    pub const fn is_primary(&self) -> bool {
        self.flags & index_flags::PRIMARY != 0
    }

    /// Whether its keys are unique.
    pub const fn is_unique(&self) -> bool {
        self.flags & index_flags::UNIQUE != 0
    }

    /// The names of its flags.
    pub fn flag_names(&self) -> Vec<&'static str> {
        set_names(self.flags, &INDEX_FLAG_NAMES)
    }
}

/// A table: its columns in ascending order of their numbers, its primary index first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableDefinition {
    /// Its name.
    pub name: String,
    /// Its columns, ascending by number.
    pub columns: Vec<ColumnDefinition>,
    /// Its indexes; the primary one, if any, comes first.
    pub indexes: Vec<IndexDefinition>,
}

/// Offset of the first fixed column in a record.
const FIRST_FIXED_OFFSET: u16 = 4;

impl TableDefinition {
    /// A new table. Assigns the fixed columns their offsets in records.
    pub fn new(
        name: &str,
        mut columns: Vec<ColumnDefinition>,
        indexes: Vec<IndexDefinition>,
    ) -> Self {
        columns.sort_by_key(|column| column.id);
        Self::pack_fixed_columns(&mut columns);
        Self { name: name.to_owned(), columns, indexes }
    }

    /// Assigns the fixed columns of `columns`, which are in order, consecutive offsets in records.
    pub(crate) fn pack_fixed_columns(columns: &mut [ColumnDefinition]) {
        let mut offset = FIRST_FIXED_OFFSET;
        for column in columns.iter_mut().filter(|c| c.id.class() == ColumnClass::Fixed) {
            column.record_offset = offset;
            let bytes =
                u16::try_from(column.max_bytes).expect("invariant: fixed columns are short");
            offset += bytes;
        }
    }

    /// The column with this number.
    pub fn column(&self, id: ColumnId) -> Option<&ColumnDefinition> {
        let index = self.columns.binary_search_by_key(&id, |column| column.id).ok()?;
        Some(&self.columns[index])
    }

    /// The column with this name.
    pub fn column_named(&self, name: &str) -> Option<&ColumnDefinition> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The primary index; a table without one is in insertion order.
    pub fn primary(&self) -> Option<&IndexDefinition> {
        self.indexes.first().filter(|index| index.is_primary())
    }

    /// The secondary indexes, in the order of the catalog.
    pub fn secondaries(&self) -> impl Iterator<Item = &IndexDefinition> {
        self.indexes.iter().filter(|index| !index.is_primary())
    }

    /// Whether any column may need a long-value tree.
    pub fn has_long_columns(&self) -> bool {
        self.columns.iter().any(|column| column.column_type.is_long())
    }
}

#[cfg(test)]
mod tests {
    use super::{ColumnClass, ColumnDefinition, ColumnId, ColumnType, TableDefinition};

    #[test]
    fn fixed_columns_are_packed_behind_the_record_header() {
        let table = TableDefinition::new(
            "T",
            vec![
                ColumnDefinition::new(128, "C", ColumnType::Binary, 200),
                ColumnDefinition::new(2, "B", ColumnType::Guid, 0),
                ColumnDefinition::new(1, "A", ColumnType::LongLong, 0),
            ],
            Vec::new(),
        );
        let places: Vec<_> = table.columns.iter().map(|c| (c.id.0, c.record_offset)).collect();
        assert_eq!(places, [(1, 4), (2, 12), (128, 0)]);
        assert_eq!(table.column_named("B").map(|column| column.max_bytes), Some(16));
    }

    #[test]
    fn column_numbers_decide_the_class() {
        let class = |id| ColumnId(id).class();
        assert_eq!((class(127), class(128)), (ColumnClass::Fixed, ColumnClass::Variable));
        assert_eq!((class(255), class(256)), (ColumnClass::Variable, ColumnClass::Tagged));
    }

    #[test]
    fn types_keep_their_numbers() {
        for number in 0..20 {
            let kind = ColumnType::from_number(number);
            assert!(kind.is_none_or(|kind| kind.number() == number));
        }
        assert_eq!(ColumnType::from_number(0), None);
        assert_eq!(ColumnType::from_number(18), Some(ColumnType::UnsignedLongLong));
        assert_eq!(ColumnType::from_number(15), Some(ColumnType::LongLong));
    }
}
