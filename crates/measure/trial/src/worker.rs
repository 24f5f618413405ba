//! One session at work: draws batches, runs them as transactions, checks every record it reads.

use std::cell::Cell;
use std::rc::Rc;

use device::Runtime;
use engine::{CommitMode, Database, Order, Row, Table, Transaction, TransactionError};
use ese::key::{long_long_key, long_long_value};
use record::Series;
use units::Nanos;
use workload::{Commit, Content, Ids, Operation, Pads, Place, Step, Workload};

use crate::Sink;
use crate::commits::{Change, CommitStage, CommitStep};
use crate::issue_recorder::IssueRecorder;
use crate::messages::{Decoder, fill_row};
use crate::meter::Meter;
use crate::pace::LoadHold;

/// How often a session that waits for its turn checks for a stop.
const LOOK: Nanos = Nanos::from_millis(50);

/// When processors finish a transaction, given its arrival time and number of changes.
pub type ProcessorTime = Rc<dyn Fn(Nanos, u64) -> Nanos>;

/// State shared by the sessions of one database.
pub(crate) struct Shared {
    /// Clock and task spawner.
    pub runtime: Runtime,
    pub database: Database,
    /// Table of messages.
    pub table: Table,
    /// Content of its messages.
    pub content: Content,
    /// Range of message numbers ever used.
    pub ids: Ids,
    /// Decodes message records.
    pub decoder: Decoder,
    /// Measures batch transactions.
    pub meter: Rc<Meter>,
    /// Receives the run's errors.
    pub issue_recorder: Rc<IssueRecorder>,
    /// Observer of commits, if any.
    pub commits: Option<Sink<CommitStep>>,
    /// Number of commits requested.
    pub asked: Cell<u64>,
    /// Holds the load at its target, if there is one.
    pub hold: Cell<LoadHold>,
    /// Number of sessions inside a batch.
    pub under_way: Cell<u32>,
    /// How long a session rests after a batch, in percent of the batch.
    pub rest_percent: u32,
    /// Simulated processors; `None` if real ones run the transactions.
    pub processors: Option<ProcessorTime>,
}

impl Shared {
    /// Index of the database in its plan.
    pub(crate) fn index(&self) -> u32 {
        self.content.object() - 1
    }

    /// When the next batch may begin, as predicted `now`.
    fn next_batch(&self, now: Nanos) -> Nanos {
        match self.hold.get() {
            LoadHold::Free => now,
            LoadHold::Closed => now + LOOK,
            LoadHold::At(mut pacer) => {
                let due = pacer.next_batch(self.meter.requests(), self.under_way.get(), now);
                self.hold.set(LoadHold::At(pacer));
                due
            }
        }
    }

    fn tell(&self, transaction: u64, stage: CommitStage) {
        if let Some(commits) = &self.commits {
            commits(CommitStep { database: self.index(), transaction, stage });
        }
    }
}

/// One session.
pub(crate) struct Worker {
    shared: Rc<Shared>,
    /// Set to end the session; checked between batches.
    halt: Rc<Cell<bool>>,
    workload: Box<dyn Workload>,
    pads: Pads,
    row: Row,
    record: Vec<u8>,
    /// Changes of the transaction so far; kept only for an observer of commits.
    changes: Vec<Change>,
    /// Number of those changes, observed or not.
    changed: u64,
}

impl Worker {
    /// A session that runs the batches of `workload` until `halt` is set.
    pub(crate) fn new(
        shared: &Rc<Shared>,
        workload: Box<dyn Workload>,
        halt: &Rc<Cell<bool>>,
    ) -> Self {
        Self {
            shared: Rc::clone(shared),
            halt: Rc::clone(halt),
            workload,
            pads: Pads::default(),
            row: Row::new(),
            record: Vec::new(),
            changes: Vec::new(),
            changed: 0,
        }
    }

    /// Runs batches until the session must end or the database cannot continue.
    pub(crate) async fn work(mut self) {
        let mut steps = Vec::new();
        let shared = Rc::clone(&self.shared);
        while self.may_go_on() {
            self.keep_pace().await;
            if !self.may_go_on() {
                break;
            }
            self.workload.next_into(&mut steps);
            let started = shared.runtime.now();
            shared.under_way.update(|count| count + 1);
            let outcome = self.batch(&steps).await;
            shared.under_way.update(|count| count - 1);
            match outcome {
                Ok(()) => {
                    let span = shared.runtime.now().since(started);
                    shared.meter.record(Series::Transaction, 0, span);
                    self.rest(span).await;
                }
                Err(error) => shared.issue_recorder.stopped(shared.runtime.now(), &error),
            }
            // A batch served entirely from the cache has not waited for anything.
            shared.runtime.yield_now().await;
        }
    }

    fn may_go_on(&self) -> bool {
        !self.halt.get() && self.shared.issue_recorder.fatal().is_none()
    }

    /// Waits until the target has room for one more batch, or the session must end.
    async fn keep_pace(&self) {
        let shared = &self.shared;
        while self.may_go_on() {
            let now = shared.runtime.now();
            let due = shared.next_batch(now);
            if due <= now {
                return;
            }
            // Other sessions may move this deadline in either direction.
            shared.runtime.sleep_until(due.min(now + LOOK)).await;
        }
    }

    /// Rests after a batch that took `span`.
    async fn rest(&self, span: Nanos) {
        let rest = Nanos(span.0 / 100 * u64::from(self.shared.rest_percent));
        self.wait_until(self.shared.runtime.now() + rest).await;
    }

    /// Waits until `due`, or until the session must end.
    async fn wait_until(&self, due: Nanos) {
        let runtime = &self.shared.runtime;
        while runtime.now() < due && self.may_go_on() {
            let next = (runtime.now() + LOOK).min(due);
            runtime.sleep_until(next).await;
        }
    }

