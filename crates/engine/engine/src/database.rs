//! An open database: the entry point of the engine.

mod open;

use std::cell::RefCell;
use std::rc::Rc;

use device::{Boxed, Runtime};
use ese::{Lgpos, Signature};
use units::{PageNumber, Seed};
use wal::edit::{TransactionId, Undo};
use wal::{LogRecord, NotAsWritten};

use crate::core::{CleanupBatch, CleanupGroup, Core};
use crate::counters::Counters;
use crate::error::{OpenError, PoisonCause, TransactionError};
use crate::files::DatabaseFiles;
use crate::flush_map_file::LiveMap;
use crate::header_file::{HeaderFile, detach};
use crate::recovery::{
    self, PendingCleanup, RecoveryProgress, RecoverySettings, RecoverySummary, Redone,
};
use crate::settings::{CheckpointMode, Settings};
use crate::table::Table;
use crate::transaction::Transaction;
use crate::versions::{Cleanup, CommitNumber};

/// An open database. Cheap to clone; every session holds one.
#[derive(Clone)]
pub struct Database {
    core: Rc<Core>,
    last_written: Rc<LastWritten>,
}

/// The files that closing a database writes last.
struct LastWritten {
    header: Rc<HeaderFile>,
    flush_map: Rc<LiveMap>,
    /// Mismatches found by reading them back.
    not_as_written: RefCell<Vec<NotAsWritten>>,
}

