//! A device that acknowledges a write and never makes it: the flush map reveals it, and nothing
//! else is mistaken for it.

use std::rc::Rc;

use crate::world::{FILE, World, message, messages, small_cache};
use device::{Buffer, Durability, OpenMode, Purpose, Request, Runtime, Volume};
use engine::bulk::{BulkOptions, RowSource, load};
use engine::{
    CommitMode, Database, DatabaseFiles, OpenError, Order, Row, Settings, TransactionError,
    flush_map_file,
};
use ese::flush_map::MapRefusal;
use ese::header::{DatabaseHeader, DatabaseState, read_copies};
use ese::page::PageSize;
use ese::{LogTime, Signature};
use faults::{Call, Effect, Fault, FaultPlan, FaultyVolume, Injection, Matching, Occurrence};
use units::{Bytes, Nanos, PageNumber, Seed};

const ROWS: i64 = 300;
const MAP: &str = "mailbox.jfm";

/// A database of 300 messages, closed.
fn filled() -> World {
    let world = World::new(3);
    world.create(PageSize::KIB_4);
    world.run(small_cache(), |database| async move {
        write_all(&database, 1).await.unwrap();
    });
    world
}

/// Writes every message in a version, one transaction for each.
async fn write_all(database: &Database, version: i32) -> Result<(), TransactionError> {
    let table = database.table("Messages").unwrap();
    let mut row = Row::new();
    for id in 1..=ROWS {
        message(&mut row, id, version, 200, 2_000);
        let mut transaction = database.begin();
        if version == 1 {
            transaction.insert(&table, &row).await?;
        } else {
            transaction.replace(&table, &row).await?;
        }
        transaction.commit(CommitMode::Lazy).await?;
    }
    Ok(())
}

/// The files of `world` behind a device that loses the `nth` write of a purpose.
fn lossy(world: &World, purpose: Purpose, nth: u64) -> (DatabaseFiles, FaultyVolume) {
    let matching =
        Matching { call: Some(Call::Write), purpose: Some(purpose), file: Some(FILE.to_owned()) };
    faulty(world, matching, Occurrence::Nth(nth), Effect::LoseWrite)
}

fn faulty(
    world: &World,
    matching: Matching,
    occurrence: Occurrence,
    effect: Effect,
) -> (DatabaseFiles, FaultyVolume) {
    let plan = FaultPlan { seed: Seed(1), faults: vec![Fault { matching, occurrence, effect }] };
    let inner = Rc::new(world.volume.clone());
    let volume = FaultyVolume::new(inner, plan, world.runtime());
    let files = DatabaseFiles { database: Rc::new(volume.clone()), ..world.files() };
    (files, volume)
}

/// Whether a write at this offset carried the page.
fn carried(injection: &Injection, page: PageNumber) -> bool {
    let at = PageSize::KIB_4.file_offset(page);
    (injection.offset..injection.offset + injection.length as u64).contains(&at)
}

/// Loses the `nth` write of pages and returns whether the engine noticed. It need not if the page
/// was written again before it was read.
fn is_noticed(nth: u64) -> bool {
    let world = filled();
    let (files, volume) = lossy(&world, Purpose::Database, nth);
    let runtime = world.runtime();
    let is_noticed = world.executor.block_on(async move {
        let database = Database::open(&runtime, files, small_cache(), Seed(5)).await;
        let database = database.unwrap();
        let mut written = Ok(());
        for version in 2..8 {
            written = written.and(write_all(&database, version).await);
        }
        // Closing reads the space of the database.
        if written.is_ok() {
            written = database.clone().shut_down().await;
        }
        let Err(error) = written else {
            return false;
        };
        match error {
            TransactionError::LostFlush(lost) => {
                assert!(carried(&volume.injections()[0], lost.page), "{lost:?}");
                assert_eq!(lost.found % 3 + 1, lost.written);
                assert!(lost.to_string().contains("lost flush"), "{lost}");
            }
            // The background cleanup found the page first.
            TransactionError::Poisoned(_) => {}
            other => panic!("write {nth}: {other}"),
        }
        assert!(database.poisoned().is_some_and(|poison| poison.is_lost_flush));
        // Two tasks may meet the page at the same time.
        assert!(database.counters().lost_flushes >= 1);
        let closed = database.shut_down().await;
        assert!(matches!(closed, Err(TransactionError::Poisoned(_))));
        true
    });
    if !is_noticed {
        world.check();
        assert!(map_of(&world).1.is_ok());
    }
    is_noticed
}

