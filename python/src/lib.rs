//! The native part of Python's `plimsoll_ese`: code that needs speed or the file. The API that
//! users call is in `plimsoll_ese/__init__.py`.

mod convert;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plimsoll_ese::{CatalogCopy, Damage, Database, OpenError, RowWalk, State, Table};
use pyo3::exceptions::{PyKeyError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A loss: its page, if known, and the reason.
type Lost = (Option<u32>, String);

/// An open database.
#[pyclass(name = "Database", frozen)]
struct NativeDatabase {
    shared: Arc<Mutex<Database>>,
}

/// A walk over the rows of one table.
#[pyclass(name = "Rows")]
struct NativeRows {
    shared: Arc<Mutex<Database>>,
    walk: RowWalk,
    /// For each column read, whether a row may have several values of it.
    are_lists: Vec<bool>,
}

fn lock(shared: &Mutex<Database>) -> MutexGuard<'_, Database> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn lost(damage: &Damage) -> Lost {
    (damage.page, damage.reason.clone())
}

fn not_open(error: &OpenError) -> PyErr {
    match error {
        OpenError::Io { error, .. } => {
            PyOSError::new_err((error.raw_os_error(), error.to_string()))
        }
        other => PyValueError::new_err(other.to_string()),
    }
}

#[pymethods]
impl NativeDatabase {
    #[new]
    fn open(path: PathBuf) -> PyResult<Self> {
        let database = Database::open(path).map_err(|error| not_open(&error))?;
        Ok(Self { shared: Arc::new(Mutex::new(database)) })
    }

    /// Page size, state, database time, required logs, format.
    fn header(&self) -> (usize, String, u64, (u32, u32), (u32, u32)) {
        let header = lock(&self.shared).header();
        let state = match header.state {
            State::Clean => "clean".to_owned(),
            State::Dirty => "dirty".to_owned(),
            other => format!("{other:?}").to_lowercase(),
        };
        (header.page_bytes, state, header.dbtime, header.log_required, header.format)
    }

    fn catalog_copy(&self) -> &'static str {
        match lock(&self.shared).catalog_copy() {
            CatalogCopy::First => "first",
            CatalogCopy::Second => "second",
            _ => "remains",
        }
    }

    fn catalog_losses(&self) -> Vec<Lost> {
        lock(&self.shared).catalog_losses().iter().map(lost).collect()
    }

    fn tables(&self) -> Vec<String> {
        lock(&self.shared).tables().iter().map(|table| table.name().to_owned()).collect()
    }

    /// Name, number, type and whether it may have several values, of each column of a table.
    fn columns(&self, table: &str) -> PyResult<Vec<(String, u16, String, bool)>> {
        let table = self.table(table)?;
        let columns = table.columns().map(|column| {
            let name = column.name().to_owned();
            (name, column.id(), column.kind().name(), column.is_multi_valued())
        });
        Ok(columns.collect())
    }

    /// Name, and whether it is primary and unique, of each index of a table.
    fn indexes(&self, table: &str) -> PyResult<Vec<(String, bool, bool)>> {
        let table = self.table(table)?;
        let of = table.indexes();
        Ok(of.map(|index| (index.name.to_owned(), index.is_primary, index.is_unique)).collect())
    }

    fn rows(
        &self,
        table: &str,
        columns: Option<Vec<String>>,
        deleted: bool,
    ) -> PyResult<NativeRows> {
        let table = self.table(table)?;
        let mut walk = RowWalk::new(&lock(&self.shared), &table);
        let is_read = |name: &str| {
            columns.as_ref().is_none_or(|columns| columns.iter().any(|column| column == name))
        };
        let read = table.columns().filter(|column| is_read(column.name()));
        let are_lists = read.map(|column| column.is_multi_valued()).collect();
        if let Some(columns) = &columns {
            refuse_unknown(&table, columns)?;
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            walk = walk.only(&columns);
        }
        if deleted {
            walk = walk.with_deleted();
        }
        Ok(NativeRows { shared: Arc::clone(&self.shared), walk, are_lists })
    }

    /// Table, tree, root page, owned and available pages of each tree; and the losses.
    fn space(&self, py: Python<'_>) -> (Vec<(String, String, u32, u64, u64)>, Vec<Lost>) {
        let (trees, damage) = py.detach(|| lock(&self.shared).space());
        let trees = trees
            .into_iter()
            .map(|of| (of.table, of.tree, of.root, of.owned_pages, of.available_pages));
        (trees.collect(), damage.iter().map(lost).collect())
    }

    /// Number of problems; findings; notices; numbers of rows, index entries and long values.
    #[expect(clippy::type_complexity, reason = "unpacked at once by Python")]
    fn verify(
        &self,
        py: Python<'_>,
    ) -> (u64, Vec<(String, Option<u32>, u32, String)>, Vec<String>, (u64, u64, u64)) {
        let found = py.detach(|| lock(&self.shared).verify());
        let findings = found
            .findings
            .into_iter()
            .map(|finding| (finding.subject, finding.page, finding.pages, finding.problem));
        let counts = (found.rows, found.index_entries, found.long_values);
        (found.problems, findings.collect(), found.notices, counts)
    }

    fn corrected_pages(&self) -> Vec<u32> {
        lock(&self.shared).corrected_pages()
    }
}

impl NativeDatabase {
    fn table(&self, name: &str) -> PyResult<Table> {
        lock(&self.shared).table(name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }
}

fn refuse_unknown(table: &Table, columns: &[String]) -> PyResult<()> {
    for column in columns {
        if !table.columns().any(|known| known.name() == column) {
            return Err(PyKeyError::new_err(format!("{} has no column {column}", table.name())));
        }
    }
    Ok(())
}

/// A row with its page and whether it is deleted, or a loss; the other one is `None`.
type Step<'py> = (Option<(Bound<'py, PyDict>, u32, bool)>, Option<Lost>);

#[pymethods]
impl NativeRows {
    const fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Step<'py>>> {
        let (walk, shared) = (&mut self.walk, &self.shared);
        let row = match py.detach(|| walk.next(&mut lock(shared))) {
            None => return Ok(None),
            Some(Err(damage)) => return Ok(Some((None, Some(lost(&damage))))),
            Some(Ok(row)) => row,
        };
        let dict = convert::row(py, &row, &self.are_lists)?;
        Ok(Some((Some((dict, row.page, row.is_deleted)), None)))
    }
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<NativeDatabase>()?;
    module.add_class::<NativeRows>()
}