impl Database {
    /// Opens a database and starts its background tasks (eviction, checkpoint, cleanup,
    /// maintenance) on `runtime`. `seed` makes the signatures of new log files.
    ///
    /// Make a database with [`bulk::load`](crate::bulk::load) or
    /// [`bulk::create_empty`](crate::bulk::create_empty). One that was not closed properly is
    /// refused: its log must be replayed first.
    pub fn open(
        runtime: &Runtime,
        files: DatabaseFiles,
        settings: Settings,
        seed: Seed,
    ) -> Boxed<'_, Result<Self, OpenError>> {
        Box::pin(async move {
            let database = open::open(runtime, &files, settings, seed, None).await?;
            start_scavenger(&database.core);
            database.start_tasks();
            Ok(database)
        })
    }

    /// Opens a database like [`Database::open`], and recovers it first if it was not closed
    /// properly: redoes the log, undoes uncommitted changes. The summary is `None` if no recovery
    /// was needed. After a crash during recovery, call it again.
    pub fn recover<'a>(
        runtime: &'a Runtime,
        files: DatabaseFiles,
        settings: Settings,
        seed: Seed,
        progress: &'a dyn Fn(RecoveryProgress),
    ) -> Boxed<'a, Result<(Self, Option<RecoverySummary>), OpenError>> {
        Box::pin(async move {
            let memory = RecoverySettings {
                cache: settings.cache_maximum,
                longest_write: settings.longest_write,
                checkpoint_depth: settings.checkpoint_depth,
                ..RecoverySettings::default()
            };
            let redone = recovery::redo(runtime, &files, &memory, progress)
                .await
                .map_err(OpenError::Recovery)?;
            let Some(redone) = redone else {
                let database = Self::open(runtime, files, settings, seed).await?;
                return Ok((database, None));
            };
            let database = open::open(runtime, &files, settings, seed, Some(&redone)).await?;
            let core = &database.core;
            start_scavenger(core);
            let summary = redone.summary;
            if let Err(error) = undo_losers(core, redone).await {
                core.lifecycle.close();
                core.wake_all();
                return Err(open::opening(error));
            }
            database.start_tasks();
            Ok((database, Some(summary)))
        })
    }

    /// A table by its name.
    pub fn table(&self, name: &str) -> Option<Table> {
        let state = Rc::clone(self.core.tables.named(name)?);
        Some(Table { state, page_size: self.core.cache.page_size() })
    }

    /// Begins a transaction: its snapshot is now.
    pub fn begin(&self) -> Transaction {
        Transaction::begin(&self.core)
    }

    /// Finishes the work that [`Database::recover`] leaves to background tasks: waits until
    /// everything is cleaned up, and writes all changed pages. The storage is then as idle as after
    /// the opening of a database that was closed.
    pub fn finish_recovery(&self) -> Boxed<'_, Result<(), TransactionError>> {
        Box::pin(async move {
            let (core, work_ended) = (&self.core, self.core.lifecycle.work_ended());
            work_ended.wait_until(|| core.has_cleaned_up() || core.is_over()).await;
            write_all(core).await
        })
    }

    /// The counts so far.
    pub fn counters(&self) -> Counters {
        self.core.counters()
    }

    /// The log position at which the database was opened, and the log's signature, from its header.
    pub fn attached(&self) -> (Lgpos, Signature) {
        let header = self.last_written.header.current();
        (header.attached_at, header.log_signature)
    }

    /// The last page that the maintenance scan has verified in its present pass, from the header;
    /// `None` at the start of a pass.
    pub fn scanned_to(&self) -> Option<PageNumber> {
        let scanned_to = self.last_written.header.current().scanned_to;
        Some(scanned_to).filter(|page| page.is_some())
    }

    /// The failure after which the database refuses further work, if any.
    pub fn poisoned(&self) -> Option<Rc<PoisonCause>> {
        self.core.poison.get()
    }

    /// Waits for transactions to end, then stops the background tasks.
    async fn end_work(&self) {
        let (core, lifecycle) = (&self.core, &self.core.lifecycle);
        lifecycle.work_ended().wait_until(|| core.transactions.is_empty()).await;
        lifecycle.stop();
        core.wake_all();
        for task in lifecycle.take_tasks() {
            task.await;
        }
    }

    /// Closes the database cleanly: waits for rollbacks, finishes cleanup, writes every page,
    /// marks the header clean. Waits for transactions that have not ended.
    pub fn shut_down(self) -> Boxed<'static, Result<(), TransactionError>> {
        Box::pin(async move {
            let (core, lifecycle) = (&self.core, &self.core.lifecycle);
            self.end_work().await;
            let done = close(core, &self.last_written).await;
            lifecycle.close();
            core.wake_all();
            // Even if closing failed, the log is read back.
            let closed = core.log.close().await;
            done?;
            closed.map_err(|error| core.poison(&error))
        })
    }

    /// Stops using the database without closing it, like a program that exits: the log is written
    /// to its end, changed pages stay unwritten, and the file is left to recovery. Returns the end
    /// of the log. Waits for transactions that have not ended, and until no file is open any more.
    pub fn abandon(self) -> Boxed<'static, Result<Lgpos, TransactionError>> {
        Box::pin(async move {
            let (core, lifecycle) = (&self.core, &self.core.lifecycle);
            self.end_work().await;
            let flushed = core.log.flush_to(core.log.tip()).await;
            lifecycle.close();
            core.wake_all();
            if let Some(eviction) = lifecycle.take_eviction() {
                eviction.await;
            }
            core.cache.wait_for_writes().await;
            let closed = core.log.abandon().await;
            flushed.and(closed).map_err(|error| core.poison(&error))?;
            core.poison.check()?;
            Ok(core.log.durable())
        })
    }

    /// Files found since the last call to differ from the data written to them: log files while
    /// the database is open, everything else once it has been closed. Always empty without
    /// [`Settings::read_back`].
    pub fn take_not_as_written(&self) -> Vec<NotAsWritten> {
        let mut all = self.core.log.take_not_as_written();
        all.append(&mut self.last_written.not_as_written.borrow_mut());
        all
    }

    fn start_tasks(&self) {
        let Self { core, last_written } = self;
        let (runtime, lifecycle) = (&core.runtime, &core.lifecycle);
        lifecycle.keep(runtime.spawn(Rc::clone(core).clean_up_forever()));
        if core.settings.checkpoint == CheckpointMode::Advancing {
            let header = Rc::clone(&last_written.header);
            lifecycle.keep(runtime.spawn(Rc::clone(core).checkpoint_forever(header)));
        }
        if let Some(pause) = core.settings.maintenance_pause {
            let header = Rc::clone(&last_written.header);
            lifecycle.keep(runtime.spawn(Rc::clone(core).scan_forever(pause, header)));
        }
    }
}

