//! A table of an open database, as transactions name it.

/// A table. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Table {
    state: Never,
}

/// Not constructible before tables can be opened.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Never {}

impl Table {
    /// The primary key of the row whose key columns have these stored values (numbers
    /// little-endian), in key order: what reads, deletes and scans take.
    pub fn primary_key(&self, values: &[&[u8]]) -> Vec<u8> {
        let _ = values;
        match self.state {}
    }

    /// The key of secondary index `index` (counted from 0 in catalog order) for these values.
    pub fn index_key(&self, index: usize, values: &[&[u8]]) -> Vec<u8> {
        let _ = (index, values);
        match self.state {}
    }
}
