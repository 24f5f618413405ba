//! The rows of one table, one line each, and its unreadable parts.

use std::collections::BTreeSet;
use std::sync::Arc;

use ese::LogTime;
use ese::catalog::CatalogTable;
use ese::reader::{ReadError, SalvageStep, Salvaged};
use ese::record::RecordRef;
use ese::schema::ColumnDefinition;
use units::PageNumber;

use super::cell::{ExportCell, csv_field, string};
use super::count::RowCount;
use super::losses::{column_name, named_row, note, row_name, unknown};
use super::sink::RowSink;
use crate::export::flags::ExportFormat;
use crate::opened::OpenDatabase;
use console::error::CommandError;

/// Marks deleted rows. No column can have this name, nor those of the next two.
const DELETED: &str = "!deleted";
/// The row's page or log record.
const SOURCE: &str = "!source";
/// Time of the row's deletion according to the log.
const DELETED_AT: &str = "!deleted_at";

/// Format of a table's exported rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowForm {
    pub format: ExportFormat,
    pub(crate) with_deleted: bool,
    /// `true` if each row states its source and the time of its deletion.
    pub(crate) with_source: bool,
}

/// Facts about a row besides its values.
struct RowMarks {
    is_deleted: bool,
    source: String,
    deleted_at: Option<LogTime>,
}

/// Writes all readable rows of a table, and reports the others.
pub(super) fn write(
    opened: &mut OpenDatabase,
    table: &CatalogTable,
    form: RowForm,
    sink: &mut RowSink<'_>,
) -> Result<RowCount, CommandError> {
    let name = table.definition.name.as_str();
    let names = names(table);
    if form.format == ExportFormat::Csv {
        let fields: Vec<String> = mark_names(form)
            .iter()
            .copied()
            .chain(names.iter().map(String::as_str))
            .map(csv_field)
            .collect();
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
                count.note(&loss);
                opened.lose(name, &loss);
                continue;
            }
        };
        let Some(row) = row(opened, table, &record, (page, line), &mut count)? else {
            continue;
        };
        count.rows += 1;
        let source = format!("page {page} line {line}");
        let marks = RowMarks { is_deleted, source, deleted_at: None };
        sink.line(&text(&row, &names, form, &marks))?;
    }
    if form.with_source {
        write_from_log(opened, table, form, &names, &mut count, sink)?;
    }
    sink.flush()?;
    count.name_losses(name, walk.nodes_per_leaf(), opened);
    Ok(count)
}

/// Writes the rows that the log deletes.
fn write_from_log(
    opened: &mut OpenDatabase,
    table: &CatalogTable,
    form: RowForm,
    names: &[String],
    count: &mut RowCount,
    sink: &mut RowSink<'_>,
) -> Result<(), CommandError> {
    let deleted = Arc::clone(&opened.deleted);
    for found in deleted.of(table.place.object) {
        let Some(row) = row(opened, table, &found.data, (found.page, found.line), count)? else {
            continue;
        };
        count.rows += 1;
        let source = format!("log {} page {} line {}", found.place, found.page, found.line);
        let marks = RowMarks { is_deleted: true, source, deleted_at: Some(found.time) };
        sink.line(&text(&row, names, form, &marks))?;
    }
    Ok(())
}

/// Names of the columns that precede a table's own.
const fn mark_names(form: RowForm) -> &'static [&'static str] {
    match (form.with_deleted, form.with_source) {
        (false, _) => &[],
        (true, false) => &[DELETED],
        (true, true) => &[DELETED, SOURCE, DELETED_AT],
    }
}

type RowValues<'t> = Vec<(&'t ColumnDefinition, Vec<Salvaged>)>;

/// Reads the values of one record; `None` if none can be read.
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
                    let whose = named_row(opened, table, parsed, place);
                    let whose = format!("{whose}{}", column_name(table, column, &reason));
                    opened.damage(&whose, &reason, "what it hides is skipped");
                    named = Some(reason.clone());
                }
                count.lost_values += 1;
                row.push((column, vec![unknown(reason)]));
                continue;
            }
        };
        for value in &values {
            if let Salvaged::Partial(partial) = value {
                note(opened, table, column, (parsed, place), partial, count);
            }
        }
        row.push((column, values));
    }
    Ok(Some(row))
}

/// Returns the names of a table's columns. A repeated name gets its number appended.
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

fn text(row: &RowValues<'_>, names: &[String], form: RowForm, marks: &RowMarks) -> String {
    let cells = row.iter().map(|(column, values)| ExportCell { column, values });
    let is_deleted = marks.is_deleted.to_string();
    let time = marks.deleted_at.map(|time| time.to_string());
    let mark_names = mark_names(form);
    match form.format {
        ExportFormat::Csv => {
            let time = csv_field(&time.unwrap_or_default());
            let fields: Vec<String> = [is_deleted, csv_field(&marks.source), time]
                .into_iter()
                .take(mark_names.len())
                .chain(cells.map(|cell| cell.csv()))
                .collect();
            fields.join(",")
        }
        ExportFormat::Jsonl => {
            let time = time.map_or_else(|| "null".to_owned(), |time| string(&time));
            let marks = [is_deleted, string(&marks.source), time];
            let marks = mark_names.iter().zip(marks);
            let marks = marks.map(|(name, mark)| format!("{}:{mark}", string(name)));
            let members = names
                .iter()
                .zip(cells)
                .map(|(name, cell)| format!("{}:{}", string(name), cell.json()));
            let members: Vec<String> = marks.chain(members).collect();
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
