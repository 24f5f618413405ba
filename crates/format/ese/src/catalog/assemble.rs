//! Converts catalog rows to tables and back.

use std::collections::BTreeMap;

use units::{ObjectId, PageNumber};

use crate::catalog::{CatalogRow, RowKind};
use crate::page::PageSize;
use crate::schema::{
    ColumnClass, ColumnDefinition, ColumnId, ColumnType, DEFAULT_LONGEST_KEY_BYTES, IndexCondition,
    IndexDefinition, KeySegment, TableDefinition, index_flags,
};

/// Location of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TreePlace {
    /// Its object identifier, which all of its pages carry.
    pub object: ObjectId,
    /// Its root page, which never changes.
    pub root: PageNumber,
}

/// A table with its places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogTable {
    /// The table's definition.
    pub definition: TableDefinition,
    /// The table itself, which is its primary index.
    pub place: TreePlace,
    /// The places of `definition.indexes`, one for each; the primary index has the table's own
    /// place.
    pub index_places: Vec<TreePlace>,
    /// The table's long-value tree, once it has one.
    pub long_values: Option<TreePlace>,
    /// Chunk size of its long values in bytes, if the catalog states it.
    pub long_value_chunk: Option<u32>,
    /// Flags of the table in the catalog.
    pub flags: u32,
    /// How full appends leave pages, in percent.
    pub density_percent: u32,
    /// Pages of the table's first extent.
    pub initial_pages: u32,
    /// The table that columns are inherited from; such columns are not in the definition.
    pub template: Option<String>,
    /// The inherited columns, those of the template's own template first.
    pub inherited: Vec<ColumnDefinition>,
}

/// Flags of the catalog and its copy. Other engine tables carry further bits below them.
const SYSTEM_TABLE_FLAGS: u32 = 0xC000_0000;
/// The flag carried by all tables of the engine.
const SYSTEM_TABLE_BIT: u32 = 0x8000_0000;
/// How full appends leave pages by default, in percent.
const DEFAULT_DENSITY_PERCENT: u32 = 80;
/// Flags set in every index row, with or without text columns (measured in real files).
const LC_MAP_FLAGS: u32 = 0x0003_0401;
/// In a stored key segment or condition: the column comes from the table's template.
const OF_TEMPLATE: u8 = 0x80;
/// In a stored key segment: the order is descending.
const SEGMENT_DESCENDING: u8 = 0x40;
/// In a stored condition: the column must be null if set, non-null if clear.
const MUST_BE_NULL: u8 = 0x20;
/// The name of every long-value row.
const LONG_VALUE_NAME: &str = "LV";
/// Fill level of long-value trees, in percent.
const LONG_VALUE_DENSITY_PERCENT: u32 = 100;

impl CatalogTable {
    /// A table to be created. `index_places` has the places of the secondary indexes, in order.
    pub fn new(
        definition: TableDefinition,
        place: TreePlace,
        index_places: Vec<TreePlace>,
        long_values: Option<TreePlace>,
    ) -> Self {
        let mut places = index_places;
        if definition.primary().is_some() {
            places.insert(0, place);
        }
        assert!(places.len() == definition.indexes.len(), "every index has one place");
        Self {
            definition,
            place,
            index_places: places,
            long_values,
            long_value_chunk: None,
            flags: 0,
            density_percent: DEFAULT_DENSITY_PERCENT,
            initial_pages: 1,
            template: None,
            inherited: Vec::new(),
        }
    }

    /// All columns: the inherited ones first, each group in the order of its numbers.
    pub fn columns(&self) -> impl Iterator<Item = &ColumnDefinition> {
        self.inherited.iter().chain(&self.definition.columns)
    }

    /// The column with this number: one of the template's, or one of the table's own. Both may use
    /// the same number; old indexes do not record which one they mean.
    pub(crate) fn column(&self, id: ColumnId, is_inherited: bool) -> Option<&ColumnDefinition> {
        let own = self.definition.column(id);
        let inherited = self.inherited.iter().rev().find(|column| column.id == id);
        if is_inherited { inherited.or(own) } else { own.or(inherited) }
    }

    /// Bytes of a long value in one chunk node.
    pub(crate) fn long_value_chunk_bytes(&self, page_size: PageSize) -> usize {
        let stated = self.long_value_chunk.filter(|bytes| *bytes > 0);
        stated.map_or(page_size.long_value_chunk_bytes(), |bytes| bytes as usize)
    }

    /// Marks the table as one of the engine's own.
    #[must_use]
    pub fn as_system_table(mut self) -> Self {
        self.flags = SYSTEM_TABLE_FLAGS;
        self
    }