/// Undoes the transactions that a crash cut short, then resumes cleanup.
async fn undo_losers(core: &Rc<Core>, redone: Redone) -> Result<(), TransactionError> {
    let mut items = redone.cleanups;
    for loser in &redone.losers {
        core.transactions.activate(loser.transaction, loser.begin);
    }
    // Cleanups wait until no snapshot can need their data; meanwhile they hold back the checkpoint.
    let oldest_cleanup = items.iter().map(|pending| pending.begin).min();
    if let Some(oldest) = oldest_cleanup {
        core.cleanups.hold(oldest);
    }
    for loser in redone.losers {
        let begin = loser.begin;
        // Rows that it had revived become deleted again, although the deleting transaction no
        // longer exists.
        let revived = loser.undo.iter().flatten();
        let revived = revived.filter(|undo| matches!(undo, Undo::Revive { .. }));
        items.extend(revived.cloned().map(|of| PendingCleanup { begin, of }));
        core.undo_transaction(loser.transaction, loser.undo).await?;
        let tip = core.log.tip();
        core.transactions.deactivate(loser.transaction, tip);
    }
    for pending in &items {
        // As soon as the number is released, before the release commits, a new value with this
        // number would be mistaken for the old one.
        if let Undo::LongValueRelease { tree, long_value } = pending.of
            && let Some(numbers) = core.tables.long_value_numbers(tree)
        {
            numbers.borrow_mut().avoid(long_value);
        }
    }
    for pending in items {
        if let Some(cleanup) = cleanup_of(pending.of) {
            core.cleanups.push(CleanupBatch {
                number: CommitNumber::default(),
                since: pending.begin,
                groups: vec![CleanupGroup::new(vec![cleanup])],
            });
        }
    }
    if let Some(oldest) = oldest_cleanup {
        core.cleanups.release(oldest);
    }
    Ok(())
}

fn cleanup_of(undo: Undo) -> Option<Cleanup> {
    match undo {
        Undo::FlagDelete { tree, key, data } | Undo::Revive { tree, key, data } => {
            Some(Cleanup::Node { tree, key, data })
        }
        Undo::LongValueRelease { tree, long_value } => {
            Some(Cleanup::LongValue { tree, long_value })
        }
        Undo::InsertRow { .. }
        | Undo::Insert { .. }
        | Undo::Replace { .. }
        | Undo::LongValueInsert { .. } => None,
    }
}

/// Pages have no other writer, so this one must run before anything is changed.
fn start_scavenger(core: &Rc<Core>) {
    let watched = Rc::clone(core);
    let scavenge = Rc::clone(&core.cache).scavenge(move || watched.lifecycle.is_closed());
    core.lifecycle.keep_eviction(core.runtime.spawn(scavenge));
}

/// Writes every page changed so far.
async fn write_all(core: &Core) -> Result<(), TransactionError> {
    let (cache, all) = (&core.cache, core.log.tip());
    core.log.flush_to(all).await.map_err(|error| core.poison(&error))?;
    cache.write_older_than((all, all), core.settings.checkpoint_writes).await?;
    cache.wait_for_writes().await;
    core.poison.check()
}

async fn close(core: &Rc<Core>, last_written: &LastWritten) -> Result<(), TransactionError> {
    let (cache, log) = (&core.cache, &core.log);
    core.poison.check()?;
    core.clean_up_now().await?;
    assert!(core.cleanups.is_empty(), "no snapshot is left that cleanup waits for");
    assert!(core.transactions.has_no_active(), "every transaction has ended");
    write_all(core).await?;
    core.trim().await?;
    cache.flush_file().await?;
    let LastWritten { header, flush_map, .. } = last_written;
    let database = header.current().signature.random;
    let dbtime = core.dbtime();
    let (_, end) = core.append(&LogRecord::Detach { database, dbtime })?;
    log.flush_to(end).await.map_err(|error| core.poison(&error))?;
    core.advance_checkpoint(header).await?;
    let mut closed = header.current();
    detach(&mut closed, end, dbtime);
    // The map is written before the header that names it: a map left by a crash in between is
    // ignored.
    let stored = flush_map.store(&core.runtime, &mut closed).await;
    let map = stored.map_err(|error| core.poison(&error))?;
    let cleaned = header.update(|header| *header = closed).await;
    cleaned.map_err(|error| core.poison(&error))?;
    if core.settings.read_back {
        let found = [header.compare().await, flush_map.compare(&map).await];
        let mut all = last_written.not_as_written.borrow_mut();
        all.extend(found.into_iter().flatten());
    }
    Ok(())
}

/// Every new opening numbers its transactions from here: numbers need only be unique among those
/// whose records the log still holds, and a clean opening has none.
const FIRST_TRANSACTION: TransactionId = TransactionId(0);
