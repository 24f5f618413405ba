//! One row of the catalog and its encoding.

use std::sync::LazyLock;

use units::{ObjectId, PageNumber};

use crate::catalog::system::{OBJECTS_NAME, catalog_definition, column};
use crate::key::{KeyError, index_key};
use crate::page::PageSize;
use crate::record::{RecordBuilder, RecordError, RecordRef};
use crate::schema::{ColumnId, TableDefinition};

/// Definition used to read and write every row.
static DEFINITION: LazyLock<TableDefinition> = LazyLock::new(|| catalog_definition(OBJECTS_NAME));

/// Kind of object that a catalog row describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowKind {
    /// A table.
    Table = 1,
    /// A column of a table.
    Column = 2,
    /// An index of a table, the primary one included.
    Index = 3,
    /// The long-value tree of a table.
    LongValue = 4,
    /// A callback.
    Callback = 5,
}

impl RowKind {
    const ALL: [Self; 5] =
        [Self::Table, Self::Column, Self::Index, Self::LongValue, Self::Callback];

    /// The number in the catalog.
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// The kind with this number.
    pub(crate) fn from_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.number() == number)
    }
}

/// One row of the catalog. The meaning of a field depends on the kind of row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogRow {
    /// The table that the row belongs to.
    pub table: ObjectId,
    /// Kind of the described object.
    pub kind: RowKind,
    /// Object of the tree, or number of the column.
    pub id: u32,
    /// Type of the column, or root page of the tree.
    pub column_type_or_root: u32,
    /// Longest value of the column, or density of the tree in percent.
    pub space_usage: u32,
    /// Flags of the column, index or table.
    pub flags: u32,
    /// Code page of the column, or initial number of pages of the tree.
    pub pages_or_locale: u32,
    /// Set for tables: the row is in the index of table names.
    pub root_flag: bool,
    /// Offset of the column in records; fixed columns only.
    pub record_offset: Option<u16>,
    /// How the system normalises Unicode text; indexes only.
    pub lc_map_flags: Option<u32>,
    /// Longest key of an index, if not the default.
    pub key_most: Option<u16>,
    /// Bytes of a chunk of the long-value tree, if stated.
    pub long_value_chunk: Option<u32>,
    /// The name.
    pub name: String,
    /// The table from which columns and indexes are inherited.
    pub template: Option<String>,
    /// Default value of the column; empty if none.
    pub default: Vec<u8>,
    /// Columns of an index's key, in stored form.
    pub key_columns: Vec<u8>,
    /// Columns that must or must not be null for a row to be in the index, in stored form.
    pub conditions: Vec<u8>,
    /// Whether the index holds substrings.
    pub is_tuple_index: bool,
    /// Locale of the index, in UTF-16.
    pub locale_name: Vec<u8>,
}

impl CatalogRow {
    /// A row without optional fields.
    pub(crate) fn new(table: ObjectId, kind: RowKind, id: u32, name: &str) -> Self {
        Self {
            table,
            kind,
            id,
            column_type_or_root: 0,
            space_usage: 0,
            flags: 0,
            pages_or_locale: 0,
            root_flag: false,
            record_offset: None,
            lc_map_flags: None,
            key_most: None,
            long_value_chunk: None,
            name: name.to_owned(),
            template: None,
            default: Vec::new(),
            key_columns: Vec::new(),
            conditions: Vec::new(),
            is_tuple_index: false,
            locale_name: Vec::new(),
        }
    }

    /// The root page of the row's tree.
    pub(crate) const fn root(&self) -> PageNumber {
        PageNumber(self.column_type_or_root)
    }

    /// Reads a row; `None` if it is of a kind that no known engine writes.
    pub fn decode(record: &[u8], page_size: PageSize) -> Result<Option<Self>, RecordError> {
        let record = RecordRef::parse(record, page_size)?;
        let fields = RowFields { record, definition: &DEFINITION };
        let Some(kind) = RowKind::from_number(fields.number_or_0(column::TYPE)) else {
            return Ok(None);
        };
        let table = ObjectId(fields.number_or_0(column::OBJECT_TABLE));
        let name = fields.text(column::NAME).unwrap_or_default();
        Ok(Some(Self {
            column_type_or_root: fields.number_or_0(column::COLUMN_TYPE_OR_ROOT),
            space_usage: fields.number_or_0(column::SPACE_USAGE),
            flags: fields.number_or_0(column::FLAGS),
            pages_or_locale: fields.number_or_0(column::PAGES_OR_LOCALE),
            root_flag: fields.number_or_0(column::ROOT_FLAG) != 0,
            record_offset: fields.number(column::RECORD_OFFSET).map(low_half),
            lc_map_flags: fields.number(column::LC_MAP_FLAGS),
            key_most: fields.number(column::KEY_MOST).map(low_half),
            long_value_chunk: fields.number(column::LONG_VALUE_CHUNK),
            template: fields.text(column::TEMPLATE_TABLE).filter(|name| !name.is_empty()),
            default: fields.bytes(column::DEFAULT_VALUE).unwrap_or_default().to_vec(),
            key_columns: fields.bytes(column::KEY_COLUMNS).unwrap_or_default().to_vec(),
            conditions: fields.bytes(column::CONDITIONAL_COLUMNS).unwrap_or_default().to_vec(),
            is_tuple_index: fields.bytes(column::TUPLE_LIMITS).is_some(),
            locale_name: fields.bytes(column::LOCALE_NAME).unwrap_or_default().to_vec(),
            ..Self::new(table, kind, fields.number_or_0(column::ID), &name)
        }))
    }

