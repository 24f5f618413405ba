//! The system tables of a file with one user table: catalog, its shadow, and the list of objects.
//!
//! Where the roots stand and what the rows say follows `docs/format.md`: databases of other
//! programs have exactly this beginning.

use ese::key::{self, KeyError};
use ese::page::{PageSize, page_flags};
use ese::record::{RecordBuilder, RecordError};
use ese::schema::{
    ColumnClass, ColumnDefinition, ColumnId, ColumnType, IndexDefinition, TableDefinition,
    column_flags, index_flags,
};
use ese::space::{Extent, Extents, SpaceHeader};
use units::{ObjectId, PageNumber};

use super::extents::Owner;
use super::sink::PageSink;
use super::space::{Frontier, Growth, TreeSpace};
use super::tree::{EntryProblem, Ground, TreeBuilder, TreeShape};

/// The root of the database's own space.
pub(super) const DATABASE_ROOT: PageNumber = PageNumber(1);
/// The object of the database's own space.
pub(super) const DATABASE_OBJECT: ObjectId = ObjectId(1);
/// The first object and root page that a user table may have.
pub(super) const FIRST_USER_OBJECT: ObjectId = ObjectId(7);
pub(super) const FIRST_USER_ROOT: PageNumber = PageNumber(30);

const OBJECTS: Owner = owner(2, 0, 4, 1, 20);
const NAME_INDEX: Owner = owner(4, page_flags::INDEX, 7, 4, 3);
const ROOT_INDEX: Owner = owner(5, page_flags::INDEX, 10, 4, 3);
const SHADOW: Owner = owner(3, 0, 24, 1, 5);
const OBJECT_IDS: Owner = owner(6, 0, 29, 1, 1);

/// Pages of the catalog's first extent that no root occupies, and of its shadow's.
const OBJECTS_POOL: Extent = Extent {
    last: PageNumber(23),
    pages: 11,
};
const SHADOW_POOL: Extent = Extent {
    last: PageNumber(28),
    pages: 2,
};

/// Density of ordinary trees, in percent, as rows state it.
pub(super) const TABLE_DENSITY_PERCENT: u32 = 80;
/// Density of trees that never grow inside.
pub(super) const FULL_DENSITY_PERCENT: u32 = 100;
/// Flags of system tables: system, fixed columns.
const SYSTEM_TABLE: u32 = 0xC000_0000;
/// The same, and created when first needed.
const LATER_SYSTEM_TABLE: u32 = 0xC800_0000;
/// How Unicode text would be compared; stated by every index row.
const TEXT_COMPARISON: u32 = 0x3_0401;
/// The locale of every index: `en-US` in UTF-16.
const LOCALE: &[u8] = b"e\0n\0-\0U\0S\0";

const fn owner(object: u32, flags: u32, root: u32, parent: u32, primary_pages: u32) -> Owner {
    Owner {
        object: ObjectId(object),
        flags,
        root: PageNumber(root),
        parent: PageNumber(parent),
        primary_pages,
    }
}

/// Why the catalog could not be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CatalogProblem {
    /// A name or default value does not fit its catalog column.
    Record(RecordError),
    /// A name has no key.
    Key(KeyError),
    /// Two objects have the same name.
    Repeated { name: String },
    /// So many rows do not fit the catalog's first extents.
    TooManyRows,
}

/// Keys and data of a tree.
type Entries = Vec<(Vec<u8>, Vec<u8>)>;

/// Where the trees of a table stand.
pub(super) struct Placed<'t> {
    pub(super) definition: &'t TableDefinition,
    pub(super) table: Owner,
    /// The secondary indexes, in the definition's order.
    pub(super) indexes: Vec<Owner>,
    pub(super) long_values: Option<Owner>,
    pub(super) flags: u32,
    pub(super) density_percent: u32,
}

