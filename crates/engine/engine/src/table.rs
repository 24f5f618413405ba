//! A table of an open database, as transactions name it.

use std::rc::Rc;

use ese::key::{KeyError, append_segment};
use ese::page::PageSize;
use ese::schema::{IndexDefinition, TableDefinition};

use crate::table_state::TableState;

/// A table. Cheap to clone.
#[derive(Clone)]
pub struct Table {
    pub(crate) state: Rc<TableState>,
    pub(crate) page_size: PageSize,
}

impl Table {
    /// The table's columns and indexes, as in the catalog.
    pub fn definition(&self) -> &TableDefinition {
        &self.state.definition
    }

    /// The database's page size, which decoding a record needs.
    pub const fn page_size(&self) -> PageSize {
        self.page_size
    }

    /// The primary key of the row whose key columns have these stored values (numbers
    /// little-endian), in key order, as reads, deletes and scans expect it.
    pub fn primary_key(&self, values: &[&[u8]]) -> Result<Vec<u8>, KeyError> {
        let primary = self.state.definition.primary();
        self.key(primary.expect("invariant: checked when the table was opened"), values)
    }

    fn key(&self, index: &IndexDefinition, values: &[&[u8]]) -> Result<Vec<u8>, KeyError> {
        let mut key = Vec::new();
        for (segment, value) in index.segments.iter().zip(values) {
            let id = segment.column;
            let column =
                self.state.definition.column(id).ok_or(KeyError::NoColumn { column: id })?;
            append_segment(column, Some(value), index.flags, segment.is_descending, &mut key)?;
        }
        key.truncate(index.longest_key_bytes);
        Ok(key)
    }
}