    /// The secondary indexes with their places.
    pub fn secondaries(&self) -> impl Iterator<Item = (&IndexDefinition, TreePlace)> {
        let all = self.definition.indexes.iter().zip(self.index_places.iter().copied());
        all.filter(|(index, _)| !index.is_primary())
    }
}

/// The rows that describe `table`, in the catalog's order.
pub fn rows_of(table: &CatalogTable) -> Vec<CatalogRow> {
    let object = table.place.object;
    let mut rows = vec![CatalogRow {
        column_type_or_root: table.place.root.0,
        space_usage: table.density_percent,
        flags: table.flags,
        pages_or_locale: table.initial_pages,
        root_flag: true,
        template: table.template.clone(),
        ..CatalogRow::new(object, RowKind::Table, object.0, &table.definition.name)
    }];
    rows.extend(table.definition.columns.iter().map(|column| column_row(object, column)));
    let indexes = table.definition.indexes.iter().zip(&table.index_places);
    rows.extend(indexes.map(|(index, place)| index_row(table, index, *place)));
    rows.extend(table.long_values.map(|place| CatalogRow {
        column_type_or_root: place.root.0,
        space_usage: LONG_VALUE_DENSITY_PERCENT,
        pages_or_locale: 1,
        ..CatalogRow::new(object, RowKind::LongValue, place.object.0, LONG_VALUE_NAME)
    }));
    rows
}

fn column_row(table: ObjectId, column: &ColumnDefinition) -> CatalogRow {
    let is_fixed = column.id.class() == ColumnClass::Fixed;
    CatalogRow {
        column_type_or_root: column.column_type.number(),
        space_usage: column.max_bytes,
        flags: column.flags,
        pages_or_locale: column.code_page,
        record_offset: is_fixed.then_some(column.record_offset),
        default: column.default.clone(),
        ..CatalogRow::new(table, RowKind::Column, u32::from(column.id.0), &column.name)
    }
}

fn index_row(table: &CatalogTable, index: &IndexDefinition, place: TreePlace) -> CatalogRow {
    let own_limit = index.longest_key_bytes != DEFAULT_LONGEST_KEY_BYTES;
    CatalogRow {
        column_type_or_root: place.root.0,
        space_usage: table.density_percent,
        flags: index.flags,
        lc_map_flags: Some(LC_MAP_FLAGS),
        key_most: own_limit.then(|| u16::try_from(index.longest_key_bytes).unwrap_or(u16::MAX)),
        key_columns: index.segments.iter().copied().flat_map(encode_segment).collect(),
        locale_name: index.locale.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        ..CatalogRow::new(table.place.object, RowKind::Index, place.object.0, &index.name)
    }
}

fn encode_segment(segment: KeySegment) -> [u8; 4] {
    let [low, high] = segment.column.0.to_le_bytes();
    [if segment.is_descending { SEGMENT_DESCENDING } else { 0 }, 0, low, high]
}

/// The tables that `rows` describe, in the order of their object identifiers.
pub fn assemble(rows: impl IntoIterator<Item = CatalogRow>) -> Vec<CatalogTable> {
    let mut described: BTreeMap<ObjectId, Vec<CatalogRow>> = BTreeMap::new();
    for row in rows {
        described.entry(row.table).or_default().push(row);
    }
    let mut tables: Vec<_> = described.values().filter_map(|rows| table_of(rows)).collect();
    for index in 0..tables.len() {
        tables[index].inherited = inherited(&tables, &tables[index]);
    }
    tables
}

/// Maximum depth of template inheritance; a longer chain is a cycle.
const MOST_TEMPLATES: usize = 16;

/// The columns that a table inherits.
fn inherited(tables: &[CatalogTable], table: &CatalogTable) -> Vec<ColumnDefinition> {
    let mut columns: Vec<ColumnDefinition> = Vec::new();
    let mut template = table.template.as_deref();
    for _ in 0..MOST_TEMPLATES {
        let named = template.and_then(|name| tables.iter().find(|t| t.definition.name == name));
        let Some(found) = named else {
            break;
        };
        let own = found.definition.columns.iter().cloned();
        let own = own.map(|column| ColumnDefinition { is_inherited: true, ..column });
        columns.splice(0..0, own);
        template = found.template.as_deref();
    }
    columns
}

