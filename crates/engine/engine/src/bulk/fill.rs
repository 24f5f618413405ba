//! Turns rows into the entries of the table, its indexes and its long values.

use ese::catalog::{CatalogTable, system_trees};
use ese::key;
use ese::long_value::{LongValueId, LongValueRoot, chunks};
use ese::page::{PageSize, page_flags};
use ese::record::RecordBuilder;
use ese::schema::{ColumnDefinition, ColumnId, IndexDefinition, TableDefinition};
use ese::space::Extent;
use units::{ObjectId, PageNumber};

use super::catalog::{
    self, CatalogProblem, FIRST_USER_ROOT, FULL_DENSITY_PERCENT, TABLE_DENSITY_PERCENT,
};
use super::extents::Owner;
use super::sink::PageSink;
use super::space::{Frontier, SpaceGrowth, TreeSpace};
use super::tree::{EntryProblem, Ground, TreeBuilder, TreeShape};
use super::{Amount, BulkOptions, RowProblem, RowSource};
use crate::row::Row;

/// Bytes of one write.
const UNIT_BYTES: usize = 1 << 20;
/// Root pages of a tree and its space trees.
const ROOTS: u32 = 3;
/// Number of writes that may still be needed at the end of a file for branch levels, space trees
/// and open rows.
const LAST_UNITS: u32 = 5;
/// Minimum file size in pages: that of the smallest databases from other programs.
const LEAST_PAGES: u32 = 254;

/// A database file under construction, without any I/O.
pub(super) struct Fill {
    pub(super) sink: PageSink,
    frontier: Frontier,
    page_size: PageSize,
    reserve_pages: u32,
    most_rows: u64,
    table: BulkTree,
    indexes: Vec<(IndexDefinition, BulkTree)>,
    long_values: Option<BulkTree>,
    definition: TableDefinition,
    encoder: Encoder,
    rows: u64,
    last_long_value: u32,
}

struct BulkTree {
    owner: Owner,
    builder: TreeBuilder,
}

/// Encodes rows, reusing its memory from one row to the next.
struct Encoder {
    row: Row,
    record: RecordBuilder,
    bytes: Vec<u8>,
    key: Vec<u8>,
    index_key: Vec<u8>,
}

impl Fill {
    /// Lays out the roots and builds the system tables.
    pub(super) fn new(options: &BulkOptions) -> Result<Self, CatalogProblem> {
        let size = options.page_size;
        let secondaries: Vec<_> = options.table.secondaries().cloned().collect();
        let definition = &options.table;
        let trees = BulkTrees::place(definition, &secondaries);
        let end = PageNumber(trees.end);
        let file_pages = match options.amount {
            Amount::File(bytes) => u32::try_from(size.pages_of_file(bytes.0)).unwrap_or(u32::MAX),
            Amount::Rows(_) => u32::MAX,
        };
        let reserve_pages = u32::try_from(options.reserve.0 / size.bytes_u64()).unwrap_or(u32::MAX);
        let limit = file_pages.saturating_sub(reserve_pages).min(i32::MAX.cast_unsigned());
        let mut sink = PageSink::new(size);
        for unit in catalog::root_units(end) {
            sink.open_unit(unit);
        }
        catalog::write_system_tables(&mut sink, &trees.catalog_table(definition))?;
        Ok(Self {
            sink,
            frontier: Frontier::new(end, limit),
            page_size: size,
            reserve_pages,
            most_rows: match options.amount {
                Amount::Rows(rows) => rows,
                Amount::File(_) => u64::MAX,
            },
            table: BulkTree::new(trees.table, TABLE_DENSITY_PERCENT, size, limit),
            indexes: secondaries
                .into_iter()
                .zip(&trees.indexes)
                .map(|(index, owner)| {
                    (index, BulkTree::new(*owner, TABLE_DENSITY_PERCENT, size, limit))
                })
                .collect(),
            long_values: trees
                .long_values
                .map(|owner| BulkTree::new(owner, FULL_DENSITY_PERCENT, size, limit)),
            definition: definition.clone(),
            encoder: Encoder {
                row: Row::new(),
                record: RecordBuilder::new(definition, size),
                bytes: Vec::new(),
                key: Vec::new(),
                index_key: Vec::new(),
            },
            rows: 0,
            last_long_value: 0,
        })
    }

