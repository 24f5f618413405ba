//! Index of all runs, kept across server restarts, so that the first list need not read every
//! journal. The folders are authoritative: a run with a missing or damaged entry, or one from
//! another release or older than its journal, is read again, and entries of removed folders are
//! dropped.

mod rows;

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, params};

use crate::runs::known::{JournalStamp, Known};

/// Incremented with every change of the tables, or of how a journal is converted to a row.
const LAYOUT: u32 = 7;

const TABLES: &str = "
CREATE TABLE made_by (layout TEXT NOT NULL);
CREATE TABLE run (
  id TEXT PRIMARY KEY,
  journal_bytes INTEGER NOT NULL,
  journal_changed_ns INTEGER,
  labelled_ns INTEGER,
  unreadable TEXT,
  name TEXT, tags TEXT, description TEXT, machine TEXT, test TEXT,
  started_ns INTEGER, started TEXT, verdict TEXT, tone TEXT,
  asked_iops REAL, iops REAL, backup_mib_per_second REAL, read_ms REAL, log_write_ms REAL,
  outcome TEXT, simulated TEXT, imported TEXT, is_cut_off INTEGER,
  margin_percent REAL, work TEXT,
  reads_sample_ms REAL, reads_variance REAL, reads_degrees REAL
) WITHOUT ROWID;
CREATE TABLE volume (
  run TEXT NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  machine TEXT NOT NULL, mount TEXT NOT NULL, model TEXT NOT NULL, size_bytes INTEGER NOT NULL
);
CREATE INDEX volume_of_run ON volume(run);
CREATE INDEX run_of_volume ON volume(machine, mount);
";

/// A run as the history knows it.
pub(crate) struct PastRun {
    /// State of its journal when it was read.
    pub stamp: JournalStamp,
    /// Its contents.
    pub known: Known,
}

/// The database file, and its contents.
pub(crate) struct History {
    connection: Connection,
    /// Stored entries by journal.
    stored: BTreeMap<String, JournalStamp>,
}

/// Contents of the database when it was opened.
pub(crate) type PastRuns = BTreeMap<String, PastRun>;

impl History {
    /// Opens the file, or recreates it if it is missing, damaged or of another release.
    pub(crate) fn open(file: &Path) -> Result<(Self, PastRuns), String> {
        let opened = Self::open_existing(file).or_else(|error| match error.sqlite_error_code() {
            // Another server is writing to it; the index is still valid.
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Err(io::Error::other(error))
            }
            _ => Self::anew(file),
        });
        opened.map_err(|error| format!("{}: {error}", file.display()))
    }

    fn anew(file: &Path) -> io::Result<(Self, PastRuns)> {
        remove(file)?;
        create(file)?;
        Self::make(file).map_err(io::Error::other)
    }

    fn open_existing(file: &Path) -> rusqlite::Result<(Self, PastRuns)> {
        let connection = connect(file)?;
        let check: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        let made_by: String =
            connection.query_row("SELECT layout FROM made_by", [], |row| row.get(0))?;
        if check != "ok" || made_by != layout() {
            return Err(rusqlite::Error::InvalidQuery);
        }
        let past = rows::read(&connection)?;
        let stored = past.iter().map(|(id, run)| (id.clone(), run.stamp)).collect();
        Ok((Self { connection, stored }, past))
    }

    fn make(file: &Path) -> rusqlite::Result<(Self, PastRuns)> {
        let connection = connect(file)?;
        connection.execute_batch(TABLES)?;
        connection.execute("INSERT INTO made_by VALUES (?1)", [layout()])?;
        Ok((Self { connection, stored: BTreeMap::new() }, PastRuns::new()))
    }

    /// Makes the file contain exactly `runs`; entries already in it are not rewritten.
    pub(crate) fn keep(
        &mut self,
        runs: &BTreeMap<String, (JournalStamp, Known)>,
    ) -> Result<(), String> {
        self.keep_all(runs).map_err(|error| error.to_string())
    }

    fn keep_all(&mut self, runs: &BTreeMap<String, (JournalStamp, Known)>) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction()?;
        let gone = self.stored.keys().filter(|id| !runs.contains_key(*id));
        for id in gone {
            forget(&transaction, id)?;
        }
        for (id, (stamp, known)) in runs {
            if self.stored.get(id) != Some(stamp) {
                forget(&transaction, id)?;
                rows::write(&transaction, id, *stamp, known)?;
            }
        }
        transaction.commit()?;
        self.stored = runs.iter().map(|(id, (stamp, _))| (id.clone(), *stamp)).collect();
        Ok(())
    }
}

fn forget(transaction: &Transaction<'_>, id: &str) -> rusqlite::Result<()> {
    transaction.execute("DELETE FROM run WHERE id = ?1", params![id]).map(drop)
}

/// Identifies the layout of files that this program reads.
fn layout() -> String {
    format!("plimsoll {} layout {LAYOUT}", env!("CARGO_PKG_VERSION"))
}

/// Opens the file so that two servers of one folder take turns.
fn connect(file: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(std::time::Duration::from_secs(2))?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(connection)
}

/// Creates an empty file readable only by its owner, since journals may be as restricted.
fn create(file: &Path) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file).map(drop)
}

/// Removes an unusable file, along with the files that `SQLite` creates next to it.
fn remove(file: &Path) -> io::Result<()> {
    let mut journal = file.as_os_str().to_owned();
    journal.push("-journal");
    for file in [file.to_path_buf(), PathBuf::from(journal)] {
        match fs::remove_file(file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