#[test]
fn a_lost_write_of_the_running_engine_is_named_and_stops_the_database() {
    let noticed = (1..=150).step_by(3).filter(|nth| is_noticed(*nth));
    assert!(noticed.count() >= 25, "most pages are read again");
}

#[test]
fn the_maintenance_scan_finds_a_lost_write_that_is_not_read() {
    let world = filled();
    let (files, volume) = lossy(&world, Purpose::Database, 5);
    let runtime = world.runtime();
    world.executor.block_on(async move {
        // Everything stays in the cache: only the checkpoint writes and only the scan reads.
        let settings = Settings {
            maintenance_pause: Some(Nanos::from_millis(1)),
            checkpoint_depth: Bytes::from_kib(64),
            ..Settings::default()
        };
        let database = Database::open(&runtime, files, settings, Seed(5)).await;
        let database = database.unwrap();
        read_all(&database).await.unwrap();
        let table = database.table("Messages").unwrap();
        let (mut row, mut id) = (Row::new(), 1);
        // Until the write is lost, or the scan has found it already.
        while volume.injections().is_empty() && database.poisoned().is_none() {
            message(&mut row, id, 2, 200, 2_000);
            let mut transaction = database.begin();
            if transaction.replace(&table, &row).await.is_ok() {
                let _ = transaction.commit(CommitMode::Lazy).await;
            }
            id += 1;
        }
        let passes = database.counters().maintenance_passes;
        while database.poisoned().is_none() {
            assert!(database.counters().maintenance_passes < passes + 3);
            runtime.sleep(Nanos::from_millis(5)).await;
        }
        assert!(database.poisoned().unwrap().is_lost_flush);
    });
}

/// 2,000 messages.
struct Source(i64);

impl RowSource for Source {
    fn fill(&mut self, row: &mut Row) -> bool {
        self.0 += 1;
        message(row, self.0, 1, 200, 2_000);
        self.0 <= 2_000
    }
}

async fn fill(runtime: &Runtime, files: &DatabaseFiles) {
    let mut options = BulkOptions::new(messages(), Signature::new(7, LogTime::NEVER));
    options.page_size = PageSize::KIB_4;
    let (volume, file) = (&files.database, &files.file);
    load(runtime, volume, file, &options, &mut Source(0), |_| {}).await.unwrap();
}

#[test]
fn a_write_of_the_fill_that_never_happened_is_a_lost_flush_of_zeros() {
    let world = World::new(4);
    let (files, _) = lossy(&world, Purpose::Fill, 2);
    let runtime = world.runtime();
    world.executor.block_on(async move {
        fill(&runtime, &files).await;
        let opened = Database::open(&runtime, files, small_cache(), Seed(5)).await;
        let error = match opened {
            Err(OpenError::LostFlush(lost)) => TransactionError::LostFlush(lost),
            Err(error) => panic!("{error}"),
            Ok(database) => read_all(&database).await.unwrap_err(),
        };
        let TransactionError::LostFlush(lost) = error else {
            panic!("{error}");
        };
        assert_eq!((lost.written, lost.found), (1, 0));
    });
}

async fn read_all(database: &Database) -> Result<u64, TransactionError> {
    let table = database.table("Messages").unwrap();
    let transaction = database.begin();
    let mut rows = 0;
    let mut scan = transaction.scan(&table, Order::Primary, &[]);
    while scan.next().await?.is_some() {
        rows += 1;
    }
    Ok(rows)
}

/// The header of the database file, and the result of reading its flush map.
fn map_of(world: &World) -> (DatabaseHeader, Result<usize, MapRefusal>) {
    let files = world.files();
    let image = world.volume.image();
    let bytes = image.files[FILE].to_vec();
    let header = read_copies(&bytes).unwrap().header;
    let (database, pages) = (header.clone(), u32::try_from(bytes.len() / 4096 - 2).unwrap());
    let map = world.executor.block_on(async move {
        let read = flush_map_file::read(&*files.database, &files.file, &database, pages);
        read.await.unwrap()
    });
    let known = |page: &u32, map: &ese::flush_map::FlushMap| map.written(PageNumber(*page)) != 0;
    let known = map.map(|map| (1..=pages).filter(|page| known(page, &map)).count());
    (header, known)
}

fn put(world: &World, name: &'static str, bytes: Vec<u8>) {
    let volume = world.volume.clone();
    world.executor.block_on(async move {
        volume.remove(name).await.unwrap();
        let length = bytes.len() as u64;
        let device = volume.open(name, OpenMode::CreateNew { length }).await;
        let buffer = Buffer::copy_of(&bytes);
        let write = Request::write(Purpose::Header, 0, buffer, Durability::Durable);
        device.unwrap().submit(write).await.result.unwrap();
    });
}

