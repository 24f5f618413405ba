//! State shared by the parts of an open database, and the driver that turns plans into changes.

mod cleanup_queue;
mod file_extent;
mod lifecycle;
mod transaction_table;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use device::{Device, Runtime};
use ese::Lgpos;
use ese::page::PageRef;
use units::{Bytes, Nanos, PageNumber};

pub(crate) use cleanup_queue::{CleanupBatch, CleanupGroup};

use cleanup_queue::CleanupQueue;
use file_extent::FileExtent;
use lifecycle::Lifecycle;
use transaction_table::TransactionTable;
use wal::edit::{ApplyRecord, PageEdits, TransactionId, UndoAction, rebuild};
use wal::{Log, LogError, LogRecord, Span};

use crate::cache::{Cache, Pinned};
use crate::counters::Counters;
use crate::error::{TransactionError, UnusablePage};
use crate::poison::Poison;
use crate::settings::Settings;
use crate::space;
use crate::stage::{FinishedPlan, Halt, Refusal, Stage};
use crate::table_state::OpenTables;
use crate::trail::Trail;
use crate::versions::Versions;

/// An open database.
pub(crate) struct Core {
    pub runtime: Runtime,
    pub settings: Settings,
    pub cache: Rc<Cache>,
    pub log: Log,
    pub poison: Rc<Poison>,
    pub file: FileExtent,
    pub tables: OpenTables,
    pub versions: RefCell<Versions>,
    pub transactions: TransactionTable,
    pub cleanups: CleanupQueue,
    pub lifecycle: Lifecycle,
    counters: RefCell<Counters>,
    dbtime: Cell<u64>,
}

/// Initial parts of a [`Core`].
#[derive(Clone)]
pub(crate) struct CoreParts {
    pub runtime: Runtime,
    pub settings: Settings,
    pub device: Rc<dyn Device>,
    pub cache: Rc<Cache>,
    pub log: Log,
    pub poison: Rc<Poison>,
    pub dbtime: u64,
    pub last_transaction: TransactionId,
}

impl Core {
    /// Creates a database without transactions.
    pub(crate) fn new(parts: CoreParts, tables: OpenTables) -> Rc<Self> {
        Rc::new(Self {
            file: FileExtent::new(parts.device, parts.cache.page_size()),
            runtime: parts.runtime,
            settings: parts.settings,
            cache: parts.cache,
            log: parts.log,
            poison: parts.poison,
            tables,
            versions: RefCell::default(),
            transactions: TransactionTable::new(parts.last_transaction),
            cleanups: CleanupQueue::default(),
            lifecycle: Lifecycle::default(),
            counters: RefCell::default(),
            dbtime: Cell::new(parts.dbtime),
        })
    }

    /// The highest database time assigned so far.
    pub(crate) fn dbtime(&self) -> u64 {
        self.dbtime.get()
    }

    /// Updates the counters.
    pub(crate) fn count(&self, counter: impl FnOnce(&mut Counters)) {
        counter(&mut self.counters.borrow_mut());
    }