/// A row of the catalog.
#[derive(Default)]
struct CatalogRow {
    table: u32,
    kind: i16,
    id: u32,
    type_or_root: u32,
    usage: u32,
    flags: u32,
    pages_or_code_page: u32,
    is_root: bool,
    record_offset: Option<u16>,
    name: String,
    /// Index rows: the columns of the key.
    key_columns: Option<Vec<u8>>,
    longest_key_bytes: Option<u16>,
    default: Vec<u8>,
}

/// Values of the column `Type`.
mod kind {
    pub(super) const TABLE: i16 = 1;
    pub(super) const COLUMN: i16 = 2;
    pub(super) const INDEX: i16 = 3;
    pub(super) const LONG_VALUES: i16 = 4;
}

/// Builds every page of the system tables into `sink`, whose units for the fixed roots are open.
pub(super) fn write_system_tables(
    sink: &mut PageSink,
    user: &Placed<'_>,
) -> Result<(), CatalogProblem> {
    let size = sink.page_size();
    let (objects, ids) = (catalog_definition(), object_ids_definition());
    let shadow = TableDefinition {
        name: "MSysObjectsShadow".to_owned(),
        indexes: objects.indexes[..1].to_vec(),
        ..objects.clone()
    };
    let system = |definition, table, indexes, flags, density_percent| Placed {
        definition,
        table,
        indexes,
        long_values: None,
        flags,
        density_percent,
    };
    let tables = [
        &system(
            &objects,
            OBJECTS,
            vec![NAME_INDEX, ROOT_INDEX],
            SYSTEM_TABLE,
            80,
        ),
        &system(&shadow, SHADOW, Vec::new(), SYSTEM_TABLE, 80),
        &system(&ids, OBJECT_IDS, Vec::new(), LATER_SYSTEM_TABLE, 100),
        user,
    ];
    let rows: Vec<_> = tables.iter().flat_map(|table| table.rows()).collect();
    write_catalog(sink, &objects, &rows, size)?;
    write_shadow(sink, &objects, &rows, size)?;
    write_object_ids(sink, &ids, &rows, size)
}

fn write_catalog(
    sink: &mut PageSink,
    definition: &TableDefinition,
    rows: &[CatalogRow],
    size: PageSize,
) -> Result<(), CatalogProblem> {
    let mut frontier = Frontier::new(OBJECTS_POOL.first(), OBJECTS_POOL.last.0 + 1);
    let primary = &definition.indexes[0];
    let entries = |index: &IndexDefinition| -> Result<Entries, CatalogProblem> {
        let wanted = rows
            .iter()
            .filter(|row| row.is_root || index.name != "RootObjects");
        let entry =
            |row: &CatalogRow| Ok((row.key(definition, index)?, row.key(definition, primary)?));
        wanted.map(entry).collect()
    };
    for (index, owner) in definition.indexes[1..].iter().zip([NAME_INDEX, ROOT_INDEX]) {
        let mut space = build_tree(sink, &mut frontier, owner, entries(index)?)?;
        let mut ground = Ground {
            frontier: &mut frontier,
            sink,
        };
        owner.write_grown_extents(&mut ground, &mut space);
    }
    let records = records(definition, rows, size)?;
    build_tree(sink, &mut frontier, OBJECTS, records)?;
    write_pool(sink, OBJECTS, OBJECTS_POOL, &frontier)
}

fn write_shadow(
    sink: &mut PageSink,
    definition: &TableDefinition,
    rows: &[CatalogRow],
    size: PageSize,
) -> Result<(), CatalogProblem> {
    let mut frontier = Frontier::new(SHADOW_POOL.first(), SHADOW_POOL.last.0 + 1);
    let records = records(definition, rows, size)?;
    build_tree(sink, &mut frontier, SHADOW, records)?;
    write_pool(sink, SHADOW, SHADOW_POOL, &frontier)
}