/// The table described by its rows; `None` if the row of the table itself is missing.
fn table_of(rows: &[CatalogRow]) -> Option<CatalogTable> {
    let table = of_kind(rows, RowKind::Table).next()?;
    let mut columns: Vec<_> = of_kind(rows, RowKind::Column).filter_map(column_of).collect();
    columns.sort_by_key(|column| column.id);
    if table.flags & SYSTEM_TABLE_BIT != 0 {
        // Their rows do not state the offsets of fixed columns: the engine knows that they are
        // packed.
        TableDefinition::pack_fixed_columns(&mut columns);
    }
    let mut indexes: Vec<_> =
        of_kind(rows, RowKind::Index).map(|row| (index_of(row), place_of(row))).collect();
    indexes.sort_by_key(|(index, _)| !index.is_primary());
    let (indexes, index_places) = indexes.into_iter().unzip();
    Some(CatalogTable {
        definition: TableDefinition { name: table.name.clone(), columns, indexes },
        place: place_of(table),
        index_places,
        long_values: of_kind(rows, RowKind::LongValue).next().map(place_of),
        long_value_chunk: stated_chunk(rows),
        flags: table.flags,
        density_percent: table.space_usage,
        initial_pages: table.pages_or_locale,
        template: table.template.clone(),
        inherited: Vec::new(),
    })
}

fn of_kind(rows: &[CatalogRow], kind: RowKind) -> impl Iterator<Item = &CatalogRow> {
    rows.iter().filter(move |row| row.kind == kind)
}

/// Location of a row's tree.
fn place_of(row: &CatalogRow) -> TreePlace {
    TreePlace { object: ObjectId(row.id), root: row.root() }
}

/// Chunk size of long values in bytes, stated in the row of the tree or of the table.
fn stated_chunk(rows: &[CatalogRow]) -> Option<u32> {
    let of_long_values = of_kind(rows, RowKind::LongValue);
    of_long_values.chain(of_kind(rows, RowKind::Table)).find_map(|row| row.long_value_chunk)
}

/// `None` for deleted columns, which keep their number with type 0.
fn column_of(row: &CatalogRow) -> Option<ColumnDefinition> {
    Some(ColumnDefinition {
        id: ColumnId(u16::try_from(row.id).ok()?),
        name: row.name.clone(),
        column_type: ColumnType::from_number(row.column_type_or_root)?,
        max_bytes: row.space_usage,
        flags: row.flags,
        code_page: row.pages_or_locale,
        record_offset: row.record_offset.unwrap_or(0),
        is_inherited: false,
        default: row.default.clone(),
    })
}

fn index_of(row: &CatalogRow) -> IndexDefinition {
    IndexDefinition {
        name: row.name.clone(),
        flags: row.flags,
        segments: stored_columns(row.flags, &row.key_columns)
            .map(|(column, flags)| KeySegment {
                column,
                is_descending: flags & SEGMENT_DESCENDING != 0,
                is_inherited: flags & OF_TEMPLATE != 0,
            })
            .collect(),
        conditions: stored_columns(row.flags, &row.conditions)
            .map(|(column, flags)| IndexCondition {
                column,
                is_null: flags & MUST_BE_NULL != 0,
                is_inherited: flags & OF_TEMPLATE != 0,
            })
            .collect(),
        longest_key_bytes: row.key_most.map_or(DEFAULT_LONGEST_KEY_BYTES, usize::from),
        is_tuple: row.is_tuple_index,
        locale: utf16(&row.locale_name),
    }
}

fn utf16(bytes: &[u8]) -> String {
    let units: Vec<u16> =
        bytes.as_chunks::<2>().0.iter().copied().map(u16::from_le_bytes).collect();
    let text = String::from_utf16_lossy(&units);
    text.trim_end_matches('\0').to_owned()
}

/// Columns as an index stores them, with their flags.
fn stored_columns(flags: u32, bytes: &[u8]) -> impl Iterator<Item = (ColumnId, u8)> {
    let is_long = flags & index_flags::EXTENDED_COLUMN_IDS != 0;
    bytes.chunks_exact(if is_long { 4 } else { 2 }).map(|stored| match *stored {
        [flags, _, low, high] => (ColumnId(u16::from_le_bytes([low, high])), flags),
        [low, high] => short_column(i16::from_le_bytes([low, high])),
        _ => (ColumnId(0), 0),
    })
}

/// Old indexes store only the column's number, negative if the segment is descending or the column
/// must be null.
fn short_column(number: i16) -> (ColumnId, u8) {
    let flags = if number < 0 { SEGMENT_DESCENDING | MUST_BE_NULL } else { 0 };
    (ColumnId(number.unsigned_abs()), flags)
}