    /// Rows added so far.
    pub(super) const fn rows(&self) -> u64 {
        self.rows
    }

    /// Long values added so far.
    pub(super) const fn long_values(&self) -> u64 {
        self.last_long_value as u64
    }

    /// The highest object identifier in use.
    pub(super) fn last_object(&self) -> ObjectId {
        let owners = self.indexes.iter().map(|(_, tree)| tree).chain(&self.long_values);
        let highest = owners.map(|tree| tree.owner.object).max();
        highest.unwrap_or(self.table.owner.object)
    }

    /// Whether another row fits.
    fn has_room(&self) -> bool {
        let last = LAST_UNITS * unit_pages(self.page_size);
        self.rows < self.most_rows && self.frontier.left() > last
    }

    /// Adds rows until a write is ready; false when there are no more.
    pub(super) fn add_rows(&mut self, source: &mut impl RowSource) -> Result<bool, RowProblem> {
        while !self.sink.has_write() {
            if !self.has_room() {
                return Ok(false);
            }
            self.encoder.row.clear();
            if !source.fill(&mut self.encoder.row) {
                return Ok(false);
            }
            self.add_row()?;
            self.rows += 1;
        }
        Ok(true)
    }

    fn add_row(&mut self) -> Result<(), RowProblem> {
        let mut ground = Ground { frontier: &mut self.frontier, sink: &mut self.sink };
        let Encoder { row, record, bytes, key, index_key } = &mut self.encoder;
        let primary = &self.definition.indexes[0];
        key::index_key(&self.definition, primary, |id| row.get(id.0), key)?;
        record.clear();
        for (column, value) in row.columns() {
            let id = ColumnId(column);
            let is_long = self.definition.column(id).is_some_and(is_long);
            match &mut self.long_values {
                Some(tree) if is_long => {
                    self.last_long_value += 1;
                    let long_value = LongValueId(u64::from(self.last_long_value));
                    add_long_value(
                        &mut tree.builder,
                        &mut ground,
                        self.page_size,
                        long_value,
                        value,
                    )?;
                    record.set_separated(id, long_value)?;
                }
                _ => record.set(id, value)?,
            }
        }
        bytes.clear();
        record.finish(bytes)?;
        self.table.builder.append(&mut ground, key, bytes)?;
        for (index, tree) in &mut self.indexes {
            key::index_key(&self.definition, index, |id| row.get(id.0), index_key)?;
            tree.builder.append(&mut ground, index_key, key)?;
        }
        Ok(())
    }

    /// Finishes every tree and accounts for all space; returns the file's length in pages.
    pub(super) fn finish(&mut self, least_pages: u32) -> u32 {
        let mut ground = Ground { frontier: &mut self.frontier, sink: &mut self.sink };
        let children = self.indexes.iter_mut().map(|(_, tree)| tree).chain(&mut self.long_values);
        for tree in children {
            tree.finish(&mut ground);
            tree.owner.write_grown_extents(&mut ground, &mut tree.builder.space);
        }
        self.table.finish(&mut ground);
        // Indexes and long values take their space from the table, so the table owns all of it.
        let Owner { root, .. } = self.table.owner;
        let owned = Extent::starting(root, self.frontier.next().0 - root.0);
        let available: Vec<_> = self.table.builder.space.available().into_iter().collect();
        self.table.owner.write_extents(&mut self.sink, &[owned], &available);
        let used = self.frontier.next().0 - 1;
        let pages = (used + self.reserve_pages).max(least_pages).max(LEAST_PAGES);
        self.write_database_root(pages);
        self.sink.close();
        pages
    }

    /// Writes page 1 and its space trees: the file owns all its pages, and those at its end are
    /// free.
    fn write_database_root(&mut self, pages: u32) {
        let database = Owner {
            object: system_trees::DATABASE.object,
            flags: 0,
            root: system_trees::DATABASE.root,
            parent: PageNumber::NONE,
            primary_pages: pages,
        };
        let nothing = std::iter::empty::<([u8; 0], [u8; 0])>();
        let shape =
            TreeShape { object: database.object, flags: 0, reserve_bytes: 0, compress: false };
        let header = database.space_header();
        super::tree::build_single_page(&mut self.sink, &shape, database.root, header, nothing);
        let free = Extent::starting(self.frontier.next(), pages + 1 - self.frontier.next().0);
        let available: &[Extent] = if free.pages > 0 { &[free] } else { &[] };
        database.write_extents(&mut self.sink, &[database.primary()], available);
    }
}