/// One row for every tree: which table it belongs to and what it is.
fn write_object_ids(
    sink: &mut PageSink,
    definition: &TableDefinition,
    rows: &[CatalogRow],
    size: PageSize,
) -> Result<(), CatalogProblem> {
    let mut builder = RecordBuilder::new(definition, size);
    let mut entries = Vec::new();
    let is_primary = |row: &CatalogRow| row.kind == kind::INDEX && row.id == row.table;
    for row in rows
        .iter()
        .filter(|row| row.kind != kind::COLUMN && !is_primary(row))
    {
        builder.clear();
        let (id, table, kind) = (
            row.id.to_le_bytes(),
            row.table.to_le_bytes(),
            row.kind.to_le_bytes(),
        );
        for (column, value) in [(256, &id[..]), (257, &table), (258, &kind)] {
            builder
                .set(ColumnId(column), value)
                .map_err(CatalogProblem::Record)?;
        }
        let (mut record, mut key) = (Vec::new(), Vec::new());
        builder
            .finish(&mut record)
            .map_err(CatalogProblem::Record)?;
        key::index_key(
            definition,
            &definition.indexes[0],
            |_| Some(&id[..]),
            &mut key,
        )
        .map_err(CatalogProblem::Key)?;
        entries.push((key, record));
    }
    entries.sort();
    let header = SpaceHeader {
        primary_pages: OBJECT_IDS.primary_pages,
        parent: OBJECT_IDS.parent,
        is_non_unique: false,
        extents: Extents::Single { available: 0 },
    };
    let entries = entries.iter().map(|(key, record)| (key, record));
    let shape = shape_of(OBJECT_IDS);
    if super::tree::build_single_page(sink, &shape, OBJECT_IDS.root, header.encode(), entries) {
        Ok(())
    } else {
        Err(CatalogProblem::TooManyRows)
    }
}

/// Builds the tree of an owner from entries in any order.
fn build_tree(
    sink: &mut PageSink,
    frontier: &mut Frontier,
    owner: Owner,
    mut entries: Entries,
) -> Result<TreeSpace, CatalogProblem> {
    entries.sort();
    let growth = Growth {
        extent_pages: 1,
        unit_pages: 1,
    };
    let space = TreeSpace::new(owner.primary(), growth);
    let mut tree = TreeBuilder::new(shape_of(owner), sink.page_size(), space);
    let mut ground = Ground { frontier, sink };
    for (key, data) in &entries {
        tree.append(&mut ground, key, data)
            .map_err(|problem| match problem {
                EntryProblem::Unordered => CatalogProblem::Repeated {
                    name: String::from_utf8_lossy(key).into_owned(),
                },
                EntryProblem::TooLarge => CatalogProblem::TooManyRows,
            })?;
    }
    tree.finish(&mut ground, owner.root, owner.space_header());
    Ok(tree.space)
}

/// Writes the space trees of a table that owns its first extent and nothing else.
fn write_pool(
    sink: &mut PageSink,
    owner: Owner,
    pool: Extent,
    frontier: &Frontier,
) -> Result<(), CatalogProblem> {
    if frontier.next().0 > pool.last.0 + 1 {
        return Err(CatalogProblem::TooManyRows);
    }
    let free = Extent::starting(frontier.next(), frontier.left());
    let available: &[Extent] = if free.pages > 0 { &[free] } else { &[] };
    owner.write_extents(sink, &[owner.primary()], available);
    Ok(())
}

const fn shape_of(owner: Owner) -> TreeShape {
    TreeShape {
        object: owner.object,
        flags: owner.flags,
        reserve_bytes: 0,
        compress: true,
    }
}

/// Primary key and record of every row.
fn records(
    definition: &TableDefinition,
    rows: &[CatalogRow],
    size: PageSize,
) -> Result<Entries, CatalogProblem> {
    let mut builder = RecordBuilder::new(definition, size);
    let mut one = |row: &CatalogRow| {
        let mut record = Vec::new();
        builder.clear();
        row.encode(&mut builder, &mut record)
            .map_err(CatalogProblem::Record)?;
        Ok((row.key(definition, &definition.indexes[0])?, record))
    };
    rows.iter().map(&mut one).collect()
}

