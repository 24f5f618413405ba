//! `export`: the rows of tables as CSV or JSON lines, long values included. Damaged parts are named
//! and left out; everything else is printed.

mod cell;
mod count;
pub(crate) mod flags;
mod losses;
mod rows;
mod sink;

use std::path::Path;

use ese::catalog::CatalogTable;
use serde_json::json;

use crate::opened::{OpenDatabase, Reading};
use console::Console;
use console::Outcome;
use console::documents::{self, Existing};
use console::error::CommandError;
use flags::{ExportFlags, ExportFormat};
use rows::RowForm;
use sink::RowSink;

/// File extensions and their formats.
const ENDINGS: [(&str, ExportFormat); 4] = [
    ("csv", ExportFormat::Csv),
    ("txt", ExportFormat::Csv),
    ("jsonl", ExportFormat::Jsonl),
    ("json", ExportFormat::Jsonl),
];

/// Prints the table, writes all of them to a folder, or prints the names of all tables if none is
/// named.
pub(crate) fn run(flags: &ExportFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let format = format(flags)?;
    let logs = flags.with_logs.as_deref();
    let reading = Reading {
        bare: flags.without_checksums,
        logs,
        deleted: flags.deleted,
        exports_all: flags.all && flags.output.is_some(),
    };
    let mut opened = OpenDatabase::open_with(&flags.file, &reading)?;
    let with_deleted = flags.deleted;
    let form = RowForm { format, with_deleted, with_source: with_deleted && logs.is_some() };
    if let Some(folder) = flags.output.as_deref().filter(|_| flags.all) {
        let existing = Existing::of_flag(flags.force);
        let not_decoded = all(&mut opened, folder, form, existing, console)?;
        return Ok(outcome(&mut opened, flags, not_decoded));
    }
    let Some(name) = &flags.table else {
        list(&opened, flags.json, console)?;
        return Ok(opened.outcome());
    };
    let table = opened.table(name)?.clone();
    let mut sink = match documents::named_file(flags.output.as_ref()) {
        Some(path) => RowSink::create_beside(&flags.file, path, Existing::of_flag(flags.force))?,
        None => RowSink::Console(console, format),
    };
    let count = rows::write(&mut opened, &table, form, &mut sink);
    let count = count.inspect_err(|_| sink.remove())?;
    Ok(outcome(&mut opened, flags, count.not_decoded))
}

/// Returns the row format; the folder of `--all` has no extension to decide it.
fn format(flags: &ExportFlags) -> Result<ExportFormat, CommandError> {
    let given = if flags.json { Some(ExportFormat::Jsonl) } else { flags.format };
    let file = flags.output.as_deref().filter(|_| !flags.all);
    Ok(documents::form_of(given, file, &ENDINGS)?.unwrap_or(ExportFormat::Csv))
}

/// Returns the outcome: a sound database that was not exported completely is no pass, nor is one
/// whose pages have no checksums to verify.
fn outcome(opened: &mut OpenDatabase, flags: &ExportFlags, not_decoded: u64) -> Outcome {
    match opened.outcome() {
        Outcome::Pass if not_decoded > 0 || flags.without_checksums => Outcome::CannotJudge,
        outcome => outcome,
    }
}

/// Writes every table to a separate file. Returns the number of values that were not decoded.
fn all(
    opened: &mut OpenDatabase,
    folder: &Path,
    form: RowForm,
    existing: Existing,
    console: &mut Console,
) -> Result<u64, CommandError> {
    let tables = opened.reader.tables().to_vec();
    let paths = sink::file_names(&tables, folder, form.format);
    if existing == Existing::Keep {
        sink::refuse_existing(&paths)?;
    }
    documents::make_folder(folder)?;
    let mut not_decoded = 0;
    for (table, path) in tables.iter().zip(paths) {
        let shown = path.display().to_string();
        let mut sink = RowSink::create(path, existing)?;
        let count = rows::write(opened, table, form, &mut sink)?;
        not_decoded += count.not_decoded;
        console.answer(format_args!(
            "{:>10} rows of {} in {shown}",
            count.rows, table.definition.name
        ))?;
    }
    Ok(not_decoded)
}

fn list(opened: &OpenDatabase, as_json: bool, console: &mut Console) -> Result<(), CommandError> {
    for table in opened.reader.tables() {
        let name = &table.definition.name;
        if as_json {
            let columns: Vec<&str> = columns(table);
            console.answer_json("table", json!({ "table": name, "columns": columns }))?;
        } else {
            console.answer(name)?;
        }
    }
    Ok(())
}

fn columns(table: &CatalogTable) -> Vec<&str> {
    table.columns().map(|column| column.name.as_str()).collect()
}