    async fn batch(&mut self, steps: &[Step]) -> Result<(), TransactionError> {
        for steps in steps.chunk_by(|step, _| matches!(step, Step::Perform(_))) {
            self.transaction(steps).await?;
        }
        Ok(())
    }

    /// Runs the steps of one transaction, the commit last.
    async fn transaction(&mut self, steps: &[Step]) -> Result<(), TransactionError> {
        let mut transaction = self.shared.database.begin();
        self.changes.clear();
        self.changed = 0;
        for step in steps {
            let operation = match step {
                Step::Perform(operation) => *operation,
                Step::Commit(commit) => return self.commit(transaction, *commit).await,
            };
            match self.perform(&mut transaction, operation).await {
                // Two sessions conflicted on a message, or it was deleted between lookup and
                // access.
                Ok(()) | Err(TransactionError::Conflict | TransactionError::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        unreachable!("invariant: a workload ends every transaction with a commit")
    }

    async fn commit(
        &mut self,
        transaction: Transaction,
        commit: Commit,
    ) -> Result<(), TransactionError> {
        if let Some(processors) = &self.shared.processors {
            let done = processors(self.shared.runtime.now(), self.changed);
            self.wait_until(done).await;
        }
        let number = self.shared.asked.replace(self.shared.asked.get() + 1);
        let changes = std::mem::take(&mut self.changes);
        self.shared.tell(number, CommitStage::Asked(changes));
        let stage = match commit {
            Commit::Lazy => CommitStage::Lazy(transaction.commit(CommitMode::Lazy).await?.0),
            Commit::Durable => {
                CommitStage::Durable(transaction.commit(CommitMode::Durable).await?.0)
            }
        };
        self.shared.tell(number, stage);
        Ok(())
    }

    fn note(&mut self, change: Change) {
        self.changed += 1;
        if self.shared.commits.is_some() {
            self.changes.push(change);
        }
    }

    async fn perform(
        &mut self,
        transaction: &mut Transaction,
        operation: Operation,
    ) -> Result<(), TransactionError> {
        let shared = Rc::clone(&self.shared);
        match operation {
            Operation::Insert => {
                let message_id = shared.ids.append();
                let message = shared.content.message(message_id, 1, &mut self.pads);
                fill_row(&mut self.row, &message, &self.pads);
                transaction.insert(&shared.table, &self.row).await?;
                self.note(Change::Insert(message_id));
                Ok(())
            }
            Operation::Delete(place) => self.delete(transaction, place).await,
            Operation::Replace(place) => {
                let Some((message_id, version)) = self.read(transaction, place).await? else {
                    return Ok(());
                };
                let next = version.wrapping_add(1);
                let message = shared.content.message(message_id, next, &mut self.pads);
                fill_row(&mut self.row, &message, &self.pads);
                transaction.replace(&shared.table, &self.row).await?;
                self.note(Change::Replace(message_id, next));
                Ok(())
            }
            Operation::Read(place) => self.read(transaction, place).await.map(drop),
        }
    }

    async fn delete(
        &mut self,
        transaction: &mut Transaction,
        place: Place,
    ) -> Result<(), TransactionError> {
        let shared = Rc::clone(&self.shared);
        let Some(message_id) = shared.ids.pick(place) else {
            return Ok(());
        };
        let key = long_long_key(message_id);
        match transaction.delete(&shared.table, &key).await {
            Err(TransactionError::NotFound) => {}
            outcome => {
                outcome?;
                self.note(Change::Delete(message_id));
                return Ok(());
            }
        }
        let entry = {
            let mut scan = transaction.scan(&shared.table, Order::Primary, &key);
            scan.next().await?
        };
        let Some(entry) = entry else {
            return Ok(());
        };
        transaction.delete(&shared.table, &entry.key).await?;
        if let Some(found) = long_long_value(&entry.key) {
            self.note(Change::Delete(found));
        }
        Ok(())
    }

    /// Reads and checks the message at `place`, or the next one if that is gone; returns its number
    /// and version, or `None` if there is no message or its content is wrong.
    async fn read(
        &mut self,
        transaction: &Transaction,
        place: Place,
    ) -> Result<Option<(i64, u32)>, TransactionError> {
        let shared = Rc::clone(&self.shared);
        let Some(sought) = shared.ids.pick(place) else {
            return Ok(None);
        };
        let key = long_long_key(sought);
        if transaction.read(&shared.table, &key, &mut self.record).await? {
            return Ok(self.check(&key));
        }
        let mut scan = transaction.scan(&shared.table, Order::Primary, &key);
        let Some(entry) = scan.next().await? else {
            return Ok(None);
        };
        self.record = entry.data;
        Ok(self.check(&entry.key))
    }

    /// Checks `self.record`, found under `key`; returns its number and version.
    fn check(&self, key: &[u8]) -> Option<(i64, u32)> {
        let shared = &self.shared;
        let now = shared.runtime.now();
        let Some(found_under) = long_long_value(key) else {
            let text = format!("{key:02x?} is no key of a message");
            shared.issue_recorder.damaged(now, text);
            return None;
        };
        let record = match shared.decoder.decode(&self.record) {
            Ok(record) => record,
            Err(error) => {
                let text = format!("message {found_under}: {error}");
                shared.issue_recorder.damaged(now, text);
                return None;
            }
        };
        if let Err(mismatch) = record.check(found_under, shared.content.object()) {
            shared.issue_recorder.mismatch(now, &mismatch);
            return None;
        }
        Some((found_under, record.message.version))
    }
}