#[test]
fn only_the_map_of_the_last_closing_is_believed() {
    let world = filled();
    let (_, known) = map_of(&world);
    assert!(known.unwrap() > 200, "{known:?}");
    let image = world.volume.image();
    let older = image.files[MAP].to_vec();

    // While the database is open its header names no map, so a crash leaves none.
    let (runtime, files) = (world.runtime(), world.files());
    world.executor.block_on(async move {
        let database = Database::open(&runtime, files, small_cache(), Seed(6)).await;
        write_all(&database.unwrap(), 2).await.unwrap();
    });
    world.executor.abandon();
    assert_eq!(map_of(&world).1, Err(MapRefusal::Unpaired));

    // Recovery knows its own writes, the rest is unknown, and nothing is mistaken for a lost write.
    let (runtime, files) = (world.runtime(), world.files());
    world.executor.block_on(async move {
        let recovered = Database::recover(&runtime, files, small_cache(), Seed(7), &|_| {}).await;
        let (database, summary) = recovered.unwrap();
        assert!(summary.unwrap().pages_written > 0);
        assert_eq!(read_all(&database).await, Ok(ROWS.cast_unsigned()));
        database.shut_down().await.unwrap();
    });
    let known_again = map_of(&world).1.unwrap();
    assert!(known_again > 0 && known_again < known.unwrap());

    // An older map of the same database, a damaged one, one that is too long, none.
    let now = world.volume.image().files[MAP].to_vec();
    put(&world, MAP, older);
    assert_eq!(map_of(&world).1, Err(MapRefusal::Foreign));
    let mut damaged = now.clone();
    damaged[9_000] ^= 1;
    put(&world, MAP, damaged);
    assert!(matches!(map_of(&world).1, Err(MapRefusal::Damaged(_))));
    let room = vec![0; 513 * 8192];
    put(&world, MAP, [&now[..], &room].concat());
    assert_eq!(map_of(&world).1, Err(MapRefusal::Foreign));
    put(&world, MAP, now);
    assert_eq!(map_of(&world).1, Ok(known_again));
    world.run(small_cache(), |database| async move {
        assert_eq!(read_all(&database).await, Ok(ROWS.cast_unsigned()));
    });
    assert_eq!(world.check().len(), usize::try_from(ROWS).unwrap());
}

#[test]
fn a_map_that_cannot_be_written_leaves_the_database_to_recovery() {
    let world = filled();
    let matching =
        Matching { call: Some(Call::Write), file: Some(MAP.to_owned()), ..Matching::default() };
    let effect = Effect::Fail { done: false };
    let (files, _) = faulty(&world, matching, Occurrence::Nth(1), effect);
    let runtime = world.runtime();
    world.executor.block_on(async move {
        let database = Database::open(&runtime, files, small_cache(), Seed(5)).await;
        let closed = database.unwrap().shut_down().await;
        assert!(
            matches!(&closed, Err(TransactionError::Poisoned(first)) if first.cause.contains(MAP)),
            "{closed:?}"
        );
    });
    assert_eq!(map_of(&world).0.state, DatabaseState::DirtyShutdown);
    let (runtime, files) = (world.runtime(), world.files());
    world.executor.block_on(async move {
        let recovered = Database::recover(&runtime, files, small_cache(), Seed(7), &|_| {}).await;
        let (database, _) = recovered.unwrap();
        assert_eq!(read_all(&database).await, Ok(ROWS.cast_unsigned()));
        database.shut_down().await.unwrap();
    });
    assert!(map_of(&world).1.is_ok());
}

#[test]
fn a_file_that_lost_its_free_end_is_not_opened() {
    let world = filled();
    let end = world.volume.image().files[FILE].length();
    let (runtime, files) = (world.runtime(), world.files());
    world.executor.block_on(async move {
        let device = files.database.open(FILE, OpenMode::ReadWrite).await.unwrap();
        let page = PageSize::KIB_4.bytes_u64();
        let cut = Request::set_length(Purpose::Database, end - page);
        device.submit(cut).await.result.unwrap();
        drop(device);
        let refused = Database::open(&runtime, files, small_cache(), Seed(5)).await;
        let owned = PageNumber(u32::try_from(PageSize::KIB_4.pages_of_file(end)).unwrap());
        let (file, last) = ("memory/mailbox.edb".to_owned(), PageNumber(owned.0 - 1));
        assert_eq!(refused.err(), Some(OpenError::Truncated { file, last, owned }));
    });
}
