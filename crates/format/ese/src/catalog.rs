//! The catalog: the table that says where every other table, index and long-value tree is.
//!
//! It starts at fixed pages of every database, is an ordinary table itself, and is kept twice.
//! [`CatalogRow`] is one of its rows, [`CatalogTable`] the combined rows of one table.

mod assemble;
mod row;
mod system;
#[cfg(test)]
mod tests;

pub use assemble::{CatalogTable, TreePlace, assemble, rows_of};
pub use row::{CatalogRow, RowKind};
pub(crate) use system::OBJECT_IDS_NAME;
pub use system::{
    OBJECTS_NAME, OBJECTS_SHADOW_NAME, SystemTree, catalog_definition, object_ids_definition,
    system_trees,
};