impl CatalogRow {
    fn encode(&self, builder: &mut RecordBuilder, out: &mut Vec<u8>) -> Result<(), RecordError> {
        let mut set = |column, value: &[u8]| builder.set(ColumnId(column), value);
        set(1, &self.table.to_le_bytes())?;
        set(2, &self.kind.to_le_bytes())?;
        set(3, &self.id.to_le_bytes())?;
        set(4, &self.type_or_root.to_le_bytes())?;
        set(5, &self.usage.to_le_bytes())?;
        set(6, &self.flags.to_le_bytes())?;
        set(7, &self.pages_or_code_page.to_le_bytes())?;
        if self.is_root {
            set(8, &[0xFF])?;
        }
        if let Some(offset) = self.record_offset {
            set(9, &offset.to_le_bytes())?;
        }
        if self.key_columns.is_some() {
            set(10, &TEXT_COMPARISON.to_le_bytes())?;
        }
        if let Some(bytes) = self.longest_key_bytes {
            set(11, &bytes.to_le_bytes())?;
        }
        set(128, self.name.as_bytes())?;
        if !self.default.is_empty() {
            set(131, &self.default)?;
        }
        if let Some(columns) = &self.key_columns {
            set(132, columns)?;
            set(261, LOCALE)?;
        }
        builder.finish(out)
    }

    fn key(
        &self,
        definition: &TableDefinition,
        index: &IndexDefinition,
    ) -> Result<Vec<u8>, CatalogProblem> {
        let (table, kind, id) = (
            self.table.to_le_bytes(),
            self.kind.to_le_bytes(),
            self.id.to_le_bytes(),
        );
        let value = |column: ColumnId| match column.0 {
            1 => Some(&table[..]),
            2 => Some(&kind[..]),
            3 => Some(&id[..]),
            8 => self.is_root.then_some(&[0xFF][..]),
            _ => Some(self.name.as_bytes()),
        };
        let mut key = Vec::new();
        key::index_key(definition, index, value, &mut key).map_err(CatalogProblem::Key)?;
        Ok(key)
    }
}

impl Placed<'_> {
    /// The rows of the table, its columns, its indexes and its long values.
    fn rows(&self) -> Vec<CatalogRow> {
        let mut rows = vec![self.tree_row(kind::TABLE, self.table, &self.definition.name)];
        rows[0].is_root = true;
        rows[0].flags = self.flags;
        rows[0].pages_or_code_page = self.table.primary_pages;
        rows.extend(
            self.definition
                .columns
                .iter()
                .map(|column| self.column_row(column)),
        );
        let mut roots = self.indexes.iter();
        for index in &self.definition.indexes {
            let own = if index.is_primary() {
                Some(&self.table)
            } else {
                roots.next()
            };
            let own = own.expect("invariant: every secondary index has a root");
            rows.push(self.index_row(index, *own));
        }
        if let Some(owner) = self.long_values {
            let row = self.tree_row(kind::LONG_VALUES, owner, "LV");
            rows.push(CatalogRow {
                usage: FULL_DENSITY_PERCENT,
                pages_or_code_page: 1,
                ..row
            });
        }
        rows
    }

    fn tree_row(&self, kind: i16, owner: Owner, name: &str) -> CatalogRow {
        CatalogRow {
            table: self.table.object.0,
            kind,
            id: owner.object.0,
            type_or_root: owner.root.0,
            usage: self.density_percent,
            name: name.to_owned(),
            ..CatalogRow::default()
        }
    }

    fn index_row(&self, index: &IndexDefinition, owner: Owner) -> CatalogRow {
        let mut columns = Vec::new();
        for segment in &index.segments {
            columns.extend_from_slice(&[u8::from(segment.is_descending), 0]);
            columns.extend_from_slice(&segment.column.0.to_le_bytes());
        }
        let stated = index.longest_key_bytes != ese::schema::DEFAULT_LONGEST_KEY_BYTES;
        CatalogRow {
            flags: index.flags,
            key_columns: Some(columns),
            longest_key_bytes: u16::try_from(index.longest_key_bytes)
                .ok()
                .filter(|_| stated),
            ..self.tree_row(kind::INDEX, owner, &index.name)
        }
    }

    fn column_row(&self, column: &ColumnDefinition) -> CatalogRow {
        let is_fixed = column.id.class() == ColumnClass::Fixed;
        CatalogRow {
            table: self.table.object.0,
            kind: kind::COLUMN,
            id: u32::from(column.id.0),
            type_or_root: column.column_type.number(),
            usage: column.max_bytes,
            flags: column.flags,
            pages_or_code_page: column.code_page,
            record_offset: is_fixed.then_some(column.record_offset),
            name: column.name.clone(),
            default: column.default.clone(),
            ..CatalogRow::default()
        }
    }
}

