//! A database that is left without being closed: recovery has its whole log to replay, and nothing
//! that was committed is missing afterwards.

use std::rc::Rc;

use crate::world::{FILE, World, message, small_cache};
use device::{Buffer, Durability, OpenMode, Purpose, Request, Volume};
use engine::recovery::{RecoverySummary, growth};
use engine::{CheckpointMode, CommitMode, Database, DatabaseFiles, Row, Settings};
use ese::Lgpos;
use ese::page::PageSize;
use units::{Bytes, Generation, Nanos, Seed};

/// Not a multiple of 7, so that steps of seven reach every row.
const ROWS: i64 = 1_500;
const COPY: &str = "mailbox.copy";

/// A cache that is much smaller than the database, and a checkpoint that does not move.
fn held() -> Settings {
    Settings { checkpoint: CheckpointMode::Held, ..small_cache() }
}

/// Opens the database, copies its file, commits every message and another version of each without
/// waiting for the log, and leaves the database. Returns the end of the log.
async fn load(world_files: DatabaseFiles, runtime: device::Runtime) -> Lgpos {
    let volume = Rc::clone(&world_files.database);
    let database = Database::open(&runtime, world_files, held(), Seed(5)).await.unwrap();
    copy(&*volume).await;
    let table = database.table("Messages").unwrap();
    let mut row = Row::new();
    for change in 0..2 * ROWS {
        let mut transaction = database.begin();
        if change < ROWS {
            message(&mut row, change + 1, 1, 200, 1_000);
            transaction.insert(&table, &row).await.unwrap();
        } else {
            message(&mut row, change * 7 % ROWS + 1, 2, 200, 1_000);
            transaction.replace(&table, &row).await.unwrap();
        }
        transaction.commit(CommitMode::Lazy).await.unwrap();
    }
    assert!(database.counters().log_generations > 3, "{:?}", database.counters());
    database.abandon().await.unwrap()
}

async fn copy(volume: &dyn Volume) {
    let from = volume.open(FILE, OpenMode::ReadOnly).await.unwrap();
    let length = from.length();
    let to = volume.open(COPY, OpenMode::CreateNew { length }).await.unwrap();
    let bytes = usize::try_from(length).unwrap();
    let read = from.submit(Request::read(Purpose::Fill, 0, bytes)).await;
    let bytes: Buffer = read.into_buffer().unwrap();
    let write = Request::write(Purpose::Fill, 0, bytes, Durability::Durable);
    to.submit(write).await.into_buffer().unwrap();
}

/// The remains of a database under load, and the end of its log.
fn abandoned() -> (World, Lgpos) {
    let world = World::new(3);
    world.create(PageSize::KIB_4);
    let work = load(world.files(), world.runtime());
    let end = world.executor.block_on(work);
    (world, end)
}

/// Recovers and closes the database.
fn recover(world: &World, settings: Settings) -> RecoverySummary {
    let (runtime, files) = (world.runtime(), world.files());
    world.executor.block_on(async move {
        let opened = Database::recover(&runtime, files, settings, Seed(6), &|_| ()).await;
        let (database, summary) = opened.unwrap();
        database.shut_down().await.unwrap();
        summary.expect("it was not closed")
    })
}

fn rows_of(world: &World) -> usize {
    world.check().len()
}

#[test]
fn the_whole_log_is_replayed_and_nothing_is_missing() {
    let (world, end) = abandoned();
    let summary = recover(&world, small_cache());
    assert_eq!((summary.first, summary.end), (Generation(1), end));
    assert!(summary.last > Generation(3));
    assert_eq!(summary.losers, 0);
    // The cache had to write pages during the load.
    assert!(summary.pages_skipped > 1_000, "{summary:?}");
    assert_eq!(rows_of(&world), usize::try_from(ROWS).unwrap());
    world.run(small_cache(), |database| async move {
        assert!(database.table("Messages").is_some(), "it was closed");
    });
}

#[test]
fn a_copy_from_before_the_load_gets_every_change_and_is_written_as_its_depth_says() {
    let replay = |depth| {
        let (world, end) = abandoned();
        let volume = world.volume.clone();
        world.executor.block_on(async move { volume.rename(COPY, FILE).await.unwrap() });
        let large = Settings { cache_maximum: Bytes::from_mib(64), ..small_cache() };
        let summary = recover(&world, Settings { checkpoint_depth: depth, ..large });
        assert_eq!((summary.end, summary.pages_skipped), (end, 0));
        assert_eq!(rows_of(&world), usize::try_from(ROWS).unwrap());
        summary.pages_written
    };
    let (deep, shallow) = (replay(Bytes::from_mib(100)), replay(Bytes::from_kib(512)));
    assert!(shallow > deep + deep / 20, "{shallow} {deep}");
}

#[test]
fn a_finished_recovery_leaves_the_storage_alone() {
    let (world, _) = abandoned();
    let (runtime, files) = (world.runtime(), world.files());
    world.executor.block_on(async move {
        let opened = Database::recover(&runtime, files, small_cache(), Seed(6), &|_| ()).await;
        let (database, summary) = opened.unwrap();
        assert!(summary.is_some_and(|summary| summary.cleanups > 1_000), "{summary:?}");
        database.finish_recovery().await.unwrap();
        let before = database.counters();
        assert_eq!(before.dirty_pages, 0, "{before:?}");
        runtime.sleep(Nanos::from_secs(10)).await;
        let after = database.counters();
        assert_eq!(after.page_requests, before.page_requests);
        assert_eq!(after.pages_written, before.pages_written);
        database.shut_down().await.unwrap();
    });
    assert_eq!(rows_of(&world), usize::try_from(ROWS).unwrap());
}

/// The copy has the length that the file had at the checkpoint, so that a crash can leave it.
#[test]
fn the_log_names_all_growth_that_a_crash_may_undo() {
    let (world, _) = abandoned();
    let image = world.volume.image();
    let [before, after] = [COPY, FILE].map(|file| Bytes(image.files[file].length()));
    let files = world.files();
    let grown = world.executor.block_on(async move { growth(&files).await.unwrap() });
    assert!(before < after && grown.first().is_some_and(|first| *first > before), "{grown:?}");
    assert_eq!(grown.last(), Some(&after), "{grown:?}");
    recover(&world, held());
    let files = world.files();
    let again = world.executor.block_on(async move { growth(&files).await.unwrap() });
    assert!(again.is_empty(), "the checkpoint has passed it: {again:?}");
}
