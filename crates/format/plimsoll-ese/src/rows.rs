//! The rows of a table, in the order of its primary key.

use std::sync::Arc;

use ese::reader::{Salvage, SalvageStep};
use ese::record::RecordRef;
use ese::schema::ColumnDefinition;
use units::PageNumber;

use crate::damage::Damage;
use crate::database::Database;
use crate::table::Table;
use crate::value::Value;

/// A walk over the rows of a table. An `Err` is a part that cannot be read; the walk continues
/// after it.
pub struct Rows<'d> {
    database: &'d mut Database,
    walk: RowWalk,
}

/// A walk that does not borrow its database: every step takes it as an argument.
pub struct RowWalk {
    table: Table,
    pages: Salvage,
    /// The columns to read, and their places in the table's list of columns.
    names: Arc<[String]>,
    places: Vec<usize>,
}

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Number of the page that holds the row.
    pub page: u32,
    /// Whether it is deleted and not yet removed.
    pub is_deleted: bool,
    /// Names of the columns that were read.
    names: Arc<[String]>,
    /// The values of each column; empty if null.
    values: Vec<Vec<Value>>,
}

impl Row {
    /// Returns all values of a column, in order; empty if it is null or was not read.
    pub fn values(&self, column: &str) -> &[Value] {
        let place = self.names.iter().position(|name| name == column);
        place.and_then(|place| self.values.get(place)).map_or(&[], Vec::as_slice)
    }

    /// The first value of a column.
    pub fn value(&self, column: &str) -> Option<&Value> {
        self.values(column).first()
    }

    /// The columns that were read, in the order of the table, with their values.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &[Value])> {
        self.names.iter().map(String::as_str).zip(self.values.iter().map(Vec::as_slice))
    }
}

impl Database {
    /// A walk over the rows of one of its tables.
    pub fn rows(&mut self, table: &Table) -> Rows<'_> {
        let walk = RowWalk::new(self, table);
        Rows { database: self, walk }
    }
}

impl Rows<'_> {
    /// The same walk, restricted to these columns. Long values of other columns are not read.
    #[must_use]
    pub fn only(mut self, columns: &[&str]) -> Self {
        self.walk = self.walk.only(columns);
        self
    }

    /// The same walk, including rows that are deleted but not yet removed.
    #[must_use]
    pub fn with_deleted(mut self) -> Self {
        self.walk = self.walk.with_deleted();
        self
    }
}

impl Iterator for Rows<'_> {
    type Item = Result<Row, Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        self.walk.next(self.database)
    }
}

impl RowWalk {
    /// Starts a walk at the beginning of a table of `database`.
    pub fn new(database: &Database, table: &Table) -> Self {
        let pages = database.reader.salvaged_rows(&table.catalog);
        let names: Arc<[String]> = table.columns().map(|column| column.name().into()).collect();
        let places = (0..names.len()).collect();
        Self { table: table.clone(), pages, names, places }
    }

    /// The same walk, restricted to these columns. Long values of other columns are not read.
    #[must_use]
    pub fn only(mut self, columns: &[&str]) -> Self {
        let chosen = self.table.columns().map(|column| column.name().to_owned()).enumerate();
        let (places, names): (Vec<_>, Vec<_>) =
            chosen.filter(|(_, name)| columns.contains(&name.as_str())).unzip();
        (self.places, self.names) = (places, names.into());
        self
    }

    /// The same walk, including rows that are deleted but not yet removed.
    #[must_use]
    pub fn with_deleted(mut self) -> Self {
        self.pages = self.pages.with_deleted();
        self
    }

    /// Returns the next row of `database`, which must be the database the walk was created for.
    pub fn next(&mut self, database: &mut Database) -> Option<Result<Row, Damage>> {
        let step = self.pages.next(database.reader.source());
        let (page, is_deleted, record) = match step {
            Ok(None) | Err(_) => return None,
            Ok(Some(SalvageStep::Loss(loss))) => return Some(Err(Damage::of_loss(&loss))),
            Ok(Some(SalvageStep::Entry(entry))) => {
                (entry.page, entry.is_deleted, entry.data.to_vec())
            }
        };
        Some(self.row(database, (page, is_deleted), &record))
    }

    fn row(
        &self,
        database: &mut Database,
        (page, is_deleted): (PageNumber, bool),
        record: &[u8],
    ) -> Result<Row, Damage> {
        let parsed = RecordRef::parse(record, database.reader.page_size());
        let parsed = parsed.map_err(|error| Damage {
            page: Some(page.0),
            reason: format!("a row on page {page}: {error}; the row is lost"),
        })?;
        let mut values = Vec::with_capacity(self.places.len());
        for (place, column) in self.table.catalog.columns().enumerate() {
            if self.places.binary_search(&place).is_ok() {
                values.push(self.values(database, parsed, column));
            }
        }
        Ok(Row { page: page.0, is_deleted, names: Arc::clone(&self.names), values })
    }

    fn values(
        &self,
        database: &mut Database,
        record: RecordRef<'_>,
        column: &ColumnDefinition,
    ) -> Vec<Value> {
        match database.reader.salvaged_values(&self.table.catalog, record, column) {
            Ok(values) => values.into_iter().map(|value| Value::of(column, value)).collect(),
            Err(error) => vec![Value::lost(Damage::of_error(error))],
        }
    }
}