    /// Appends the row's record to `out`.
    pub fn encode(&self, page_size: PageSize, out: &mut Vec<u8>) -> Result<(), RecordError> {
        let mut builder = RecordBuilder::new(&DEFINITION, page_size);
        for (column, value) in self.columns() {
            builder.set(ColumnId(column), &value)?;
        }
        builder.finish(out)
    }

    /// The row's keys in the catalog's indexes (`Id`, `Name`, `RootObjects`); `None` for an index
    /// that omits the row.
    pub fn keys(&self) -> Result<Vec<Option<Vec<u8>>>, KeyError> {
        let columns = self.columns();
        let mut keys = Vec::new();
        for index in &DEFINITION.indexes {
            let is_in = value_of(&columns, index.segments[0].column).is_some();
            let mut key = Vec::new();
            index_key(&DEFINITION, index, |id| value_of(&columns, id), &mut key)?;
            keys.push(is_in.then_some(key));
        }
        Ok(keys)
    }

    /// The columns that the row sets, ascending.
    fn columns(&self) -> Vec<(u16, Vec<u8>)> {
        let mut columns = vec![
            (column::OBJECT_TABLE, long(self.table.0)),
            (column::TYPE, short(low_half(self.kind.number()))),
            (column::ID, long(self.id)),
            (column::COLUMN_TYPE_OR_ROOT, long(self.column_type_or_root)),
            (column::SPACE_USAGE, long(self.space_usage)),
            (column::FLAGS, long(self.flags)),
            (column::PAGES_OR_LOCALE, long(self.pages_or_locale)),
        ];
        for (id, value) in [
            (column::ROOT_FLAG, self.root_flag.then(|| vec![0xFF])),
            (column::RECORD_OFFSET, self.record_offset.map(short)),
            (column::LC_MAP_FLAGS, self.lc_map_flags.map(long)),
            (column::KEY_MOST, self.key_most.map(short)),
            (column::LONG_VALUE_CHUNK, self.long_value_chunk.map(long)),
            (column::NAME, Some(self.name.as_bytes().to_vec())),
            (column::TEMPLATE_TABLE, self.template.as_ref().map(|name| name.as_bytes().to_vec())),
            (column::DEFAULT_VALUE, unless_empty(&self.default)),
            (column::KEY_COLUMNS, unless_empty(&self.key_columns)),
            (column::CONDITIONAL_COLUMNS, unless_empty(&self.conditions)),
            (column::LOCALE_NAME, unless_empty(&self.locale_name)),
        ] {
            columns.extend(value.map(|value| (id, value)));
        }
        columns
    }
}

fn low_half(number: u32) -> u16 {
    (number & 0xFFFF) as u16
}

/// The value of a column, looked up by number among a record's columns; `None` if it has none.
fn value_of(columns: &[(u16, Vec<u8>)], id: ColumnId) -> Option<&[u8]> {
    let found = columns.iter().find(|(column, _)| *column == id.0);
    found.map(|(_, value)| value.as_slice())
}

fn long(number: u32) -> Vec<u8> {
    number.to_le_bytes().to_vec()
}

fn short(number: u16) -> Vec<u8> {
    number.to_le_bytes().to_vec()
}

fn unless_empty(bytes: &[u8]) -> Option<Vec<u8>> {
    (!bytes.is_empty()).then(|| bytes.to_vec())
}

struct RowFields<'a> {
    record: RecordRef<'a>,
    definition: &'a TableDefinition,
}

impl<'a> RowFields<'a> {
    fn bytes(&self, id: u16) -> Option<&'a [u8]> {
        self.record.plain(self.definition.column(ColumnId(id))?)
    }

    fn number_or_0(&self, id: u16) -> u32 {
        self.number(id).unwrap_or(0)
    }

    /// A number of up to four bytes.
    fn number(&self, id: u16) -> Option<u32> {
        let bytes = self.bytes(id)?;
        Some(bytes.iter().rev().fold(0, |sum, &byte| sum << 8 | u32::from(byte)))
    }

    fn text(&self, id: u16) -> Option<String> {
        self.bytes(id).map(|bytes| bytes.iter().map(|&byte| char::from(byte)).collect())
    }
}
