//! A row as passed in by a caller: column identifiers with the bytes each column stores.

use std::ops::Range;

/// The columns of one row. Reuse one object for many rows: it keeps its memory.
#[derive(Clone, Debug, Default)]
pub struct Row {
    bytes: Vec<u8>,
    columns: Vec<(u16, Range<usize>)>,
}

impl Row {
    /// A row without columns.
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes all columns.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.columns.clear();
    }

    /// Sets column `column` (fixed 1..=127, variable 128..=255, tagged from 256 on) to its stored
    /// bytes: numbers little-endian, everything else unchanged. Long columns take the whole value;
    /// the engine separates it from the record. Columns are set in ascending order, each once; one
    /// that is not set is null.
    pub fn set(&mut self, column: u16, value: &[u8]) -> &mut Self {
        let ascending = self.columns.last().is_none_or(|(last, _)| *last < column);
        assert!(ascending, "columns of a row are set once, in ascending order");
        let start = self.bytes.len();
        self.bytes.extend_from_slice(value);
        self.columns.push((column, start..self.bytes.len()));
        self
    }

    /// The value of a column; `None` if it is null.
    pub fn get(&self, column: u16) -> Option<&[u8]> {
        let index = self.columns.binary_search_by_key(&column, |(id, _)| *id).ok()?;
        Some(&self.bytes[self.columns[index].1.clone()])
    }

    /// Columns and values in ascending order.
    pub fn columns(&self) -> impl Iterator<Item = (u16, &[u8])> {
        self.columns.iter().map(|(id, range)| (*id, &self.bytes[range.clone()]))
    }
}

#[cfg(test)]
mod tests {
    use super::Row;

    #[test]
    fn columns_come_back_in_order() {
        let mut row = Row::new();
        row.set(1, &[1]).set(128, b"pad").set(256, &[]);
        assert_eq!(row.get(128), Some(&b"pad"[..]));
        assert_eq!(row.get(2), None);
        assert_eq!(row.columns().map(|(id, _)| id).collect::<Vec<_>>(), [1, 128, 256]);
        row.clear();
        assert_eq!(row.columns().count(), 0);
    }
}