/// The catalog itself, up to the columns of format update 20.
fn catalog_definition() -> TableDefinition {
    let fixed = [
        ("ObjidTable", ColumnType::Long),
        ("Type", ColumnType::Short),
        ("Id", ColumnType::Long),
        ("ColtypOrPgnoFDP", ColumnType::Long),
        ("SpaceUsage", ColumnType::Long),
        ("Flags", ColumnType::Long),
        ("PagesOrLocale", ColumnType::Long),
        ("RootFlag", ColumnType::Bit),
        ("RecordOffset", ColumnType::Short),
        ("LCMapFlags", ColumnType::Long),
        ("KeyMost", ColumnType::UnsignedShort),
        ("LVChunkMax", ColumnType::Long),
    ];
    let variable = [
        ("Name", ColumnType::Text),
        ("Stats", ColumnType::Binary),
        ("TemplateTable", ColumnType::Text),
        ("DefaultValue", ColumnType::Binary),
        ("KeyFldIDs", ColumnType::Binary),
        ("VarSegMac", ColumnType::Binary),
        ("ConditionalColumns", ColumnType::Binary),
        ("TupleLimits", ColumnType::Binary),
        ("Version", ColumnType::Binary),
        ("SortID", ColumnType::Binary),
    ];
    let tagged = [
        "CallbackData",
        "CallbackDependencies",
        "SeparateLV",
        "SpaceHints",
        "SpaceDeferredLVHints",
        "LocaleName",
    ];
    let mut columns = Vec::new();
    for (id, (name, kind)) in (1..).zip(fixed).chain((128..).zip(variable)) {
        let mut column = ColumnDefinition::new(id, name, kind, 255);
        if matches!(id, 1..=7 | 128) {
            column.flags |= column_flags::NOT_NULL;
        }
        columns.push(column);
    }
    for (id, name) in (256..).zip(tagged) {
        columns.push(ColumnDefinition::new(id, name, ColumnType::LongBinary, 0));
    }
    let ordinary = index_flags::EXTENDED_COLUMN_IDS | index_flags::ALLOW_SOME_NULLS;
    let unique =
        index_flags::EXTENDED_COLUMN_IDS | index_flags::NO_NULL_SEGMENT | index_flags::UNIQUE;
    let indexes = vec![
        IndexDefinition::new("Id", unique | index_flags::PRIMARY, &[1, 2, 3]),
        IndexDefinition::new("Name", unique, &[1, 2, 128]),
        IndexDefinition::new("RootObjects", ordinary | index_flags::UNIQUE, &[8, 128]),
    ];
    TableDefinition::new("MSysObjects", columns, indexes)
}

fn object_ids_definition() -> TableDefinition {
    let columns = vec![
        ColumnDefinition::new(256, "objid", ColumnType::Long, 0),
        ColumnDefinition::new(257, "objidTable", ColumnType::Long, 0),
        ColumnDefinition::new(258, "type", ColumnType::Short, 0),
    ];
    let primary = IndexDefinition::new("primary", index_flags::ORDINARY_PRIMARY, &[256]);
    TableDefinition::new("MSysObjids", columns, vec![primary])
}
