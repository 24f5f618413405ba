//! Tables of a sizing and their columns of numbers.

use report::document::{Block, Column, ColumnRole, Table, TableRow};

/// A table if there are rows.
pub(super) fn table(
    caption: &'static str,
    columns: Vec<Column>,
    rows: Vec<TableRow>,
) -> Vec<Block> {
    if rows.is_empty() {
        return Vec::new();
    }
    vec![Block::Table(Table { caption, columns, rows })]
}

/// The column of keys, which a page shows on request.
pub(super) fn key_column(label: &'static str) -> Column {
    Column { role: ColumnRole::Key, ..Column::text(label) }
}

/// A column of numbers, with its metric in the glossary.
pub(super) fn number_column(label: &'static str, metric: Option<&'static str>) -> Column {
    Column { metric, numeric: true, ..Column::text(label) }
}
