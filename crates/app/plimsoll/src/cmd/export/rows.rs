//! The rows of one table, one line each, and its unreadable parts.

use std::collections::BTreeSet;

use ese::catalog::CatalogTable;
use ese::compression::CompressionError;
use ese::reader::{LostPart, PartialValue, ReadDamage, ReadError, SalvageStep, Salvaged};
use ese::record::{RecordError, RecordRef};
use ese::schema::ColumnDefinition;
use units::PageNumber;

use super::cell::{ExportCell, csv_field, string};
use super::sink::RowSink;
use crate::cmd::export::flags::ExportFormat;
use crate::error::CommandError;
use crate::opened::OpenDatabase;

/// Marks deleted rows. No column can have this name.
const DELETED: &str = "!deleted";

/// How the rows of a table are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowForm {
    pub format: ExportFormat,
    pub with_deleted: bool,
}

/// Result of exporting a table.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowCount {
    pub rows: u64,
    /// Values stored by a method that is not known here.
    pub not_decoded: u64,
    lost_leaves: u64,
}

/// Writes all rows of a table that can be read, and names the others.
pub(super) fn write(
    opened: &mut OpenDatabase,
    table: &CatalogTable,
    form: RowForm,
    sink: &mut RowSink<'_>,
) -> Result<RowCount, CommandError> {
    let name = table.definition.name.as_str();
    let names = names(table);
    if form.format == ExportFormat::Csv {
        let mut fields: Vec<String> = names.iter().map(|name| csv_field(name)).collect();
        if form.with_deleted {
            fields.insert(0, csv_field(DELETED));
        }
        sink.line(&fields.join(","))?;
    }
    let mut count = RowCount::default();
    let mut walk = opened.reader.salvaged_rows(table);
    if form.with_deleted {
        walk = walk.with_deleted();
    }
    loop {
        let step = walk.next(opened.reader.source());
        let (page, line, is_deleted, record) = match step.map_err(|error| opened.ends(error))? {
            None => break,
            Some(SalvageStep::Entry(entry)) => {
                let record = entry.data.to_vec();
                (entry.page, entry.line, entry.is_deleted, record)
            }
            Some(SalvageStep::Loss(loss)) => {
                count.lost_leaves += u64::from(loss.part == LostPart::Leaf);
                opened.lose(name, &loss);
                continue;
            }
        };
        let Some(row) = row(opened, table, &record, (page, line), &mut count)? else {
            continue;
        };
        count.rows += 1;
        sink.line(&text(&row, &names, form, is_deleted))?;
    }
    sink.flush()?;
    if let Some(rows) = walk.nodes_per_leaf().filter(|_| count.lost_leaves > 0) {
        let about = rows * count.lost_leaves;
        opened.say(&format!("{name}: about {about} rows are lost"));
    }
    if count.not_decoded > 0 {
        let values = count.not_decoded;
        opened.say(&format!("{name}: {values} values were not decoded"));
    }
    Ok(count)
}

type RowValues<'t> = Vec<(&'t ColumnDefinition, Vec<Salvaged>)>;

/// The values of one record; `None` if it cannot be read at all.
fn row<'t>(
    opened: &mut OpenDatabase,
    table: &'t CatalogTable,
    record: &[u8],
    place: (PageNumber, usize),
    count: &mut RowCount,
) -> Result<Option<RowValues<'t>>, CommandError> {
    let parsed = match RecordRef::parse(record, opened.reader.page_size()) {
        Ok(parsed) => parsed,
        Err(error) => {
            let whose = row_name(table, place);
            opened.damage(&whose, &ReadError::Record { error }, "the row is skipped");
            return Ok(None);
        }
    };
    let mut row: RowValues<'t> = Vec::new();
    let mut named = None;
    for column in table.columns() {
        let values = match opened.reader.salvaged_values(table, parsed, column) {
            Ok(values) => values,
            Err(error) => {
                let reason = error.without_source().map_err(|error| opened.ends(error))?;
                if named.as_ref() != Some(&reason) {
                    let whose = column_name(table, place, column, &reason);
                    opened.damage(&whose, &reason, "what it hides is skipped");
                    named = Some(reason.clone());
                }
                row.push((column, vec![unknown(reason)]));
                continue;
            }
        };
        for value in &values {
            note(opened, table, column, place.0, value, count);
        }
        row.push((column, values));
    }
    Ok(Some(row))
}

fn row_name(table: &CatalogTable, (page, line): (PageNumber, usize)) -> String {
    format!("{}, page {page}, line {line}", table.definition.name)
}

