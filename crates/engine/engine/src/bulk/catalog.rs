//! The system tables of a file with one user table: catalog, its shadow, and the list of objects.
//!
//! The format fixes the positions of their roots; databases of other programs begin the same way.

use ese::catalog::{
    CatalogRow, CatalogTable, OBJECTS_NAME, OBJECTS_SHADOW_NAME, RowKind, SystemTree, TreePlace,
    catalog_definition, object_ids_definition, rows_of,
    system_trees::OBJECTS_SHADOW as SHADOW,
    system_trees::{DATABASE, OBJECT_IDS, OBJECTS, OBJECTS_NAME as NAMES, OBJECTS_ROOT as ROOTS},
};
use ese::key::{self, KeyError};
use ese::page::{PageSize, page_flags};
use ese::record::{RecordBuilder, RecordError};
use ese::schema::{ColumnId, TableDefinition};
use ese::space::{Extent, ExtentSet, Extents, SpaceHeader};
use units::PageNumber;

use super::error::BulkError;
use super::extents::Owner;
use super::sink::PageSink;
use super::space::{Frontier, SpaceGrowth, TreeSpace};
use super::tree::{EntryProblem, Ground, TreeBuilder, TreeShape, build_single_page};

/// The root page of the first user table: follows the list of objects.
pub(super) const FIRST_USER_ROOT: PageNumber = PageNumber(OBJECT_IDS.root.0 + 1);

/// Density of ordinary trees, in percent, as recorded in catalog rows.
pub(super) const TABLE_DENSITY_PERCENT: u32 = 80;
/// Density of trees that never get inserts in the middle.
pub(super) const FULL_DENSITY_PERCENT: u32 = 100;
/// Flag of system tables that are created when first needed.
const CREATED_LATER: u32 = 0x0800_0000;
/// Root pages of a tree and its two space trees.
const ROOT_PAGES: u32 = 3;

/// Why the catalog could not be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CatalogProblem {
    /// A name or default value does not fit its catalog column.
    Record(RecordError),
    /// A name has no key.
    Key(KeyError),
    /// Two objects have the same name.
    Repeated { name: String },
    /// More rows than fit the catalog's first extents.
    TooManyRows,
}

impl CatalogProblem {
    /// Converts the problem to the error of filling `file`.
    pub(super) fn of(self, file: &str) -> BulkError {
        let problem = match self {
            Self::Record(error) => error.to_string(),
            Self::Key(error) => error.to_string(),
            Self::Repeated { name } => format!("two columns or indexes share the name {name}"),
            Self::TooManyRows => "its columns and indexes do not fit the catalog's first pages; \
                 use fewer or larger pages"
                .to_owned(),
        };
        BulkError::Schema { file: file.to_owned(), problem }
    }
}

/// Keys and data of a tree.
type Entries = Vec<(Vec<u8>, Vec<u8>)>;

/// The units that hold the roots of system tables, and those of the user table up to `end`.
pub(super) fn root_units(end: PageNumber) -> [Extent; 3] {
    let past_roots = ROOTS.root.0 + ROOT_PAGES;
    let behind_shadow = SHADOW.root.0 + SHADOW.primary_pages;
    [
        Extent::starting(DATABASE.root, past_roots - DATABASE.root.0),
        Extent::starting(SHADOW.root, ROOT_PAGES),
        Extent::starting(PageNumber(behind_shadow), end.0 - behind_shadow),
    ]
}

/// Builds every page of the system tables into `sink`, whose units for the fixed roots are open.
pub(super) fn write_system_tables(
    sink: &mut PageSink,
    user: &CatalogTable,
) -> Result<(), CatalogProblem> {
    let rows = all_rows(user);
    write_catalog(sink, &rows)?;
    write_shadow(sink, &rows)?;
    write_object_ids(sink, &rows)
}

/// The rows of the system tables and of the user table.
fn all_rows(user: &CatalogTable) -> Vec<CatalogRow> {
    let indexes = vec![place(NAMES), place(ROOTS)];
    let objects = system_table(catalog_definition(OBJECTS_NAME), OBJECTS, indexes);
    let shadow = system_table(catalog_definition(OBJECTS_SHADOW_NAME), SHADOW, Vec::new());
    let mut ids = system_table(object_ids_definition(), OBJECT_IDS, Vec::new());
    ids.flags |= CREATED_LATER;
    ids.density_percent = FULL_DENSITY_PERCENT;
    [&objects, &shadow, &ids, user].into_iter().flat_map(rows_of).collect()
}

const fn place(tree: SystemTree) -> TreePlace {
    TreePlace { object: tree.object, root: tree.root }
}

fn system_table(
    definition: TableDefinition,
    tree: SystemTree,
    indexes: Vec<TreePlace>,
) -> CatalogTable {
    let mut table = CatalogTable::new(definition, place(tree), indexes, None);
    table.initial_pages = tree.primary_pages;
    table.as_system_table()
}

fn write_catalog(sink: &mut PageSink, rows: &[CatalogRow]) -> Result<(), CatalogProblem> {
    // Its indexes take their pages from the catalog's own extent, after all roots.
    let pool = Extent::starting(
        PageNumber(ROOTS.root.0 + ROOT_PAGES),
        OBJECTS.root.0 + OBJECTS.primary_pages - ROOTS.root.0 - ROOT_PAGES,
    );
    let mut frontier = Frontier::new(pool.first(), pool.last.0 + 1);
    for (number, tree) in [(1, NAMES), (2, ROOTS)] {
        let owner = Owner {
            flags: page_flags::INDEX,
            parent: OBJECTS.root,
            primary_pages: ROOT_PAGES,
            ..owner_of(tree)
        };
        let mut space = build_tree(sink, &mut frontier, owner, index_entries(rows, number)?)?;
        let mut ground = Ground { frontier: &mut frontier, sink };
        owner.write_grown_extents(&mut ground, &mut space);
    }
    let records = records(rows, sink.page_size())?;
    let space = build_tree(sink, &mut frontier, owner_of(OBJECTS), records)?;
    write_pool(sink, owner_of(OBJECTS), pool, (&frontier, &space))
}

