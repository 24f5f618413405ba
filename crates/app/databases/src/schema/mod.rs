//! `schema`: the tables of a database with columns, indexes and their locations; or the JSON Schema
//! of our documents.

mod answers;
pub(crate) mod flags;
mod json;
mod kinds;
mod words;

use std::io;
use std::path::Path;

use ese::catalog::{CatalogTable, TreePlace};
use ese::schema::IndexDefinition;
use serde_json::json;

use json::table_json;
use words::{conditions, index_words, keys, type_name, words};

use crate::opened::OpenDatabase;
use console::Console;
use console::Outcome;
use console::error::CommandError;
use flags::SchemaFlags;

/// Indent of the continuation lines about a table.
const INDENT: usize = 4;
/// Indent of the remarks on a column or index.
const DETAIL: usize = 9;

/// Prints the schema of a kind of document; or of a database the named table, or all of them.
pub(crate) fn run(flags: &SchemaFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    if let Some(schema) = kinds::schema_of(&flags.file) {
        if flags.table.is_some() {
            return Err(CommandError::usage("a schema has no tables; leave TABLE out"));
        }
        console.answer_text(&format!("{schema:#}\n"))?;
        return Ok(Outcome::Pass);
    }
    refuse_unknown(&flags.file)?;
    let mut opened = OpenDatabase::open(&flags.file)?;
    let tables: Vec<&CatalogTable> = match &flags.table {
        None => opened.reader.tables().iter().collect(),
        Some(name) => vec![opened.table(name)?],
    };
    if flags.json {
        let tables = json!({ "tables": tables.into_iter().map(table_json).collect::<Vec<_>>() });
        console.answer_json("database_schema", tables)?;
    } else {
        let (file, count) = (flags.file.display(), units::plural(tables.len() as u64, "table"));
        console.answer_folded(format_args!("{file}: {count}"), INDENT)?;
        for table in tables {
            print(table, console)?;
        }
    }
    Ok(opened.outcome())
}

/// Refuses a word that is neither a file nor a kind of document.
fn refuse_unknown(word: &Path) -> Result<(), CommandError> {
    let found = word.symlink_metadata();
    let is_absent = matches!(found, Err(error) if error.kind() == io::ErrorKind::NotFound);
    if !is_absent || word.components().count() != 1 || word.extension().is_some() {
        return Ok(());
    }
    Err(CommandError::new(format!(
        "{}: neither a file nor a kind of document; name a database, or one of {}",
        word.display(),
        kinds::names()
    )))
}

fn print(table: &CatalogTable, console: &mut Console) -> Result<(), CommandError> {
    let place = table.place;
    console.answer(format_args!("table {}", table.definition.name))?;
    console.answer_folded(
        format_args!(
            "  object {}, root page {}, density {} %, first pages {}, flags {:#x}",
            place.object, place.root, table.density_percent, table.initial_pages, table.flags
        ),
        INDENT,
    )?;
    if let Some(place) = table.long_values {
        let (object, root) = (place.object, place.root);
        console.answer(format_args!("  long values: object {object}, root page {root}"))?;
    }
    if let Some(template) = &table.template {
        console.answer(format_args!("  inherits the columns of {template}"))?;
    }
    for column in table.columns() {
        let size = match column.max_bytes {
            0 => "-".to_owned(),
            bytes => bytes.to_string(),
        };
        let kind = type_name(column.column_type);
        let words = words(column);
        console.answer_folded(
            format_args!("  {:>5}  {kind:<18} {size:>5}  {}  {words}", column.id.0, column.name),
            DETAIL,
        )?;
    }
    for (index, place) in table.definition.indexes.iter().zip(&table.index_places) {
        print_index(table, index, *place, console)?;
    }
    console.answer("")
}

fn print_index(
    table: &CatalogTable,
    index: &IndexDefinition,
    place: TreePlace,
    console: &mut Console,
) -> Result<(), CommandError> {
    let (object, root) = (place.object, place.root);
    console.answer_folded(
        format_args!(
            "  index {}: object {object}, root page {root}, keys of at most {} bytes",
            index.name, index.longest_key_bytes
        ),
        DETAIL,
    )?;
    let mut details = vec![keys(table, index).join(" "), index_words(index)];
    let conditions = conditions(table, index);
    details.extend(conditions.iter().map(|condition| format!("only rows where {condition}")));
    for detail in details {
        console.answer_folded(format_args!("{:DETAIL$}{detail}", ""), DETAIL)?;
    }
    Ok(())
}
