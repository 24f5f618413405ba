//! Sessions that insert, replace, delete, read, commit and roll back, and keep the model up to
//! date.

use std::rc::Rc;

use device::Runtime;
use engine::{CommitMode, Database, Row, Table, Transaction, TransactionError};
use units::{Nanos, Prng, Seed};

use super::model::{Changes, Model};
use super::script::Script;
use trial::messages::TABLE;

/// Runs every session of the script to its end.
pub(crate) async fn work(
    runtime: &Runtime,
    script: &Script,
    database: &Database,
    model: &Rc<Model>,
    seed: Seed,
) -> Result<(), String> {
    let sessions: Vec<_> = (0..script.sessions)
        .map(|number| {
            let session = ScriptSession {
                script: script.clone(),
                runtime: runtime.clone(),
                database: database.clone(),
                model: Rc::clone(model),
                prng: Prng::new(seed.derive(0x5E55 + u64::from(number))),
            };
            runtime.spawn(session.run())
        })
        .collect();
    for session in sessions {
        session.await?;
    }
    Ok(())
}

struct ScriptSession {
    script: Script,
    runtime: Runtime,
    database: Database,
    model: Rc<Model>,
    prng: Prng,
}

/// How an attempt to change a row ended.
enum SessionOutcome {
    Done,
    Conflict,
}

impl ScriptSession {
    async fn run(mut self) -> Result<(), String> {
        let table = self.database.table(TABLE);
        let table = table.ok_or("the table is not there")?;
        for _ in 0..self.script.transactions {
            self.transaction(&table)
                .await
                .map_err(|error| format!("a transaction failed: {error}"))?;
            self.perhaps_pause(30).await;
        }
        Ok(())
    }

    /// Pauses with a probability of `percent`.
    async fn perhaps_pause(&mut self, percent: u32) {
        if self.prng.percent(percent) {
            let pause = self.prng.below(self.script.longest_pause.0);
            self.runtime.sleep(Nanos(pause)).await;
        }
    }

    async fn transaction(&mut self, table: &Table) -> Result<(), TransactionError> {
        let mut transaction = self.database.begin();
        let mut changes = Changes::new();
        for _ in 0..=self.prng.below(u64::from(self.script.changes)) {
            if let SessionOutcome::Conflict =
                self.change(table, &mut transaction, &mut changes).await?
            {
                return transaction.rollback().await;
            }
        }
        // The checkpoint may pass uncommitted changes during this pause, and must then account for
        // them.
        self.perhaps_pause(30).await;
        match self.prng.below(100) {
            0..10 => transaction.rollback().await,
            10..15 => {
                drop(transaction);
                Ok(())
            }
            choice => self.commit(transaction, changes, choice < 45).await,
        }
    }

    async fn commit(
        &self,
        transaction: Transaction,
        changes: Changes,
        is_durable: bool,
    ) -> Result<(), TransactionError> {
        // A transaction that changed nothing leaves no record in the log.
        let number = (!changes.is_empty()).then(|| self.model.commit(changes));
        let mode = if is_durable { CommitMode::Durable } else { CommitMode::Lazy };
        transaction.commit(mode).await?;
        if let Some(number) = number.filter(|_| is_durable) {
            self.model.acknowledge(number);
        }
        Ok(())
    }

    /// Changes a random row, based on the transaction's snapshot.
    async fn change(
        &mut self,
        table: &Table,
        transaction: &mut Transaction,
        changes: &mut Changes,
    ) -> Result<SessionOutcome, TransactionError> {
        let id = 1 + self.prng.below(u64::from(self.script.keys)).cast_signed();
        let key = table.primary_key(&[&id.to_le_bytes()]).expect("invariant: a number has a key");
        let mut record = Vec::new();
        let is_there = transaction.read(table, &key, &mut record).await?;
        if self.prng.percent(20) {
            return Ok(SessionOutcome::Done);
        }
        let is_delete = is_there && self.prng.percent(30);
        let version = self.model.next_version();
        let mut row = Row::new();
        self.script.row(id, version).set(&mut row);
        let result = if is_delete {
            transaction.delete(table, &key).await
        } else if is_there {
            transaction.replace(table, &row).await
        } else {
            transaction.insert(table, &row).await
        };
        match result {
            Ok(()) => {
                changes.insert(id, (!is_delete).then_some(version));
                Ok(SessionOutcome::Done)
            }
            Err(TransactionError::Conflict) => Ok(SessionOutcome::Conflict),
            Err(error) => Err(error),
        }
    }
}
