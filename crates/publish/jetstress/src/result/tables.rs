//! Finds the tables of a result by their column names, since sections may be missing and columns
//! reordered.

use super::outline::{Outline, normal};

/// A table: its section, its column names normalised for comparison, and its rows.
pub(super) struct ResultTable<'a> {
    /// Heading of the section, in lower case.
    pub section: String,
    columns: Vec<String>,
    rows: Vec<&'a [String]>,
}

/// A row of a table.
#[derive(Clone, Copy)]
pub(super) struct ResultRow<'a> {
    columns: &'a [String],
    cells: &'a [String],
}

impl<'a> ResultTable<'a> {
    /// The rows of single items. The tool's own sums and means are skipped, since they can be
    /// recomputed.
    pub(super) fn rows(&self) -> impl Iterator<Item = ResultRow<'_>> {
        let columns = self.columns.as_slice();
        let things = self.rows.iter().filter(|cells| !cells[0].starts_with('('));
        things.map(move |&cells| ResultRow { columns, cells })
    }

    /// Tables with a column of this name, in order.
    fn with_column(outline: &'a Outline, column: impl Fn(&str) -> bool) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        for section in &outline.sections {
            let mut is_open = false;
            for row in section.rows.iter().filter(|row| row.len() > 1) {
                let columns: Vec<String> = row.iter().map(|cell| normal(cell)).collect();
                if columns[1..].iter().any(|name| column(name)) {
                    let section = section.title.to_lowercase();
                    found.push(Self { section, columns, rows: Vec::new() });
                    is_open = true;
                } else if let Some(table) = found.last_mut().filter(|_| is_open)
                    && row.len() == table.columns.len()
                {
                    table.rows.push(row);
                }
            }
        }
        found
    }
}

impl<'a> ResultRow<'a> {
    /// The name of the row.
    pub(super) fn name(self) -> &'a str {
        &self.cells[0]
    }

    /// The cell under a column; empty if there is no such column.
    pub(super) fn cell(self, column: &str) -> &'a str {
        let at = self.columns.iter().position(|name| name == column);
        at.map_or("", |at| self.cells[at].as_str())
    }
}

/// The tables of I/O.
pub(super) fn io(outline: &Outline) -> Vec<ResultTable<'_>> {
    ResultTable::with_column(outline, |name| {
        name.starts_with("i/o database ")
            || name.starts_with("i/o log ")
            || name.starts_with("database maintenance io")
    })
}

/// Tables with this column.
pub(super) fn with<'a>(outline: &'a Outline, column: &str) -> Vec<ResultTable<'a>> {
    ResultTable::with_column(outline, |name| name == column)
}
