//! This engine under the mail-like mix: one database on `device-os`, sessions as tasks of a thread.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use device::{Runtime, Volume};
use device_os::{Backend, World};
use engine::bulk::{self, BulkOptions, RowSource};
use engine::{CommitMode, Database, DatabaseFiles, Row, Settings, Table, TransactionError};
use ese::record::{Element, RecordRef, Stored};
use ese::schema::{ColumnDefinition, ColumnId, ColumnType, IndexDefinition, TableDefinition};
use ese::{LogTime, Signature};
use units::{Bytes, Nanos, Seed};
use workload::{MailboxLoad, MailboxOperation, Mailboxes};

use crate::tally::{Line, Tally, Usage};
use xtask::failure::Failure;

const TABLE: &str = "Mail";
const MESSAGE_ID: u16 = 1;
const VALUE: u16 = 256;
const FILE: &str = "mail.edb";
const LOG_BASE: &str = "E00";

/// Parameters of the mix, the same for every engine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mix {
    /// Number of records before the mix begins.
    pub records: u32,
    /// The engine's cache.
    pub cache: Bytes,
    /// Measured time for each number of sessions.
    pub span: Nanos,
    /// Seed of keys, values and operations.
    pub seed: Seed,
}

/// State shared by the sessions.
struct MixState {
    runtime: Runtime,
    database: Database,
    table: Table,
    mailboxes: RefCell<Mailboxes>,
    /// Incremented for every replace, so that each writes a new value.
    version: RefCell<u64>,
}

/// One session's memory, reused for every operation.
#[derive(Default)]
struct SessionBuffers {
    row: Row,
    record: Vec<u8>,
    value: Vec<u8>,
}

/// The records that exist before the mix starts.
struct Preload {
    mailboxes: Mailboxes,
    keys: std::vec::IntoIter<i64>,
    value: Vec<u8>,
}

/// Builds a database in `folder` and runs the mix on it, with each number of sessions in turn.
pub(crate) fn run(folder: &Path, mix: &Mix, sessions: Vec<u32>) -> Result<Vec<Line>, Failure> {
    let world = World::new(Backend::Auto).map_err(Failure::of)?;
    let volume = world.volume(folder).map_err(Failure::of)?;
    let runtime = world.executor().runtime();
    let mix = *mix;
    world.executor().block_on(async move { on_database(runtime, volume, &mix, sessions).await })
}

async fn on_database(
    runtime: Runtime,
    volume: Rc<dyn Volume>,
    mix: &Mix,
    sessions: Vec<u32>,
) -> Result<Vec<Line>, Failure> {
    let mailboxes = Mailboxes::new(mix.seed, mix.records);
    preload(&runtime, &volume, &mailboxes).await?;
    let files = DatabaseFiles {
        database: Rc::clone(&volume),
        file: FILE.to_owned(),
        log: volume,
        log_base: LOG_BASE.to_owned(),
    };
    let settings =
        Settings { cache_minimum: mix.cache, cache_maximum: mix.cache, ..Settings::default() };
    let database =
        Database::open(&runtime, files, settings, mix.seed).await.map_err(Failure::of)?;
    let table =
        database.table(TABLE).ok_or_else(|| Failure::new("the database has lost its table"))?;
    let shared = Rc::new(MixState {
        runtime,
        database: database.clone(),
        table,
        mailboxes: RefCell::new(mailboxes),
        version: RefCell::new(1),
    });
    let mut lines = Vec::new();
    for sessions in sessions {
        lines.push(measure(&shared, mix, sessions).await?);
    }
    drop(shared);
    let down = database.shut_down().await;
    down.map_err(Failure::of)?;
    Ok(lines)
}

async fn preload(
    runtime: &Runtime,
    volume: &Rc<dyn Volume>,
    mailboxes: &Mailboxes,
) -> Result<(), Failure> {
    let signature = Signature::new(1, LogTime::from_unix_millis(0));
    let options = BulkOptions::new(definition(), signature);
    let keys: Vec<i64> = mailboxes.keys().collect();
    let mut source =
        Preload { mailboxes: mailboxes.clone(), keys: keys.into_iter(), value: Vec::new() };
    bulk::load(runtime, volume, FILE, &options, &mut source, |_| {}).await.map_err(Failure::of)?;
    Ok(())
}

fn definition() -> TableDefinition {
    TableDefinition::new(
        TABLE,
        vec![
            ColumnDefinition::new(MESSAGE_ID, "MessageId", ColumnType::LongLong, 0).not_null(),
            ColumnDefinition::new(VALUE, "Value", ColumnType::LongBinary, 0),
        ],
        vec![IndexDefinition::primary("MessageIndex", &[MESSAGE_ID])],
    )
}

