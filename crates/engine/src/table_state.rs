//! An open table: its trees and how its rows are stored.

use std::cell::{Cell, RefCell};

use ese::catalog::CatalogTable;
use ese::page::PageSize;
use ese::record::RecordBuilder;
use ese::schema::{IndexDefinition, TableDefinition};

use crate::tree::{Space, Tree};

/// An open table: its trees and how its rows are stored.
pub(crate) struct TableState {
    /// What the table is.
    pub definition: TableDefinition,
    /// The table itself.
    pub primary: Tree,
    /// Secondary indexes, in the order of the catalog.
    pub indexes: Vec<(IndexDefinition, Tree)>,
    /// The long-value tree.
    pub long_values: Option<Tree>,
    /// The number of the next long value.
    pub next_long_value: Cell<u32>,
    /// The size of its pages.
    pub page_size: PageSize,
    /// Memory for records in the making.
    pub builder: RefCell<RecordBuilder>,
}

impl TableState {
    /// A table of the catalog; none where it has no primary index.
    pub(crate) fn new(table: &CatalogTable, page_size: PageSize) -> Option<Self> {
        table.definition.primary()?;
        let density_percent = u8::try_from(table.density_percent.clamp(20, 100)).unwrap_or(100);
        let tree = |place: ese::catalog::TreePlace, repeats, density_percent| Tree {
            root: place.root,
            object: place.object,
            repeats,
            density_percent,
            space: Space::Own,
        };
        let indexes = table.secondaries().map(|(index, place)| {
            (
                index.clone(),
                tree(place, !index.is_unique(), density_percent),
            )
        });
        Some(Self {
            primary: tree(table.place, false, density_percent),
            indexes: indexes.collect(),
            long_values: table.long_values.map(|place| tree(place, false, 100)),
            next_long_value: Cell::new(1),
            page_size,
            builder: RefCell::new(RecordBuilder::new(&table.definition, page_size)),
            definition: table.definition.clone(),
        })
    }

    /// All trees of the table.
    pub(crate) fn trees(&self) -> impl Iterator<Item = Tree> {
        let indexes = self.indexes.iter().map(|(_, tree)| *tree);
        std::iter::once(self.primary)
            .chain(indexes)
            .chain(self.long_values)
    }
}
