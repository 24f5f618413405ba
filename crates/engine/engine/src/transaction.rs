//! Transactions: snapshot reads, first writer wins, rollback.
//!
//! A transaction sees a snapshot of the database from its start, plus its own changes. It cannot
//! change a row that another transaction has changed since: [`TransactionError::Conflict`].

mod scan;

pub use scan::{Entry, Order, Scan};

use std::rc::Rc;

use ese::Lgpos;
use ese::long_value::LongValueId;
use wal::LogRecord;
use wal::edit::{TransactionId, Undo, UndoAction};

use crate::core::{CleanupBatch, CleanupGroup, Core};
use crate::error::TransactionError;
use crate::long_value;
use crate::row::Row;
use crate::rows::{Prepared, RowChange, View};
use crate::stage::{Halt, Stage};
use crate::table::Table;
use crate::undo::undo;
use crate::versions::{Cleanup, NodeKey, Versions, Viewer};

/// How long a commit waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitMode {
    /// No waiting: the commit becomes durable with the next one that waits, or when the log buffer
    /// is written for another reason. Order is always kept.
    Lazy,
    /// Until the log is on stable storage.
    Durable,
}

/// End of the log after a commit record; later commits have greater positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommitPosition(pub Lgpos);

/// A transaction. End it with [`Transaction::commit`] or [`Transaction::rollback`]; one that is
/// dropped is rolled back in the background, and its rows stay locked until that is done.
pub struct Transaction {
    work: Option<TransactionWork>,
}

/// A transaction's work so far.
struct TransactionWork {
    core: Rc<Core>,
    viewer: Viewer,
    /// Position of its begin record, once it has changed something.
    begun: Option<Lgpos>,
    undo: Vec<Vec<Undo>>,
    nodes: Vec<NodeKey>,
    cleanups: Vec<CleanupGroup>,
}

impl Transaction {
    pub(crate) fn begin(core: &Rc<Core>) -> Self {
        let viewer = Viewer {
            transaction: core.transactions.open(),
            snapshot: core.versions.borrow_mut().begin(),
        };
        let work = TransactionWork {
            core: Rc::clone(core),
            viewer,
            begun: None,
            undo: Vec::new(),
            nodes: Vec::new(),
            cleanups: Vec::new(),
        };
        Self { work: Some(work) }
    }

    fn work(&self) -> &TransactionWork {
        self.work.as_ref().expect("invariant: only ending a transaction takes its work")
    }

    fn work_mut(&mut self) -> &mut TransactionWork {
        self.work.as_mut().expect("invariant: only ending a transaction takes its work")
    }

    /// Inserts a row: record, long values and index entries, in one log record.
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method itself is not general enough in its lifetimes"
    )]
    pub async fn insert(&mut self, table: &Table, row: &Row) -> Result<(), TransactionError> {
        let work = self.work_mut();
        work.write_row(table, row, |view, stage, row| view.insert(stage, row)).await?;
        work.core.count(|counters| counters.inserts += 1);
        Ok(())
    }

    /// Puts the record with this primary key into `record`, without its long values; false if the
    /// snapshot has none. Decode it with `ese::record`.
    pub async fn read(
        &self,
        table: &Table,
        key: &[u8],
        record: &mut Vec<u8>,
    ) -> Result<bool, TransactionError> {
        let work = self.work();
        let found = work
            .core
            .look(|stage, versions| work.view(table, versions).read(stage, key, record))
            .await?;
        work.core.count(|counters| counters.reads += 1);
        Ok(found)
    }

    /// Reads the long value with this number (the LID in a record) into `value`; false if there is
    /// none.
    pub async fn read_long_value(
        &self,
        table: &Table,
        id: LongValueId,
        value: &mut Vec<u8>,
    ) -> Result<bool, TransactionError> {
        let Some(tree) = table.state.long_values else {
            return Ok(false);
        };
        self.work().core.look(|stage, _| long_value::read(stage, &tree, id, value)).await
    }

    /// Replaces every column, long values included, of the row with the primary key of `row`.
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method itself is not general enough in its lifetimes"
    )]
    pub async fn replace(&mut self, table: &Table, row: &Row) -> Result<(), TransactionError> {
        let work = self.work_mut();
        work.write_row(table, row, |view, stage, row| view.replace(stage, row)).await?;
        work.core.count(|counters| counters.replaces += 1);
        Ok(())
    }

    /// Deletes the row with this primary key.
    pub async fn delete(&mut self, table: &Table, key: &[u8]) -> Result<(), TransactionError> {
        let work = self.work_mut();
        work.change_row(table, |view, stage| view.delete(stage, key)).await?;
        work.core.count(|counters| counters.deletes += 1);
        Ok(())
    }

    /// A scan that begins at the first entry whose key is not below `from`.
    pub fn scan(&self, table: &Table, order: Order, from: &[u8]) -> Scan<'_> {
        Scan::new(self, table, order, from)
    }

    /// Ends the transaction and makes its changes visible to those that begin later.
    pub async fn commit(mut self, mode: CommitMode) -> Result<CommitPosition, TransactionError> {
        let work = self.work.take().expect("invariant: a transaction ends once");
        work.commit(mode).await
    }

    /// Ends the transaction and undoes its changes.
    pub async fn rollback(mut self) -> Result<(), TransactionError> {
        let work = self.work.take().expect("invariant: a transaction ends once");
        work.roll_back().await
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        let Some(work) = self.work.take() else {
            return;
        };
        if work.begun.is_none() {
            work.end();
            return;
        }
        let runtime = work.core.runtime.clone();
        // A failure poisons the database, so later users see it.
        drop(runtime.spawn(async move { work.roll_back().await }));
    }
}

