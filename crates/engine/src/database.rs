//! An open database: the entry point of the engine.

mod open;

use std::rc::Rc;

use device::{Runtime, Volume};
use units::Seed;

use crate::core::Core;
use crate::counters::Counters;
use crate::edit::TransactionId;
use crate::error::{Latch, OpenError, TransactionError};
use crate::header_file::detach;
use crate::log::LogRecord;
use crate::settings::Settings;
use crate::table::Table;
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
    core: Rc<Core>,
}

impl Database {
    /// Opens a database and starts its background tasks (eviction, checkpoint, cleanup,
    /// maintenance) on `runtime`. `seed` makes the signatures of new log files.
    ///
    /// Make a database with [`bulk::load`](crate::bulk::load) or
    /// [`bulk::create_empty`](crate::bulk::create_empty). One that was not closed properly is
    /// refused: its log must be replayed first.
    pub async fn open(
        runtime: &Runtime,
        files: DatabaseFiles,
        settings: Settings,
        seed: Seed,
    ) -> Result<Self, OpenError> {
        let core = open::open(runtime, &files, settings, seed).await?;
        start_tasks(&core);
        Ok(Self { core })
    }

    /// A table by its name.
    pub fn table(&self, name: &str) -> Option<Table> {
        let state = Rc::clone(self.core.tables.get(name)?);
        Some(Table {
            state,
            page_size: self.core.cache.page_size(),
        })
    }

    /// Begins a transaction: its snapshot is now.
    pub fn begin(&self) -> Transaction {
        Transaction::begin(&self.core)
    }

    /// What has been counted so far.
    pub fn counters(&self) -> Counters {
        self.core.counters()
    }

    /// Why the database refuses to go on, where it does.
    pub fn latched(&self) -> Option<Rc<Latch>> {
        self.core.cache.latch.get()
    }

    /// Closes the database cleanly: waits for rollbacks, finishes cleanup, writes every page,
    /// marks the header clean. Waits for transactions that have not ended.
    pub async fn shut_down(self) -> Result<(), TransactionError> {
        let core = self.core;
        core.ended
            .wait_until(|| core.open_transactions.get() == 0)
            .await;
        core.stopping.set(true);
        core.wake_all();
        let tasks = std::mem::take(&mut *core.tasks.borrow_mut());
        for task in tasks {
            task.await;
        }
        let done = close(&core).await;
        core.closed.set(true);
        core.wake_all();
        done?;
        let log = core.cache.log.clone();
        log.close().await.map_err(|error| core.latch(&error))
    }
}

fn start_tasks(core: &Rc<Core>) {
    let runtime = &core.runtime;
    let watched = Rc::clone(core);
    let scavenge = Rc::clone(&core.cache).scavenge(move || watched.closed.get());
    // Its handle is dropped: closing needs it to the end, and it holds nothing that must be closed.
    drop(runtime.spawn(scavenge));
    let mut tasks = core.tasks.borrow_mut();
    tasks.push(runtime.spawn(Rc::clone(core).clean_up_forever()));
    tasks.push(runtime.spawn(Rc::clone(core).checkpoint_forever()));
    if let Some(pause) = core.settings.maintenance_pause {
        tasks.push(runtime.spawn(Rc::clone(core).scan_forever(pause)));
    }
}

async fn close(core: &Rc<Core>) -> Result<(), TransactionError> {
    let cache = &core.cache;
    cache.latch.check()?;
    core.clean_up_now().await?;
    assert!(
        core.cleanups.borrow().is_empty(),
        "nobody has a snapshot that cleanup waits for"
    );
    assert!(
        core.active.borrow().is_empty(),
        "every transaction has ended"
    );
    cache
        .log
        .flush_to(cache.log.tip())
        .await
        .map_err(|error| core.latch(&error))?;
    cache
        .write_older_than(cache.log.tip(), core.settings.checkpoint_writes)
        .await?;
    cache.wait_for_writes().await;
    cache.flush_file().await?;
    let database = cache.header.current().signature.random;
    let dbtime = core.dbtime();
    let (_, end) = core.append(&LogRecord::Detach { database, dbtime })?;
    cache
        .log
        .flush_to(end)
        .await
        .map_err(|error| core.latch(&error))?;
    core.advance_checkpoint().await?;
    let cleaned = cache
        .header
        .update(|header| detach(header, end, dbtime))
        .await;
    cleaned.map_err(|error| core.latch(&error))
}

/// Transactions count from here in every new opening: numbers need only be unique among those
/// whose records the log still holds, and a clean opening has none.
const FIRST_TRANSACTION: TransactionId = TransactionId(0);