    /// Makes a plan over cached pages without changing any.
    pub(crate) async fn look<T>(
        &self,
        mut plan: impl FnMut(&mut Stage<'_>, &Versions) -> Result<T, Halt>,
    ) -> Result<T, TransactionError> {
        let (mut pinned, mut trail) = (Vec::new(), Trail::default());
        loop {
            self.poison.check()?;
            let (stop, missing) = {
                let mut frames = self.cache.frames();
                let (size, last) = (self.cache.page_size(), self.file.last_page());
                let mut stage = Stage::new(&mut *frames, size, last, &mut trail);
                match plan(&mut stage, &self.versions.borrow()) {
                    Ok(value) => return Ok(value),
                    Err(stop) => (stop, stage.take_missing()),
                }
            };
            self.resolve(stop, missing, &mut pinned).await?;
        }
    }

    /// Makes a plan, logs it as one record and carries it out. `undo` derives the steps of a
    /// rollback from the plan's result. The caller continues without yielding in between.
    pub(crate) async fn change<T>(
        &self,
        transaction: TransactionId,
        mut plan: impl FnMut(&mut Stage<'_>, &Versions) -> Result<T, Halt>,
        undo: impl FnOnce(&mut T) -> UndoAction,
    ) -> Result<T, TransactionError> {
        self.throttle().await?;
        let (mut pinned, mut trail) = (Vec::new(), Trail::default());
        let (mut value, finished) = loop {
            self.poison.check()?;
            let (stop, missing) = {
                let mut frames = self.cache.frames();
                if !transaction.is_some() {
                    frames.ignore_uses();
                }
                let (size, last) = (self.cache.page_size(), self.file.last_page());
                let mut stage = Stage::new(&mut *frames, size, last, &mut trail);
                match plan(&mut stage, &self.versions.borrow()) {
                    Ok(value) => break (value, stage.finish()),
                    Err(stop) => (stop, stage.take_missing()),
                }
            };
            self.resolve(stop, missing, &mut pinned).await?;
        };
        if !finished.pages.is_empty() {
            let undo = undo(&mut value);
            self.carry_out(transaction, finished, undo)?;
        }
        Ok(value)
    }

    /// Logs a finished plan and carries it out.
    fn carry_out(
        &self,
        transaction: TransactionId,
        mut finished: FinishedPlan,
        undo: UndoAction,
    ) -> Result<(), TransactionError> {
        if self.settings.log_whole_pages {
            self.carry_whole_pages(&mut finished.pages);
        }
        let dbtime = self.dbtime.get() + 1;
        self.dbtime.set(dbtime);
        let apply = ApplyRecord { transaction, dbtime, pages: finished.pages, undo };
        let span = self.appended(self.log.append_apply(&apply))?;
        self.cache.frames().install(&apply.pages, finished.images, dbtime, span);
        if finished.counts.splits + finished.counts.merges > 0 {
            self.count(|counters| {
                counters.splits += finished.counts.splits;
                counters.merges += finished.counts.merges;
            });
        }
        Ok(())
    }

    /// Prepends edits that rebuild the whole page to the first change of each page since it was
    /// written.
    fn carry_whole_pages(&self, pages: &mut [PageEdits]) {
        let frames = self.cache.frames();
        for change in pages.iter_mut().filter(|change| !change.rebuilds()) {
            if let Some(image) = frames.unchanged(change.page) {
                let mut edits = rebuild(PageRef::new(image));
                edits.append(&mut change.edits);
                change.edits = edits;
            }
        }
    }

    /// Appends a record and returns its span.
    pub(crate) fn append(&self, record: &LogRecord) -> Result<(Lgpos, Lgpos), TransactionError> {
        self.appended(self.log.append(record))
    }

    fn appended(&self, span: Result<Span, LogError>) -> Result<(Lgpos, Lgpos), TransactionError> {
        let span = span.map_err(|error| self.poison(&error))?;
        Ok((span.start, span.end))
    }

    /// Wakes every waiting task, so that each sees that the database is closing.
    pub(crate) fn wake_all(&self) {
        self.lifecycle.work_ended().notify_all();
        self.cache.wake_scavenger();
    }

    /// Waits while the cache exceeds its limit, because new pages enter it without being read, and
    /// while the log's buffer is full.
    async fn throttle(&self) -> Result<(), TransactionError> {
        self.cache.wait_for_room().await?;
        self.log.throttle().await.map_err(|error| self.poison(&error))
    }

    /// Stops the database because of a failure that cannot be undone.
    pub(crate) fn poison(&self, cause: &impl ToString) -> TransactionError {
        let poison = self.poison.set(&cause.to_string());
        self.wake_all();
        TransactionError::Poisoned(poison)
    }

    /// Supplies what a planner needs before it can continue, or returns why it cannot.
    async fn resolve(
        &self,
        stop: Halt,
        missing: Vec<PageNumber>,
        pinned: &mut Vec<Pinned>,
    ) -> Result<(), TransactionError> {
        // A plan that continued past a missing page may have left a page change incomplete. Its
        // later findings, including damage, mean nothing.
        if !missing.is_empty() {
            pinned.extend(self.cache.fetch_all(missing).await?);
            return Ok(());
        }
        match stop {
            Halt::Missing => unreachable!("invariant: a plan that lacks pages names them"),
            Halt::Extend { last } => self.extend(last).await,
            Halt::Damaged { page, problem } => {
                let file = self.file.name().to_owned();
                let problem = problem.to_owned();
                Err(TransactionError::Damaged(UnusablePage { file, page, problem }))
            }
            Halt::Refused(refusal) => {
                if refusal == Refusal::Conflict {
                    self.count(|counters| counters.conflicts += 1);
                }
                Err(refusal.into())
            }
        }
    }

    /// Extends the file up to page `last`, and records that in the log.
    async fn extend(&self, last: PageNumber) -> Result<(), TransactionError> {
        let extended = self.file.extend(last).await;
        if let Some(length) = extended.map_err(|error| self.poison(&error))? {
            self.append(&LogRecord::Extend { length })?;
        }
        Ok(())
    }

    /// Returns the file's space after the last page that the database owns: a crash or failure
    /// between the file's growth and the change that would own it leaves such space. Readers do not
    /// count it as part of the database.
    pub(crate) async fn trim(&self) -> Result<(), TransactionError> {
        if let Some(last) = self.look(|stage, _| space::last_page(stage)).await? {
            let trimmed = self.file.trim(last).await;
            trimmed.map_err(|error| self.poison(&error))?;
        }
        Ok(())
    }

    /// The log position from which recovery would have to start: everything before it is in the
    /// file or will not be needed.
    pub(crate) fn safe_checkpoint(&self) -> Lgpos {
        let durable = self.log.durable();
        let places = [
            self.cache.frames().oldest_dirt(),
            self.transactions.oldest_needed(durable),
            self.cleanups.oldest_needed(),
        ];
        places.into_iter().flatten().fold(durable.min(self.log.tip()), Lgpos::min)
    }

    /// Records the end of a batch of cleanup.
    pub(crate) fn end_cleanup(&self, since: Lgpos) {
        self.transactions.keep_until_durable(since, self.log.tip());
        self.cleanups.release(since);
        self.lifecycle.work_ended().notify_all();
    }

    /// The counts so far.
    pub(crate) fn counters(&self) -> Counters {
        let mut counters = *self.counters.borrow();
        self.cache.count_into(&mut counters);
        let log = self.log.counters();
        counters.log_volume = log.volume;
        counters.log_bytes_written = log.bytes_written;
        counters.log_writes = log.writes;
        counters.log_generations = log.generations;
        counters.file_bytes = self.file.length();
        let checkpoint = self.log.checkpoint();
        let segment = self.log.segment_size();
        counters.checkpoint_depth = Bytes(self.log.tip().bytes_since(checkpoint, segment));
        counters.log_segment = Bytes(segment.bytes() as u64);
        counters.log_durable_to = self.log.durable();
        counters
    }

    /// Sleeps for `span`, or until shortly after the database must stop.
    pub(crate) async fn rest(&self, span: Nanos) {
        let step = Nanos::from_millis(20);
        let end = self.runtime.now() + span;
        while !self.lifecycle.is_stopping() && self.runtime.now() < end {
            let next = end.min(self.runtime.now() + step);
            self.runtime.sleep_until(next).await;
        }
    }

    /// Whether no cleanup is left.
    pub(crate) fn has_cleaned_up(&self) -> bool {
        self.cleanups.is_empty() && self.cleanups.is_idle()
    }

    /// Whether background work should end.
    pub(crate) fn is_over(&self) -> bool {
        self.lifecycle.is_stopping() || self.poison.get().is_some()
    }
}
