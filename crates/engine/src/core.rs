//! What the parts of an open database share, and the driver that turns plans into changes.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use device::{JoinHandle, Purpose, Request, Runtime};
use ese::Lgpos;
use ese::page::PageRef;
use units::{Bytes, Nanos, ObjectId, PageNumber};

use crate::cache::{Cache, Kept, Pinned};
use crate::counters::Counters;
use crate::edit::{ApplyRecord, PageEdits, TransactionId, UndoAction, rebuild};
use crate::error::{TransactionError, UnusablePage};
use crate::log::{LogError, LogRecord, Span};
use crate::not_as_written::NotAsWritten;
use crate::notify::Notify;
use crate::settings::Settings;
use crate::space;
use crate::stage::{Finished, Refusal, Stage, Stop};
use crate::undo::{Tables, Trees};
use crate::versions::{Cleanup, CommitNumber, Versions};

/// Cleanup that a committed transaction has left.
pub(crate) struct CleanupBatch {
    /// It may begin once everybody sees this commit.
    pub number: CommitNumber,
    /// Where the transaction began: recovery must be able to find the batch again.
    pub since: Lgpos,
    /// What is to be removed, operation by operation.
    pub groups: Vec<CleanupGroup>,
}

/// What one operation has left to remove, in one apply.
pub(crate) struct CleanupGroup {
    /// What goes.
    pub items: Vec<Cleanup>,
    /// Its pages stay in the cache until then, or each would be written, read and written again.
    _kept: Kept,
}

impl CleanupGroup {
    /// Work on pages that need not stay in the cache until it is done.
    pub(crate) fn new(items: Vec<Cleanup>) -> Self {
        Self::on(Kept::default(), items)
    }

    /// Work on pages that are kept for it.
    pub(crate) const fn on(kept: Kept, items: Vec<Cleanup>) -> Self {
        Self { items, _kept: kept }
    }
}

/// An open database.
pub(crate) struct Core {
    pub runtime: Runtime,
    pub settings: Settings,
    pub cache: Rc<Cache>,
    pub versions: RefCell<Versions>,
    pub tables: Tables,
    pub trees: Trees,
    pub counters: RefCell<Counters>,
    pub cleanups: RefCell<VecDeque<CleanupBatch>>,
    /// Where the transactions began whose cleanup is being worked on.
    pub cleaning: RefCell<Vec<Lgpos>>,
    /// A transaction has ended.
    pub ended: Notify,
    /// Background work is to end.
    pub stopping: Cell<bool>,
    /// Nothing more comes: eviction is to end as well.
    pub closed: Cell<bool>,
    pub tasks: RefCell<Vec<JoinHandle<()>>>,
    /// Where the transactions that have changed something began.
    pub active: RefCell<BTreeMap<TransactionId, Lgpos>>,
    /// Ends of transactions and cleanups that may not be durable yet, in the order of the log, each
    /// with where its work began: a crash that loses the end needs all of it again.
    ending: RefCell<VecDeque<(Lgpos, Lgpos)>>,
    pub open_transactions: Cell<usize>,
    /// What reading back the files of the closed database has found.
    pub not_as_written: RefCell<Vec<NotAsWritten>>,
    dbtime: Cell<u64>,
    last_transaction: Cell<u32>,
    last_file_page: Cell<PageNumber>,
    extending: Cell<bool>,
    extended: Notify,
}

/// What [`Core`] begins with.
pub(crate) struct CoreParts {
    pub runtime: Runtime,
    pub settings: Settings,
    pub cache: Rc<Cache>,
    pub tables: Tables,
    pub trees: Trees,
    pub dbtime: u64,
    pub last_transaction: TransactionId,
}

/// The distance between two places of the log, in bytes.
pub(crate) fn log_distance(from: Lgpos, to: Lgpos) -> u64 {
    let place = |place: Lgpos| {
        (u64::from(place.generation.0) << 20)
            + (u64::from(place.segment) << 12)
            + u64::from(place.byte)
    };
    place(to).saturating_sub(place(from))
}

impl Core {
    /// A database without transactions.
    pub(crate) fn new(parts: CoreParts) -> Rc<Self> {
        let size = parts.cache.page_size().bytes_u64();
        let pages = (parts.cache.device.length() / size).saturating_sub(2);
        Rc::new(Self {
            runtime: parts.runtime,
            settings: parts.settings,
            cache: parts.cache,
            tables: parts.tables,
            trees: parts.trees,
            versions: RefCell::default(),
            counters: RefCell::default(),
            cleanups: RefCell::default(),
            cleaning: RefCell::default(),
            not_as_written: RefCell::default(),
            ended: Notify::default(),
            stopping: Cell::new(false),
            closed: Cell::new(false),
            tasks: RefCell::default(),
            active: RefCell::default(),
            ending: RefCell::default(),
            open_transactions: Cell::new(0),
            dbtime: Cell::new(parts.dbtime),
            last_transaction: Cell::new(parts.last_transaction.0),
            last_file_page: Cell::new(PageNumber(u32::try_from(pages).unwrap_or(u32::MAX))),
            extending: Cell::new(false),
            extended: Notify::default(),
        })
    }

