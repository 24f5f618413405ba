//! An open database: the entry point of the engine.

use std::rc::Rc;

use device::{Runtime, Volume};
use units::Seed;

use crate::counters::Counters;
use crate::error::{Latch, OpenError, TransactionError};
use crate::settings::Settings;
use crate::table::{Never, Table};
use crate::transaction::Transaction;

/// Where a database and its log live.
#[derive(Clone)]
pub struct DatabaseFiles {
    /// The folder of the database file.
    pub database: Rc<dyn Volume>,
    /// The database file's name in it.
    pub file: String,
    /// The folder of the log and checkpoint files.
    pub log: Rc<dyn Volume>,
    /// Base name of the log files: three characters such as `E00`.
    pub log_base: String,
}

/// An open database. Cheap to clone; every session holds one.
#[derive(Clone)]
pub struct Database {
    state: Never,
}

impl Database {
    /// Opens a database and starts its background tasks (eviction, checkpoint, cleanup,
    /// maintenance) on `runtime`. `seed` makes the signatures of new log files.
    pub async fn open(
        runtime: &Runtime,
        files: DatabaseFiles,
        settings: Settings,
        seed: Seed,
    ) -> Result<Self, OpenError> {
        let _ = (runtime, settings, seed);
        let problem = "the live database is not part of this build".to_owned();
        Err(OpenError::Unsupported {
            file: files.file,
            problem,
        })
    }

    /// A table by its name.
    pub fn table(&self, name: &str) -> Option<Table> {
        let _ = name;
        match self.state {}
    }

    /// Begins a transaction: its snapshot is now.
    pub fn begin(&self) -> Transaction {
        match self.state {}
    }

    /// What has been counted so far.
    pub fn counters(&self) -> Counters {
        match self.state {}
    }

    /// Why the database refuses to go on, where it does.
    pub fn latched(&self) -> Option<Rc<Latch>> {
        match self.state {}
    }

    /// Closes the database cleanly: finishes cleanup, writes every page, marks the header clean.
    /// All transactions must have ended.
    pub async fn shut_down(self) -> Result<(), TransactionError> {
        match self.state {}
    }
}