impl RowSource for Preload {
    fn fill(&mut self, row: &mut Row) -> bool {
        let Some(key) = self.keys.next() else {
            return false;
        };
        self.mailboxes.value(key, 0, &mut self.value);
        row.set(MESSAGE_ID, &key.to_le_bytes());
        row.set(VALUE, &self.value);
        true
    }
}

async fn measure(shared: &Rc<MixState>, mix: &Mix, sessions: u32) -> Result<Line, Failure> {
    let before = Usage::now().map_err(Failure::of)?;
    let began = shared.runtime.now();
    let until = began + mix.span;
    let tasks: Vec<_> = (0..sessions)
        .map(|session| {
            let load = MailboxLoad::new(mix.seed.derive(u64::from(sessions)), session);
            let session = run_session(Rc::clone(shared), load, until);
            shared.runtime.spawn(session)
        })
        .collect();
    let mut tally = Tally::default();
    for task in tasks {
        let done = task.await;
        tally.add(&done.map_err(Failure::of)?);
    }
    let span = shared.runtime.now().since(began);
    Ok(Line {
        engine: "plimsoll, direct".to_owned(),
        sessions,
        tally,
        span: Duration::from_nanos(span.0),
        usage: (before, Usage::now().map_err(Failure::of)?),
    })
}

async fn run_session(
    shared: Rc<MixState>,
    mut load: MailboxLoad,
    until: Nanos,
) -> Result<Tally, TransactionError> {
    let mut tally = Tally::default();
    let mut buffers = SessionBuffers::default();
    while shared.runtime.now() < until {
        let (operation, durable) = load.next(&mut shared.mailboxes.borrow_mut());
        let began = shared.runtime.now();
        let done = if let MailboxOperation::Read(key) = operation {
            let done = shared.read(key, &mut buffers).await;
            tally.note_read(shared.runtime.now().since(began).0);
            done
        } else {
            shared.update(operation, durable, &mut buffers).await
        };
        match done {
            Ok(found) => tally.count(!found),
            Err(TransactionError::Conflict | TransactionError::NotFound) => tally.count(true),
            Err(error) => return Err(error),
        }
    }
    Ok(tally)
}

impl MixState {
    /// Whether the record exists with its whole value.
    async fn read(&self, key: i64, buffers: &mut SessionBuffers) -> Result<bool, TransactionError> {
        let transaction = self.database.begin();
        buffers.value.clear();
        let found =
            transaction.read(&self.table, &self.primary_key(key), &mut buffers.record).await?;
        let found = match self.long_value(&buffers.record) {
            Some(id) if found => {
                transaction.read_long_value(&self.table, id, &mut buffers.value).await?
            }
            _ => false,
        };
        transaction.rollback().await?;
        Ok(found)
    }

    /// Makes one change in a separate transaction.
    async fn update(
        &self,
        operation: MailboxOperation,
        durable: bool,
        buffers: &mut SessionBuffers,
    ) -> Result<bool, TransactionError> {
        let mut transaction = self.database.begin();
        let changed = match operation {
            MailboxOperation::Insert(key) => {
                self.fill(key, 0, buffers);
                transaction.insert(&self.table, &buffers.row).await
            }
            MailboxOperation::Replace(key) => {
                let version = *self.version.borrow();
                *self.version.borrow_mut() += 1;
                self.fill(key, version, buffers);
                transaction.replace(&self.table, &buffers.row).await
            }
            MailboxOperation::Delete(key) | MailboxOperation::Read(key) => {
                let key = self.primary_key(key);
                transaction.delete(&self.table, &key).await
            }
        };
        if let Err(error) = changed {
            transaction.rollback().await?;
            return Err(error);
        }
        let mode = if durable { CommitMode::Durable } else { CommitMode::Lazy };
        transaction.commit(mode).await?;
        Ok(true)
    }

    fn fill(&self, key: i64, version: u64, buffers: &mut SessionBuffers) {
        let mailboxes = self.mailboxes.borrow();
        mailboxes.value(key, version, &mut buffers.value);
        buffers.row.clear();
        buffers.row.set(MESSAGE_ID, &key.to_le_bytes());
        buffers.row.set(VALUE, &buffers.value);
    }

    fn primary_key(&self, key: i64) -> Vec<u8> {
        let stored = key.to_le_bytes();
        let key = self.table.primary_key(&[&stored]);
        key.expect("invariant: the key is one number")
    }

    fn long_value(&self, record: &[u8]) -> Option<ese::long_value::LongValueId> {
        let record = RecordRef::parse(record, self.table.page_size()).ok()?;
        let column = self.table.definition().column(ColumnId(VALUE))?;
        match record.column(column).ok()? {
            Stored::One(Element::Separated(id)) => Some(id),
            _ => None,
        }
    }
}