impl TransactionWork {
    fn view<'a>(&self, table: &'a Table, versions: &'a Versions) -> View<'a> {
        View { table: &table.state, versions, viewer: self.viewer }
    }

    /// Encodes a row and plans it with `plan`. Every attempt encodes it again, so that long values
    /// are numbered in the order in which they are stored, whatever the attempts waited for.
    async fn write_row(
        &mut self,
        table: &Table,
        row: &Row,
        plan: impl Fn(&View<'_>, &mut Stage<'_>, &Prepared<'_>) -> Result<RowChange, Halt>,
    ) -> Result<(), TransactionError> {
        self.change_row(table, |view, stage| {
            let prepared = table.state.prepare(row)?;
            let planned = plan(view, stage, &prepared);
            if planned.is_err() {
                table.state.unprepare(&prepared);
            }
            planned
        })
        .await
    }

    async fn change_row(
        &mut self,
        table: &Table,
        plan: impl Fn(&View<'_>, &mut Stage<'_>) -> Result<RowChange, Halt>,
    ) -> Result<(), TransactionError> {
        self.log_begin()?;
        let core = Rc::clone(&self.core);
        let mut pushed = Vec::new();
        let change = core
            .change(
                self.viewer.transaction,
                |stage, versions| plan(&self.view(table, versions), stage),
                |change| {
                    pushed = std::mem::take(&mut change.undo);
                    UndoAction::Push(pushed.clone())
                },
            )
            .await?;
        self.undo.push(pushed);
        if !change.cleanups.is_empty() {
            let kept = core.cache.keep(&change.cleanup_pages);
            self.cleanups.push(CleanupGroup::on(kept, change.cleanups));
        }
        let mut versions = core.versions.borrow_mut();
        for (node, before) in change.versions {
            versions.push(node.clone(), self.viewer.transaction, before);
            self.nodes.push(node);
        }
        Ok(())
    }

    fn log_begin(&mut self) -> Result<(), TransactionError> {
        if self.begun.is_none() {
            let transaction = self.viewer.transaction;
            let (start, _) = self.core.append(&LogRecord::Begin { transaction })?;
            self.core.transactions.activate(transaction, start);
            self.begun = Some(start);
        }
        Ok(())
    }

    async fn commit(mut self, mode: CommitMode) -> Result<CommitPosition, TransactionError> {
        let core = Rc::clone(&self.core);
        if let Err(poisoned) = core.poison.check() {
            self.end();
            return Err(poisoned);
        }
        let Some(since) = self.begun else {
            self.end();
            return Ok(CommitPosition(core.log.tip()));
        };
        let transaction = self.viewer.transaction;
        let end = match core.append(&LogRecord::Commit { transaction }) {
            Ok((_, end)) => end,
            Err(error) => {
                self.end();
                return Err(error);
            }
        };
        let nodes = std::mem::take(&mut self.nodes);
        let number = core.versions.borrow_mut().commit(transaction, nodes);
        let groups = std::mem::take(&mut self.cleanups);
        if !groups.is_empty() {
            core.cleanups.push(CleanupBatch { number, since, groups });
        }
        self.end();
        match mode {
            CommitMode::Lazy => core.count(|counters| counters.lazy_commits += 1),
            CommitMode::Durable => {
                core.log.flush_to(end).await.map_err(|error| core.poison(&error))?;
                core.count(|counters| counters.durable_commits += 1);
            }
        }
        Ok(CommitPosition(end))
    }

    async fn roll_back(mut self) -> Result<(), TransactionError> {
        let core = Rc::clone(&self.core);
        let transaction = self.viewer.transaction;
        let stack = std::mem::take(&mut self.undo);
        let revived = revived_nodes(&stack);
        let result = if self.begun.is_some() {
            core.undo_transaction(transaction, stack).await
        } else {
            Ok(())
        };
        if let Err(error) = &result
            && !matches!(error, TransactionError::Poisoned(_))
        {
            // The database cannot continue after half a rollback.
            core.poison(error);
        }
        core.versions.borrow_mut().forget(transaction, &self.nodes);
        if let Some(since) = self.begun.filter(|_| !revived.is_empty()) {
            let number = core.versions.borrow().last_commit();
            let batch = CleanupBatch { number, since, groups: vec![CleanupGroup::new(revived)] };
            core.cleanups.push(batch);
        }
        self.end();
        core.count(|counters| counters.rollbacks += 1);
        result
    }

    /// Releases everything a transaction holds, however it ended.
    fn end(self) {
        let core = &self.core;
        let tip = core.log.tip();
        core.transactions.close(self.viewer.transaction, tip);
        let mut versions = core.versions.borrow_mut();
        versions.end(self.viewer.snapshot);
        versions.trim();
        core.lifecycle.work_ended().notify_all();
    }
}

/// Deleted nodes that a transaction had revived; the deleting transaction left their cleanup to it.
fn revived_nodes(stack: &[Vec<Undo>]) -> Vec<Cleanup> {
    let mut revived = Vec::new();
    for undo in stack.iter().flatten() {
        if let Undo::Revive { tree, key, data } = undo {
            revived.push(Cleanup::Node { tree: *tree, key: key.clone(), data: data.clone() });
        }
    }
    revived
}

impl Core {
    /// Undoes everything a transaction has done, each push of its undo stack in one apply, and
    /// logs its end. Used at run time and for the losers of a crash.
    pub(crate) async fn undo_transaction(
        &self,
        transaction: TransactionId,
        mut stack: Vec<Vec<Undo>>,
    ) -> Result<(), TransactionError> {
        while let Some(pushed) = stack.pop() {
            self.change(
                transaction,
                |stage, _| undo(stage, &self.tables, &pushed),
                |()| UndoAction::Pop,
            )
            .await?;
        }
        self.append(&LogRecord::Rollback { transaction })?;
        Ok(())
    }
}
