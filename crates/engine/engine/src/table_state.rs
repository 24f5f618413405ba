//! An open table: its trees and how its rows are stored.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use ese::catalog::CatalogTable;
use ese::page::PageSize;
use ese::record::RecordBuilder;
use ese::schema::{IndexDefinition, TableDefinition};

use units::ObjectId;

use crate::hash::QuickHash;
use crate::long_value_numbers::LongValueNumbers;
use crate::tree::{Space, Tree};

/// An open table: its trees and how its rows are stored.
pub(crate) struct TableState {
    /// The table's definition.
    pub definition: TableDefinition,
    /// The table itself.
    pub primary: Tree,
    /// Secondary indexes, in the order of the catalog.
    pub indexes: Vec<(IndexDefinition, Tree)>,
    /// The long-value tree.
    pub long_values: Option<Tree>,
    /// Allocator of the numbers of new long values.
    pub long_value_numbers: RefCell<LongValueNumbers>,
    /// The size of its pages.
    pub page_size: PageSize,
    /// Scratch memory for encoding records.
    pub builder: RefCell<RecordBuilder>,
}

impl TableState {
    /// A table of the catalog; `None` if it has no primary index.
    pub(crate) fn new(table: &CatalogTable, page_size: PageSize) -> Option<Self> {
        table.definition.primary()?;
        let density_percent = u8::try_from(table.density_percent.clamp(20, 100)).unwrap_or(100);
        let indexes = table.secondaries().map(|(index, place)| {
            (index.clone(), own_tree(place, !index.is_unique(), density_percent))
        });
        Some(Self {
            primary: own_tree(table.place, false, density_percent),
            indexes: indexes.collect(),
            long_values: table.long_values.map(|place| own_tree(place, false, 100)),
            long_value_numbers: RefCell::new(LongValueNumbers::from(1)),
            page_size,
            builder: RefCell::new(RecordBuilder::new(&table.definition, page_size)),
            definition: table.definition.clone(),
        })
    }

    /// All trees of the table.
    pub(crate) fn trees(&self) -> impl Iterator<Item = Tree> {
        let indexes = self.indexes.iter().map(|(_, tree)| *tree);
        std::iter::once(self.primary).chain(indexes).chain(self.long_values)
    }
}

/// The tree at `place`, which owns its space.
const fn own_tree(place: ese::catalog::TreePlace, repeats: bool, density_percent: u8) -> Tree {
    Tree { root: place.root, object: place.object, repeats, density_percent, space: Space::Own }
}

/// The open tables of a database, and their trees.
#[derive(Default)]
pub(crate) struct OpenTables {
    by_name: HashMap<String, Rc<TableState>>,
    trees: HashMap<ObjectId, Tree, QuickHash>,
}

impl OpenTables {
    /// Adds a table.
    pub(crate) fn insert(&mut self, table: TableState) {
        self.trees.extend(table.trees().map(|tree| (tree.object, tree)));
        let name = table.definition.name.clone();
        self.by_name.insert(name, Rc::new(table));
    }

    /// The table of this name.
    pub(crate) fn named(&self, name: &str) -> Option<&Rc<TableState>> {
        self.by_name.get(name)
    }

    /// The table whose rows are in this tree.
    pub(crate) fn of_primary(&self, object: ObjectId) -> Option<&TableState> {
        let mut tables = self.by_name.values();
        tables.find(|table| table.primary.object == object).map(Rc::as_ref)
    }

    /// A tree by its object identifier.
    pub(crate) fn tree(&self, object: ObjectId) -> Option<&Tree> {
        self.trees.get(&object)
    }

    /// The numbers of the long-value tree `object`.
    pub(crate) fn long_value_numbers(
        &self,
        object: ObjectId,
    ) -> Option<&RefCell<LongValueNumbers>> {
        let mut tables = self.by_name.values();
        let owner =
            tables.find(|table| table.long_values.is_some_and(|tree| tree.object == object));
        owner.map(|table| &table.long_value_numbers)
    }
}
