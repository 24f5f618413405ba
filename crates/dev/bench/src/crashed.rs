//! A database dropped in the middle of many small updates, as in a crash.
//!
//! Records of some 900 bytes are changed in place at random. A mailbox store that updates flags and
//! folders all day does the same, and no other load makes recovery read more per byte of log.

use std::path::Path;
use std::rc::Rc;

use device::{Runtime, Volume};
use device_os::{Backend, World};
use engine::bulk::{self, BulkOptions, RowSource};
use engine::{CommitMode, Database, DatabaseFiles, Row, Settings, Table, TransactionError};
use ese::schema::{ColumnDefinition, ColumnType, IndexDefinition, TableDefinition};
use ese::{LogTime, Signature};
use units::{Bytes, Prng, Seed};

use xtask::failure::Failure;

/// The database file's name.
pub(crate) const FILE: &str = "mail.edb";
const TABLE: &str = "Mail";
const NUMBER: u16 = 1;
/// Column ids of the record's plain columns, none longer than a plain column may be.
const PARTS: std::ops::RangeInclusive<u16> = 128..=131;
const PART_BYTES: usize = 225;

/// Sessions that change records concurrently.
const SESSIONS: u64 = 32;
/// One transaction in this many commits durably.
const DURABLE_EVERY: u64 = 16;

/// The database to build and the length of its load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crashed {
    /// Records, numbered from 1.
    pub records: u64,
    /// The engine's cache.
    pub cache: Bytes,
    /// Length of the log that recovery must replay.
    pub log: Bytes,
    /// Seed of content and order.
    pub seed: Seed,
}

impl Crashed {
    /// Builds the database in `folder` and updates it until recovery has `log` to replay.
    pub(crate) fn make(self, folder: &Path) -> Result<(), Failure> {
        let world = World::new(Backend::Auto).map_err(Failure::of)?;
        let volume = world.volume(folder).map_err(Failure::of)?;
        let runtime = world.executor().runtime();
        // The tasks are dropped when this returns; their remaining work is never done.
        world.executor().block_on(async move { self.work(&runtime, &volume).await })
    }

    async fn work(self, runtime: &Runtime, volume: &Rc<dyn Volume>) -> Result<(), Failure> {
        let options = BulkOptions::new(definition(), Signature::new(1, LogTime::NEVER));
        let mut source = CrashedRows { seed: self.seed, numbers: 1..=self.records };
        let filled = bulk::load(runtime, volume, FILE, &options, &mut source, |_| {}).await;
        filled.map_err(Failure::of)?;
        let opened = Database::open(runtime, files(volume, FILE), self.settings(), self.seed).await;
        let database = opened.map_err(Failure::of)?;
        let table = database.table(TABLE);
        let table = table.ok_or_else(|| Failure::new("the database has lost its table"))?;
        let mut oldest = database.begin();
        // The checkpoint does not advance while this transaction is open.
        let first = oldest.replace(&table, &row(self.seed, 1, 1)).await;
        first.map_err(Failure::of)?;
        let sessions: Vec<_> = (0..SESSIONS)
            .map(|number| {
                let session = self.session(database.clone(), table.clone(), number);
                runtime.spawn(session)
            })
            .collect();
        for session in sessions {
            session.await.map_err(Failure::of)?;
        }
        drop(oldest);
        Ok(())
    }

    async fn session(
        self,
        database: Database,
        table: Table,
        number: u64,
    ) -> Result<(), TransactionError> {
        let mut prng = Prng::new(self.seed.derive(number));
        while database.counters().log_volume < self.log {
            let record = 2 + prng.below(self.records - 1);
            let row = row(self.seed, record, prng.below(1 << 32));
            let mut transaction = database.begin();
            match transaction.replace(&table, &row).await {
                Ok(()) => {}
                Err(TransactionError::Conflict) => {
                    transaction.rollback().await?;
                    continue;
                }
                Err(error) => return Err(error),
            }
            let mode = match prng.below(DURABLE_EVERY) {
                0 => CommitMode::Durable,
                _ => CommitMode::Lazy,
            };
            transaction.commit(mode).await?;
        }
        Ok(())
    }

    fn settings(&self) -> Settings {
        Settings {
            cache_minimum: self.cache,
            cache_maximum: self.cache,
            checkpoint_depth: Bytes(self.log.0 * 2),
            ..Settings::default()
        }
    }
}

/// Locations of a database named `file`, and of its log.
pub(crate) fn files(volume: &Rc<dyn Volume>, file: &str) -> DatabaseFiles {
    DatabaseFiles {
        database: Rc::clone(volume),
        file: file.to_owned(),
        log: Rc::clone(volume),
        log_base: "E00".to_owned(),
    }
}

fn definition() -> TableDefinition {
    let new = ColumnDefinition::new;
    let number = new(NUMBER, "Number", ColumnType::LongLong, 0).not_null();
    let parts = PARTS.map(|part| new(part, &format!("Part{part}"), ColumnType::Binary, 255));
    let primary = IndexDefinition::primary("Primary", &[NUMBER]);
    let columns = [number].into_iter().chain(parts).collect();
    TableDefinition::new(TABLE, columns, vec![primary])
}

fn row(seed: Seed, number: u64, version: u64) -> Row {
    let mut row = Row::new();
    fill(seed, number, version, &mut row);
    row
}

fn fill(seed: Seed, number: u64, version: u64, row: &mut Row) {
    let mut prng = Prng::new(seed.derive(number).derive(version));
    row.set(NUMBER, &number.to_le_bytes());
    let mut bytes = [0; PART_BYTES];
    for part in PARTS {
        prng.fill(&mut bytes);
        row.set(part, &bytes);
    }
}

/// Source of the records that exist before the updates start.
struct CrashedRows {
    seed: Seed,
    numbers: std::ops::RangeInclusive<u64>,
}

impl RowSource for CrashedRows {
    fn fill(&mut self, row: &mut Row) -> bool {
        let Some(number) = self.numbers.next() else {
            return false;
        };
        fill(self.seed, number, 0, row);
        true
    }
}