fn write_shadow(sink: &mut PageSink, rows: &[CatalogRow]) -> Result<(), CatalogProblem> {
    let pool =
        Extent::starting(PageNumber(SHADOW.root.0 + ROOT_PAGES), SHADOW.primary_pages - ROOT_PAGES);
    let mut frontier = Frontier::new(pool.first(), pool.last.0 + 1);
    let records = records(rows, sink.page_size())?;
    let space = build_tree(sink, &mut frontier, owner_of(SHADOW), records)?;
    write_pool(sink, owner_of(SHADOW), pool, (&frontier, &space))
}

fn is_tree(row: &CatalogRow) -> bool {
    let is_primary = row.kind == RowKind::Index && row.id == row.table.0;
    row.kind != RowKind::Column && !is_primary
}

/// Writes one row per tree, with its table and kind.
fn write_object_ids(sink: &mut PageSink, rows: &[CatalogRow]) -> Result<(), CatalogProblem> {
    let definition = object_ids_definition();
    let mut builder = RecordBuilder::new(&definition, sink.page_size());
    let mut entries = Entries::new();
    for row in rows.iter().filter(|row| is_tree(row)) {
        let (id, table) = (row.id.to_le_bytes(), row.table.0.to_le_bytes());
        let kind = row.kind.number().to_le_bytes();
        builder.clear();
        for (column, value) in [(256, &id[..]), (257, &table), (258, &kind[..2])] {
            builder.set(ColumnId(column), value).map_err(CatalogProblem::Record)?;
        }
        let (mut record, mut key) = (Vec::new(), Vec::new());
        builder.finish(&mut record).map_err(CatalogProblem::Record)?;
        key::index_key(&definition, &definition.indexes[0], |_| Some(&id[..]), &mut key)
            .map_err(CatalogProblem::Key)?;
        entries.push((key, record));
    }
    entries.sort();
    let header = SpaceHeader {
        primary_pages: OBJECT_IDS.primary_pages,
        parent: DATABASE.root,
        is_non_unique: false,
        extents: Extents::Single { available: 0 },
    };
    let entries = entries.iter().map(|(key, record)| (key, record));
    let shape = shape_of(owner_of(OBJECT_IDS));
    if build_single_page(sink, &shape, OBJECT_IDS.root, header.encode(), entries) {
        Ok(())
    } else {
        Err(CatalogProblem::TooManyRows)
    }
}

/// The table of a system tree, which takes its space from the database.
const fn owner_of(tree: SystemTree) -> Owner {
    Owner {
        object: tree.object,
        flags: 0,
        root: tree.root,
        parent: DATABASE.root,
        primary_pages: tree.primary_pages,
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
    let growth = SpaceGrowth { extent_pages: 1, unit_pages: 1 };
    let space = TreeSpace::new(owner.primary(), growth);
    let mut tree = TreeBuilder::new(shape_of(owner), sink.page_size(), space);
    let mut ground = Ground { frontier, sink };
    for (key, data) in &entries {
        tree.append(&mut ground, key, data).map_err(|problem| match problem {
            EntryProblem::Unordered => {
                CatalogProblem::Repeated { name: String::from_utf8_lossy(key).into_owned() }
            }
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
    (frontier, space): (&Frontier, &TreeSpace),
) -> Result<(), CatalogProblem> {
    if frontier.next().0 > pool.last.0 + 1 {
        return Err(CatalogProblem::TooManyRows);
    }
    // A tree that turned out to be a single page has given its leaf back.
    let rest = Extent::starting(frontier.next(), frontier.left());
    let free = ExtentSet::new(space.available().into_iter().chain([rest]));
    owner.write_extents(sink, &[owner.primary()], free.extents());
    Ok(())
}

const fn shape_of(owner: Owner) -> TreeShape {
    TreeShape { object: owner.object, flags: owner.flags, reserve_bytes: 0, compress: true }
}

/// Primary key and record of every row.
fn records(rows: &[CatalogRow], size: PageSize) -> Result<Entries, CatalogProblem> {
    let mut entries = Entries::new();
    for row in rows {
        let mut record = Vec::new();
        row.encode(size, &mut record).map_err(CatalogProblem::Record)?;
        entries.push((primary_key(row)?, record));
    }
    Ok(entries)
}

/// The entries of the catalog's index `number`: its key, then the primary key.
fn index_entries(rows: &[CatalogRow], number: usize) -> Result<Entries, CatalogProblem> {
    let mut entries = Entries::new();
    for row in rows {
        let keys = row.keys().map_err(CatalogProblem::Key)?;
        if let Some(key) = &keys[number] {
            entries.push((key.clone(), primary_key(row)?));
        }
    }
    Ok(entries)
}

fn primary_key(row: &CatalogRow) -> Result<Vec<u8>, CatalogProblem> {
    let keys = row.keys().map_err(CatalogProblem::Key)?;
    let first = keys.into_iter().next().flatten();
    Ok(first.expect("invariant: every row is in the primary index"))
}
