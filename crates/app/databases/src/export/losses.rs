//! How `export` names what it cannot print: the row by its place and its primary key, the column,
//! the page at fault, and the consequence.

use std::fmt::Write as _;

use ese::catalog::CatalogTable;
use ese::compression::CompressionError;
use ese::reader::{PartialValue, ReadDamage, ReadError, Salvaged};
use ese::record::{RecordError, RecordRef};
use ese::schema::ColumnDefinition;
use units::PageNumber;

use super::cell::ExportCell;
use super::count::RowCount;
use crate::opened::OpenDatabase;

/// Longest value of a primary key that names a row, in characters.
const LONGEST_KEY: usize = 40;

/// Names a row by its place.
pub(super) fn row_name(table: &CatalogTable, (page, line): (PageNumber, usize)) -> String {
    format!("{}, page {page}, line {line}", table.definition.name)
}

/// Names a row by its place and, if it can be read, its primary key.
pub(super) fn named_row(
    opened: &mut OpenDatabase,
    table: &CatalogTable,
    record: RecordRef<'_>,
    place: (PageNumber, usize),
) -> String {
    let mut name = row_name(table, place);
    let segments = table.definition.primary().map_or(&[][..], |index| &index.segments);
    for segment in segments {
        let column = table.columns().find(|column| column.id == segment.column);
        let values = column.map(|of| (of, opened.reader.salvaged_values(table, record, of)));
        let Some((column, Ok(values))) = values else {
            break;
        };
        let key = ExportCell { column, values: &values }.csv();
        if key.chars().count() > LONGEST_KEY {
            break;
        }
        let _ = write!(name, ", {} {key}", column.name);
    }
    name
}

/// Names the column at fault: one damaged tag hides all tagged columns of its record. Returns an
/// empty text if several columns have its number, as with a template table.
pub(super) fn column_name(
    table: &CatalogTable,
    column: &ColumnDefinition,
    reason: &ReadDamage,
) -> String {
    let id = match reason {
        ReadError::Record {
            error: RecordError::TagOrder { column } | RecordError::TagOffset { column },
        } => *column,
        _ => column.id,
    };
    let mut columns = table.columns().filter(|other| other.id == id);
    match (columns.next(), columns.next()) {
        (Some(only), None) => format!(", column {}", only.name),
        _ => String::new(),
    }
}

/// A value that is entirely unreadable.
pub(super) const fn unknown(reason: ReadDamage) -> Salvaged {
    Salvaged::Partial(PartialValue { bytes: None, chunks: Vec::new(), reason })
}

/// Reports an incomplete value.
pub(super) fn note(
    opened: &mut OpenDatabase,
    table: &CatalogTable,
    column: &ColumnDefinition,
    (record, place): (RecordRef<'_>, (PageNumber, usize)),
    partial: &PartialValue,
    count: &mut RowCount,
) {
    let (name, of) = (&table.definition.name, &column.name);
    if let ReadError::Compression { error: error @ CompressionError::UnknownMethod { .. } } =
        &partial.reason
    {
        if count.not_decoded == 0 {
            opened.say(&format!(
                "{name}, column {of}: {error}; such values are given as they are stored, with \
                 --format jsonl"
            ));
        }
        count.not_decoded += 1;
        return;
    }
    count.lost_values += 1;
    if let ReadError::BeyondFile { .. } = &partial.reason {
        let whose = format!("{name}, column {of}");
        opened.damage(&whose, &partial.reason, "values there are skipped or not whole");
        return;
    }
    let whose = format!("{}, column {of}", named_row(opened, table, record, place));
    let consequence = match partial.chunks.len() {
        0 => "the value is skipped".to_owned(),
        parts => format!("{parts} parts of the value are left"),
    };
    opened.damage(&whose, &partial.reason, &consequence);
}