    /// The highest database time given out.
    pub(crate) fn dbtime(&self) -> u64 {
        self.dbtime.get()
    }

    /// A number for a new transaction.
    pub(crate) fn next_transaction(&self) -> TransactionId {
        let next = self.last_transaction.get().wrapping_add(1).max(1);
        self.last_transaction.set(next);
        TransactionId(next)
    }

    /// Counts something.
    pub(crate) fn count(&self, counter: impl FnOnce(&mut Counters)) {
        counter(&mut self.counters.borrow_mut());
    }

    /// Makes a plan over cached pages without changing any.
    pub(crate) async fn look<T>(
        &self,
        mut plan: impl FnMut(&mut Stage<'_>, &Versions) -> Result<T, Stop>,
    ) -> Result<T, TransactionError> {
        let mut pinned = Vec::new();
        loop {
            self.cache.poison.check()?;
            let (stop, missing) = {
                let mut frames = self.cache.frames();
                let mut stage = Stage::new(
                    &mut *frames,
                    self.cache.page_size(),
                    self.last_file_page.get(),
                );
                match plan(&mut stage, &self.versions.borrow()) {
                    Ok(value) => return Ok(value),
                    Err(stop) => (stop, stage.take_missing()),
                }
            };
            self.resolve(stop, missing, &mut pinned).await?;
        }
    }

    /// Makes a plan, logs it as one record and carries it out. `undo` says from the plan's result
    /// what a rollback would have to do. What follows in the caller happens in the same stretch.
    pub(crate) async fn change<T>(
        &self,
        transaction: TransactionId,
        mut plan: impl FnMut(&mut Stage<'_>, &Versions) -> Result<T, Stop>,
        undo: impl FnOnce(&mut T) -> UndoAction,
    ) -> Result<T, TransactionError> {
        self.throttle().await?;
        let mut pinned = Vec::new();
        let (mut value, finished) = loop {
            self.cache.poison.check()?;
            let (stop, missing) = {
                let mut frames = self.cache.frames();
                if !transaction.is_some() {
                    frames.ignore_uses();
                }
                let mut stage = Stage::new(
                    &mut *frames,
                    self.cache.page_size(),
                    self.last_file_page.get(),
                );
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
        mut finished: Finished,
        undo: UndoAction,
    ) -> Result<(), TransactionError> {
        if self.settings.log_whole_pages {
            self.carry_whole_pages(&mut finished.pages);
        }
        let dbtime = self.dbtime.get() + 1;
        self.dbtime.set(dbtime);
        let apply = ApplyRecord {
            transaction,
            dbtime,
            pages: finished.pages,
            undo,
        };
        let span = self.appended(self.cache.log.append_apply(&apply))?;
        self.cache
            .frames()
            .install(&apply.pages, finished.images, dbtime, span);
        if finished.counts.splits + finished.counts.merges > 0 {
            self.count(|counters| {
                counters.splits += finished.counts.splits;
                counters.merges += finished.counts.merges;
            });
        }
        Ok(())
    }

    /// Puts edits that make the page anew in front of every first change since it was written.
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

    /// Appends a record and says from where to where it lies.
    pub(crate) fn append(&self, record: &LogRecord) -> Result<(Lgpos, Lgpos), TransactionError> {
        self.appended(self.cache.log.append(record))
    }

    fn appended(&self, span: Result<Span, LogError>) -> Result<(Lgpos, Lgpos), TransactionError> {
        let span = span.map_err(|error| self.poison(&error))?;
        Ok((span.start, span.end))
    }

    /// Wakes every waiting task, so that each sees that the end has come.
    pub(crate) fn wake_all(&self) {
        self.ended.notify_all();
        self.cache.wake_scavenger();
    }

    /// Waits while the cache holds more than it may, as new pages come in without being read, and
    /// while the log's buffer is full.
    async fn throttle(&self) -> Result<(), TransactionError> {
        self.cache.wait_for_room().await?;
        self.cache
            .log
            .throttle()
            .await
            .map_err(|error| self.poison(&error))
    }

    /// Stops the database because of a failure that cannot be undone.
    pub(crate) fn poison(&self, cause: &impl ToString) -> TransactionError {
        let poison = self.cache.poison.set(&cause.to_string());
        self.wake_all();
        TransactionError::Poisoned(poison)
    }

    /// Does what a planner needs before it can go on, or says why it cannot.
    async fn resolve(
        &self,
        stop: Stop,
        missing: Vec<PageNumber>,
        pinned: &mut Vec<Pinned>,
    ) -> Result<(), TransactionError> {
        match stop {
            Stop::Missing => {
                pinned.extend(self.cache.fetch_all(missing).await?);
                Ok(())
            }
            Stop::Extend { last } => self.extend(last).await,
            Stop::Damaged { page, problem } => {
                let file = self.cache.device.name().to_owned();
                let problem = problem.to_owned();
                Err(TransactionError::Damaged(UnusablePage {
                    file,
                    page,
                    problem,
                }))
            }
            Stop::Refused(refusal) => {
                if refusal == Refusal::Conflict {
                    self.count(|counters| counters.conflicts += 1);
                }
                Err(refusal.into())
            }
        }
    }

    /// Makes the file reach up to page `last`. One task extends, others wait for it.
    async fn extend(&self, last: PageNumber) -> Result<(), TransactionError> {
        self.extended.wait_until(|| !self.extending.get()).await;
        if self.last_file_page.get() >= last {
            return Ok(());
        }
        self.extending.set(true);
        let result = self.set_length(last).await;
        self.extending.set(false);
        self.extended.notify_all();
        self.append(&LogRecord::Extend { length: result? })?;
        self.last_file_page.set(last);
        Ok(())
    }

    /// Gives back what the file has behind the last page that the database owns: a crash, or a
    /// failure, between the file's growth and the change that was to own it leaves that. Readers
    /// take it for no part of the database.
    pub(crate) async fn trim(&self) -> Result<(), TransactionError> {
        let owned = self.look(|stage, _| space::last_page(stage)).await?;
        let Some(last) = owned.filter(|last| *last < self.last_file_page.get()) else {
            return Ok(());
        };
        self.set_length(last).await?;
        self.last_file_page.set(last);
        Ok(())
    }

    /// Makes the file end behind page `last`, and returns its length.
    async fn set_length(&self, last: PageNumber) -> Result<Bytes, TransactionError> {
        let length = (u64::from(last.0) + 2) * self.cache.page_size().bytes_u64();
        let request = Request::set_length(Purpose::Database, length);
        let result = self.cache.device.submit(request).await.result;
        result.map_err(|error| self.poison(&error))?;
        Ok(Bytes(length))
    }

    /// The place that recovery would have to begin at: before it, everything is in the file or
    /// will not be needed.
    pub(crate) fn safe_checkpoint(&self) -> Lgpos {
        let dirt = self.cache.frames().oldest_dirt();
        let active = self.active.borrow().values().min().copied();
        let cleanup = self.cleanups.borrow().iter().map(|batch| batch.since).min();
        let cleaning = self.cleaning.borrow().iter().min().copied();
        let log = &self.cache.log;
        let ending = self.oldest_end(log.durable());
        let places = [dirt, active, cleanup, cleaning, ending];
        places
            .into_iter()
            .flatten()
            .fold(log.durable().min(log.tip()), Lgpos::min)
    }

    /// Work that began at `since` has just ended in the log. The checkpoint stays before it until
    /// the end is durable.
    pub(crate) fn keep_until_durable(&self, since: Lgpos) {
        let end = self.cache.log.tip();
        self.ending.borrow_mut().push_back((end, since));
    }

    /// Where the oldest work began of which the end may still be lost.
    fn oldest_end(&self, durable: Lgpos) -> Option<Lgpos> {
        let mut ending = self.ending.borrow_mut();
        while ending.front().is_some_and(|(end, _)| *end <= durable) {
            ending.pop_front();
        }
        ending.iter().map(|(_, since)| *since).min()
    }

    /// Gives no new value of `tree` the number of one whose cleanup may still be pending: it would
    /// be taken for the old one as soon as it is released, before that is committed.
    pub(crate) fn never_again(&self, tree: ObjectId, long_value: u32) {
        let mut tables = self.tables.values();
        let table = tables.find(|table| table.long_values.is_some_and(|of| of.object == tree));
        if let Some(table) = table {
            let next = table
                .next_long_value
                .get()
                .max(long_value.saturating_add(1));
            table.next_long_value.set(next);
        }
    }

    /// What has been counted so far.
    pub(crate) fn counters(&self) -> Counters {
        let mut counters = *self.counters.borrow();
        self.cache.count_into(&mut counters);
        let log = self.cache.log.counters();
        counters.log_volume = log.volume;
        counters.log_bytes_written = log.bytes_written;
        counters.log_writes = log.writes;
        counters.file_bytes = Bytes(self.cache.device.length());
        let (checkpoint, tip) = (self.cache.log.checkpoint(), self.cache.log.tip());
        counters.checkpoint_depth = Bytes(log_distance(checkpoint, tip));
        counters
    }

    /// Sleeps, but not beyond the moment the database is to stop.
    pub(crate) async fn rest(&self, span: Nanos) {
        let step = Nanos::from_millis(20);
        let end = self.runtime.now() + span;
        while !self.stopping.get() && self.runtime.now() < end {
            let next = end.min(self.runtime.now() + step);
            self.runtime.sleep_until(next).await;
        }
    }

    /// Whether background work should end.
    pub(crate) fn is_over(&self) -> bool {
        self.stopping.get() || self.cache.poison.get().is_some()
    }
}