/// The trees of the user table: their roots are adjacent in the table's first extent.
struct BulkTrees {
    table: Owner,
    indexes: Vec<Owner>,
    long_values: Option<Owner>,
    /// The page after the trees' pages.
    end: u32,
}

impl BulkTrees {
    fn place(definition: &TableDefinition, secondaries: &[IndexDefinition]) -> Self {
        let table = Owner {
            object: system_trees::FIRST_USER_OBJECT,
            flags: 0,
            root: FIRST_USER_ROOT,
            parent: system_trees::DATABASE.root,
            primary_pages: ROOTS,
        };
        let mut last = Owner { parent: table.root, ..table };
        let mut indexes = Vec::new();
        for index in secondaries {
            let repeats = if index.is_unique() { 0 } else { page_flags::NON_UNIQUE };
            last = last.followed_by(page_flags::INDEX | repeats);
            indexes.push(last);
        }
        let long_values =
            definition.has_long_columns().then(|| last.followed_by(page_flags::LONG_VALUE));
        let end = long_values.unwrap_or(last).root.0 + ROOTS;
        let primary_pages = end - table.root.0;
        Self { table: Owner { primary_pages, ..table }, indexes, long_values, end }
    }
}

impl BulkTrees {
    /// The table's catalog entry.
    fn catalog_table(&self, definition: &TableDefinition) -> CatalogTable {
        let indexes = self.indexes.iter().map(Owner::place).collect();
        let long_values = self.long_values.as_ref().map(Owner::place);
        let mut table =
            CatalogTable::new(definition.clone(), self.table.place(), indexes, long_values);
        table.initial_pages = self.table.primary_pages;
        table.density_percent = TABLE_DENSITY_PERCENT;
        table
    }
}

impl BulkTree {
    fn new(owner: Owner, density_percent: u32, size: PageSize, file_pages: u32) -> Self {
        let reserve = size.body_bytes() * (100 - density_percent as usize) / 100;
        let shape = TreeShape {
            object: owner.object,
            flags: owner.flags,
            reserve_bytes: reserve,
            compress: true,
        };
        // Extents grow with the file to keep the extent lists short: half a thousandth of it, in
        // whole writes, from 1 to 32 MiB.
        let unit_pages = unit_pages(size);
        let units = (file_pages / 2_048 / unit_pages).clamp(1, 32);
        let is_small = owner.flags & page_flags::INDEX != 0;
        let growth = SpaceGrowth {
            extent_pages: if is_small { unit_pages } else { units * unit_pages },
            unit_pages,
        };
        let own_roots = Extent::starting(owner.root, ROOTS);
        let space = TreeSpace::new(own_roots, growth);
        Self { owner, builder: TreeBuilder::new(shape, size, space) }
    }

    fn finish(&mut self, ground: &mut Ground<'_>) {
        self.builder.finish(ground, self.owner.root, self.owner.space_header());
    }
}

/// Adds a value's root node and its chunks.
fn add_long_value(
    tree: &mut TreeBuilder,
    ground: &mut Ground<'_>,
    size: PageSize,
    id: LongValueId,
    value: &[u8],
) -> Result<(), RowProblem> {
    let bytes = u32::try_from(value.len()).map_err(|_| EntryProblem::TooLarge)?;
    let root = LongValueRoot { references: 1, bytes };
    let (root_key, root) = (id.root_key(), root.encode());
    let chunks: Vec<_> =
        chunks(value, size).map(|(offset, chunk)| (id.chunk_key(offset), chunk)).collect();
    let key_bytes = root_key.len() + chunks.iter().map(|(key, _)| key.len()).sum::<usize>();
    let all_bytes = key_bytes + root.len() + value.len();
    tree.keep_together(ground, 1 + chunks.len(), all_bytes);
    tree.append(ground, &root_key, &root)?;
    for (key, chunk) in &chunks {
        tree.append(ground, key, chunk)?;
    }
    Ok(())
}

const fn is_long(column: &ColumnDefinition) -> bool {
    column.column_type.is_long()
}

fn unit_pages(size: PageSize) -> u32 {
    u32::try_from(UNIT_BYTES / size.bytes()).expect("invariant: pages are smaller than writes")
}
