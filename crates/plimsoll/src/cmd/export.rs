//! `export`: the rows of a table as CSV or JSON lines, long values included.

use ese::catalog::CatalogTable;
use ese::reader::{Cursor, FieldValue, ReadError, Reader};
use ese::schema::ColumnDefinition;
use ese::value::Value as FieldMeaning;
use serde_json::{Map, Value, json};

use crate::Outcome;
use crate::console::Console;
use crate::error::CommandError;
use crate::flags::{ExportFlags, ExportFormat};
use crate::pages::{FilePages, PageError, open_reader, unreadable};

/// Prints the table, or the names of all tables where none is named.
pub(crate) fn run(flags: &ExportFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let mut reader = open_reader(&flags.file, console)?;
    let Some(name) = &flags.table else {
        list(&reader, flags.json, console)?;
        return Ok(Outcome::Pass);
    };
    let table = reader.table(name).cloned().ok_or_else(|| {
        let path = flags.file.display();
        CommandError::new(format!(
            "{path}: has no table {name}; `plimsoll export {path}` lists the tables"
        ))
    })?;
    let format = if flags.json {
        ExportFormat::Jsonl
    } else {
        flags.format
    };
    if format == ExportFormat::Csv {
        let header: Vec<&str> = columns(&table).map(|column| column.name.as_str()).collect();
        console.answer_data(&csv(&header))?;
    }
    let wrong = |error| unreadable(&flags.file, error);
    let mut cursor: Cursor = reader.rows(&table).map_err(wrong)?;
    while let Some(entry) = cursor.next(reader.source()).map_err(wrong)? {
        let record = entry.data.to_vec();
        let row = row(&mut reader, &table, &record).map_err(wrong)?;
        match format {
            ExportFormat::Csv => {
                let texts: Vec<String> = row.iter().map(|(_, values)| joined(values)).collect();
                let fields: Vec<&str> = texts.iter().map(String::as_str).collect();
                console.answer_data(&csv(&fields))?;
            }
            ExportFormat::Jsonl => {
                let members = row
                    .iter()
                    .map(|(name, values)| (name.clone(), members(values)));
                console.answer_json(&Value::Object(members.collect::<Map<_, _>>()))?;
            }
        }
    }
    Ok(Outcome::Pass)
}

fn list(
    reader: &Reader<FilePages>,
    as_json: bool,
    console: &mut Console,
) -> Result<(), CommandError> {
    for table in reader.tables() {
        let name = &table.definition.name;
        if as_json {
            let columns: Vec<&str> = columns(table).map(|column| column.name.as_str()).collect();
            console.answer_json(&json!({ "table": name, "columns": columns }))?;
        } else {
            console.answer(name)?;
        }
    }
    Ok(())
}

fn columns(table: &CatalogTable) -> impl Iterator<Item = &ColumnDefinition> {
    table.definition.columns.iter()
}

type Row = Vec<(String, Vec<FieldMeaning>)>;

fn row(
    reader: &mut Reader<FilePages>,
    table: &CatalogTable,
    record: &[u8],
) -> Result<Row, ReadError<PageError>> {
    let mut row = Vec::new();
    for column in columns(table) {
        let values = reader.column_values(table, record, column)?;
        let meaning = |value: &FieldValue| match value {
            FieldValue::Bytes(bytes) => FieldMeaning::decode(column, bytes),
            FieldValue::Encrypted(bytes) => FieldMeaning::Binary(bytes.clone()),
        };
        row.push((column.name.clone(), values.iter().map(meaning).collect()));
    }
    Ok(row)
}

/// Several values of one column stand in one CSV field, separated by `;`.
fn joined(values: &[FieldMeaning]) -> String {
    let texts: Vec<String> = values.iter().map(ToString::to_string).collect();
    texts.join(";")
}

fn members(values: &[FieldMeaning]) -> Value {
    match values {
        [] => Value::Null,
        [value] => member(value),
        several => Value::Array(several.iter().map(member).collect()),
    }
}

fn member(value: &FieldMeaning) -> Value {
    match value {
        FieldMeaning::Bit(bit) => json!(bit),
        FieldMeaning::Integer(number) => json!(number),
        FieldMeaning::Real(number) => json!(number),
        other => json!(other.to_string()),
    }
}

/// One line as RFC 4180 has it.
fn csv(fields: &[&str]) -> String {
    let quoted = |field: &&str| {
        if field.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", field.replace('"', "\"\""))
        } else {
            (*field).to_owned()
        }
    };
    fields.iter().map(quoted).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::csv;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(csv(&["a", "b,c", "d\"e", ""]), "a,\"b,c\",\"d\"\"e\",");
    }
}
