//! Prints the tables of a database, or the rows of one of them: `tables FILE [TABLE]`.

use std::error::Error;
use std::io::{Write as _, stdout};

use plimsoll_ese::{Database, Value};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("usage: tables FILE [TABLE]")?;
    let mut database = Database::open(file)?;
    let mut out = stdout().lock();
    let Some(name) = arguments.next() else {
        for table in database.tables() {
            writeln!(out, "{}: {} columns", table.name(), table.columns().count())?;
        }
        return Ok(());
    };
    let table = database.table(&name).ok_or("the database has no such table")?;
    for row in database.rows(&table) {
        match row {
            Ok(row) => {
                for (column, values) in row.fields().filter(|(_, values)| !values.is_empty()) {
                    writeln!(out, "{column}: {}", shown(values))?;
                }
                writeln!(out)?;
            }
            Err(damage) => writeln!(out, "lost: {damage}\n")?,
        }
    }
    Ok(())
}

fn shown(values: &[Value]) -> String {
    let shown: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
    shown.join(", ")
}