/// Names the column that is to blame: one damaged tag hides all tagged columns of its record. A
/// number that a template uses too names none.
fn column_name(
    table: &CatalogTable,
    place: (PageNumber, usize),
    column: &ColumnDefinition,
    reason: &ReadDamage,
) -> String {
    let id = match reason {
        ReadError::Record {
            error: RecordError::TagOrder { column } | RecordError::TagOffset { column },
        } => *column,
        _ => column.id,
    };
    let row = row_name(table, place);
    let mut columns = table.columns().filter(|other| other.id == id);
    match (columns.next(), columns.next()) {
        (Some(only), None) => format!("{row}, column {}", only.name),
        _ => row,
    }
}

/// A value of which nothing can be read.
const fn unknown(reason: ReadDamage) -> Salvaged {
    Salvaged::Partial(PartialValue { bytes: None, chunks: Vec::new(), reason })
}

/// Names a value that is not whole.
fn note(
    opened: &mut OpenDatabase,
    table: &CatalogTable,
    column: &ColumnDefinition,
    page: PageNumber,
    value: &Salvaged,
    count: &mut RowCount,
) {
    let Salvaged::Partial(partial) = value else {
        return;
    };
    if let ReadError::Compression { error: error @ CompressionError::UnknownMethod { .. } } =
        &partial.reason
    {
        if count.not_decoded == 0 {
            let name = &table.definition.name;
            opened.say(&format!(
                "{name}, column {}: {error}; such values are given as they are stored, with \
                 --format jsonl",
                column.name
            ));
        }
        count.not_decoded += 1;
        return;
    }
    let (name, of) = (&table.definition.name, &column.name);
    if let ReadError::BeyondFile { .. } = &partial.reason {
        let whose = format!("{name}, column {of}");
        opened.damage(&whose, &partial.reason, "values there are skipped or not whole");
        return;
    }
    let whose = format!("{name}, page {page}, column {of}");
    let consequence = match partial.chunks.len() {
        0 => "the value is skipped".to_owned(),
        parts => format!("{parts} parts of the value are left"),
    };
    opened.damage(&whose, &partial.reason, &consequence);
}

/// The names of a table's columns. One that repeats gets its number behind it.
fn names(table: &CatalogTable) -> Vec<String> {
    let (mut names, mut taken) = (Vec::new(), BTreeSet::new());
    for column in table.columns() {
        let mut name = column.name.clone();
        if !taken.insert(name.clone()) {
            name = format!("{name}!{}", names.len());
            taken.insert(name.clone());
        }
        names.push(name);
    }
    names
}

fn text(row: &RowValues<'_>, names: &[String], form: RowForm, is_deleted: bool) -> String {
    let cells = row.iter().map(|(column, values)| ExportCell { column, values });
    match form.format {
        ExportFormat::Csv => {
            let marker = form.with_deleted.then(|| is_deleted.to_string());
            let fields: Vec<String> =
                marker.into_iter().chain(cells.map(|cell| cell.csv())).collect();
            fields.join(",")
        }
        ExportFormat::Jsonl => {
            let marker = form.with_deleted.then(|| format!("{}:{is_deleted}", string(DELETED)));
            let members = names
                .iter()
                .zip(cells)
                .map(|(name, cell)| format!("{}:{}", string(name), cell.json()));
            let members: Vec<String> = marker.into_iter().chain(members).collect();
            format!("{{{}}}", members.join(","))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use ese::catalog::{CatalogTable, TreePlace};
    use ese::schema::{ColumnDefinition, ColumnType, TableDefinition};
    use units::{ObjectId, PageNumber};

    use super::names;

    #[test]
    fn the_widest_table_is_named_at_once_and_repeated_names_get_numbers() {
        let column =
            |id: u16, name: String| ColumnDefinition::new(id, &name, ColumnType::LongBinary, 0);
        let first = 256;
        let mut columns: Vec<ColumnDefinition> =
            (first..first + 65_000).map(|id| column(id, format!("c{id}"))).collect();
        columns.push(column(first + 65_000, format!("c{first}")));
        let place = TreePlace { object: ObjectId(7), root: PageNumber(9) };
        let table = CatalogTable {
            definition: TableDefinition::new("Wide", columns, Vec::new()),
            place,
            index_places: Vec::new(),
            long_values: None,
            long_value_chunk: None,
            flags: 0,
            density_percent: 80,
            initial_pages: 1,
            template: None,
            inherited: Vec::new(),
        };
        let began = Instant::now();
        let names = names(&table);
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
        assert_eq!(names.last().map(String::as_str), Some(&*format!("c{first}!65000")));
    }
}
