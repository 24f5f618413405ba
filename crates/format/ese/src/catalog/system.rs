//! Content of every database before any table is created: fixed places and definitions.

use units::{ObjectId, PageNumber};

use crate::schema::{ColumnDefinition, ColumnType, IndexDefinition, TableDefinition, index_flags};

/// The trees at fixed places.
pub mod system_trees {
    use super::{ObjectId, SystemTree};

    /// The database itself: a tree without records that owns all space. Its owned extents are at
    /// page 2, its available ones at page 3.
    pub const DATABASE: SystemTree = SystemTree::at(1, 1, 0);
    /// The catalog.
    pub const OBJECTS: SystemTree = SystemTree::at(2, 4, 20);
    /// The catalog's index by name.
    pub const OBJECTS_NAME: SystemTree = SystemTree::at(4, 7, 0);
    /// The catalog's index of table names.
    pub const OBJECTS_ROOT: SystemTree = SystemTree::at(5, 10, 0);
    /// The second copy of the catalog: the same rows, no secondary indexes.
    pub const OBJECTS_SHADOW: SystemTree = SystemTree::at(3, 24, 5);
    /// The list of existing objects. Not at a fixed page by rule, but always found here.
    pub const OBJECT_IDS: SystemTree = SystemTree::at(6, 29, 1);
    /// The first object identifier that a new database assigns to a table.
    pub const FIRST_USER_OBJECT: ObjectId = ObjectId(8);
}

/// A tree at a fixed place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemTree {
    /// Its object identifier.
    pub object: ObjectId,
    /// Its root page. If the tree has its own space trees, their roots are the next two pages.
    pub root: PageNumber,
    /// Pages of its first extent; 0 if another tree supplies its pages.
    pub primary_pages: u32,
}

impl SystemTree {
    const fn at(object: u32, root: u32, primary_pages: u32) -> Self {
        Self { object: ObjectId(object), root: PageNumber(root), primary_pages }
    }
}

/// Name of the catalog.
pub const OBJECTS_NAME: &str = "MSysObjects";
/// Name of its second copy.
pub const OBJECTS_SHADOW_NAME: &str = "MSysObjectsShadow";
/// Name of the table of objects.
pub(crate) const OBJECT_IDS_NAME: &str = "MSysObjids";

/// The number of a column of the catalog.
pub(super) mod column {
    pub(crate) const OBJECT_TABLE: u16 = 1;
    pub(crate) const TYPE: u16 = 2;
    pub(crate) const ID: u16 = 3;
    pub(crate) const COLUMN_TYPE_OR_ROOT: u16 = 4;
    pub(crate) const SPACE_USAGE: u16 = 5;
    pub(crate) const FLAGS: u16 = 6;
    pub(crate) const PAGES_OR_LOCALE: u16 = 7;
    pub(crate) const ROOT_FLAG: u16 = 8;
    pub(crate) const RECORD_OFFSET: u16 = 9;
    pub(crate) const LC_MAP_FLAGS: u16 = 10;
    pub(crate) const KEY_MOST: u16 = 11;
    pub(crate) const LONG_VALUE_CHUNK: u16 = 12;
    pub(crate) const NAME: u16 = 128;
    pub(crate) const TEMPLATE_TABLE: u16 = 130;
    pub(crate) const DEFAULT_VALUE: u16 = 131;
    pub(crate) const KEY_COLUMNS: u16 = 132;
    pub(crate) const CONDITIONAL_COLUMNS: u16 = 134;
    pub(crate) const TUPLE_LIMITS: u16 = 135;
    pub(crate) const LOCALE_NAME: u16 = 261;
}

/// The catalog's own definition. `name` is [`OBJECTS_NAME`] or [`OBJECTS_SHADOW_NAME`]; only the
/// first one has secondary indexes.
pub fn catalog_definition(name: &str) -> TableDefinition {
    let unique = index_flags::EXTENDED_COLUMN_IDS | index_flags::UNIQUE;
    let mut indexes = vec![IndexDefinition::new(
        "Id",
        unique | index_flags::PRIMARY | index_flags::NO_NULL_SEGMENT,
        &[column::OBJECT_TABLE, column::TYPE, column::ID],
    )];
    if name == OBJECTS_NAME {
        let by_name = &[column::OBJECT_TABLE, column::TYPE, column::NAME];
        let roots = &[column::ROOT_FLAG, column::NAME];
        let some = unique | index_flags::ALLOW_SOME_NULLS;
        indexes.push(IndexDefinition::new("Name", unique | index_flags::NO_NULL_SEGMENT, by_name));
        indexes.push(IndexDefinition::new("RootObjects", some, roots));
    }
    TableDefinition::new(name, catalog_columns(), indexes)
}

fn catalog_columns() -> Vec<ColumnDefinition> {
    use ColumnType::{Binary, Bit, Long, LongBinary, Short, Text, UnsignedShort};
    let new = ColumnDefinition::new;
    vec![
        new(column::OBJECT_TABLE, "ObjidTable", Long, 0).not_null(),
        new(column::TYPE, "Type", Short, 0).not_null(),
        new(column::ID, "Id", Long, 0).not_null(),
        new(column::COLUMN_TYPE_OR_ROOT, "ColtypOrPgnoFDP", Long, 0).not_null(),
        new(column::SPACE_USAGE, "SpaceUsage", Long, 0).not_null(),
        new(column::FLAGS, "Flags", Long, 0).not_null(),
        new(column::PAGES_OR_LOCALE, "PagesOrLocale", Long, 0).not_null(),
        new(column::ROOT_FLAG, "RootFlag", Bit, 0),
        new(column::RECORD_OFFSET, "RecordOffset", Short, 0),
        new(column::LC_MAP_FLAGS, "LCMapFlags", Long, 0),
        new(column::KEY_MOST, "KeyMost", UnsignedShort, 0),
        new(column::LONG_VALUE_CHUNK, "LVChunkMax", Long, 0),
        new(column::NAME, "Name", Text, 255).not_null(),
        new(129, "Stats", Binary, 255),
        new(column::TEMPLATE_TABLE, "TemplateTable", Text, 255),
        new(column::DEFAULT_VALUE, "DefaultValue", Binary, 255),
        new(column::KEY_COLUMNS, "KeyFldIDs", Binary, 255),
        new(133, "VarSegMac", Binary, 255),
        new(column::CONDITIONAL_COLUMNS, "ConditionalColumns", Binary, 255),
        new(column::TUPLE_LIMITS, "TupleLimits", Binary, 255),
        new(136, "Version", Binary, 255),
        new(137, "SortID", Binary, 255),
        new(256, "CallbackData", LongBinary, 0),
        new(257, "CallbackDependencies", LongBinary, 0),
        new(258, "SeparateLV", LongBinary, 0),
        new(259, "SpaceHints", LongBinary, 0),
        new(260, "SpaceDeferredLVHints", LongBinary, 0),
        new(column::LOCALE_NAME, "LocaleName", LongBinary, 0),
    ]
}

/// The definition of the table of objects: one row per table, index and long-value tree.
pub fn object_ids_definition() -> TableDefinition {
    use ColumnType::{Long, Short};
    let new = ColumnDefinition::new;
    let columns = vec![
        new(256, "objid", Long, 0),
        new(257, "objidTable", Long, 0),
        new(258, "type", Short, 0),
    ];
    let primary = IndexDefinition::primary("primary", &[256]);
    TableDefinition::new(OBJECT_IDS_NAME, columns, vec![primary])
}
