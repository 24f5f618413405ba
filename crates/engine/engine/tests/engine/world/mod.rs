//! A database on memory in virtual time, for tests.

pub(crate) mod integrity;

use std::rc::Rc;

use device::{Executor, Latency, MemoryVolume, Runtime, VirtualReactor, Volume};
use engine::bulk::{BulkOptions, create_empty};
use engine::{Database, DatabaseFiles, Row, Settings};
use ese::page::PageSize;
use ese::schema::{ColumnDefinition, ColumnType, IndexDefinition, TableDefinition};
use ese::{LogTime, Signature};
use units::{Bytes, Nanos, Prng, Seed};

pub(crate) const FILE: &str = "mailbox.edb";

/// The table of mailbox databases.
pub(crate) fn messages() -> TableDefinition {
    let new = ColumnDefinition::new;
    let columns = vec![
        new(1, "MessageId", ColumnType::LongLong, 0).not_null(),
        new(2, "ObjectId", ColumnType::Long, 0),
        new(3, "Version", ColumnType::Long, 0),
        new(4, "Received", ColumnType::LongLong, 0),
        new(5, "RecordHash", ColumnType::Guid, 0),
        new(6, "LongHash", ColumnType::Guid, 0),
        new(128, "ShortPad", ColumnType::Binary, 255),
        new(256, "LongPad", ColumnType::LongBinary, 0),
    ];
    let indexes = vec![
        IndexDefinition::primary("MessageIndex", &[1]),
        IndexDefinition::secondary("ReceivedIndex", &[4]),
    ];
    TableDefinition::new("Messages", columns, indexes)
}

/// Memory, time and tasks.
pub(crate) struct World {
    pub executor: Executor,
    pub volume: MemoryVolume,
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        let reactor = VirtualReactor::new();
        let latency = Latency::spread(Nanos::from_micros(20), Nanos::from_micros(300), Seed(seed));
        let volume = MemoryVolume::new("memory", &reactor, latency);
        Self { executor: Executor::new(reactor), volume }
    }

    pub(crate) fn runtime(&self) -> Runtime {
        self.executor.runtime()
    }

    pub(crate) fn files(&self) -> DatabaseFiles {
        let volume: Rc<dyn Volume> = Rc::new(self.volume.clone());
        DatabaseFiles {
            database: Rc::clone(&volume),
            file: FILE.to_owned(),
            log: volume,
            log_base: "E00".to_owned(),
        }
    }

    /// Makes an empty database.
    pub(crate) fn create(&self, page_size: PageSize) {
        let (runtime, files) = (self.runtime(), self.files());
        self.executor.block_on(async move {
            let mut options =
                BulkOptions::new(messages(), Signature::new(7, LogTime::from_unix_millis(0)));
            options.page_size = page_size;
            create_empty(&runtime, &files.database, &files.file, &options).await.unwrap();
        });
    }

    /// Checks the file's bytes and returns its rows.
    pub(crate) fn check(&self) -> integrity::Rows {
        let image = self.volume.image();
        let file = &image.files[FILE];
        let mut bytes = vec![0; usize::try_from(file.length()).unwrap()];
        file.read(0, &mut bytes);
        integrity::check(&bytes)
    }

    /// Opens the database and runs `work` on it; closes it cleanly.
    pub(crate) fn run<F>(&self, settings: Settings, work: impl FnOnce(Database) -> F + 'static)
    where
        F: Future<Output = ()> + 'static,
    {
        let (runtime, files) = (self.runtime(), self.files());
        self.executor.block_on(async move {
            let database = Database::open(&runtime, files, settings, Seed(11)).await.unwrap();
            work(database.clone()).await;
            database.shut_down().await.unwrap();
        });
    }
}

/// A small cache, so that pages come and go.
pub(crate) fn small_cache() -> Settings {
    Settings {
        cache_minimum: Bytes::from_kib(512),
        cache_maximum: Bytes::from_kib(512),
        checkpoint_depth: Bytes::from_mib(1),
        ..Settings::default()
    }
}

/// The row of a message in a version, with a payload of the given size.
pub(crate) fn message(row: &mut Row, id: i64, version: i32, short: usize, long: usize) {
    let seed = Seed(id.cast_unsigned()).derive(u64::from(version.cast_unsigned()));
    let mut prng = Prng::new(seed);
    let mut bytes = vec![0; short.max(long).max(16)];
    prng.fill(&mut bytes);
    row.clear();
    row.set(1, &id.to_le_bytes())
        .set(2, &5_i32.to_le_bytes())
        .set(3, &version.to_le_bytes())
        .set(4, &(id / 16 + i64::from(version) * 3).to_le_bytes())
        .set(5, &bytes[..16])
        .set(128, &bytes[..short])
        .set(256, &bytes[..long]);
}
