//! A transient read error is retried, counted, and is no damage; an error on the medium still is.

use std::rc::Rc;

use crate::world::{FILE, World, message, small_cache};
use device::Purpose;
use engine::{CommitMode, Database, DatabaseFiles, Mended, Order, Row, Settings, TransactionError};
use ese::page::PageSize;
use faults::{Call, Effect, Fault, FaultPlan, FaultyVolume, Matching, Occurrence};
use units::{Nanos, Seed};

const ROWS: i64 = 300;

/// Inserts 300 messages.
async fn fill(database: &Database) {
    let table = database.table("Messages").unwrap();
    let mut row = Row::new();
    for id in 1..=ROWS {
        message(&mut row, id, 1, 200, 2_000);
        let mut transaction = database.begin();
        transaction.insert(&table, &row).await.unwrap();
        transaction.commit(CommitMode::Durable).await.unwrap();
    }
}

/// A database of 300 messages, closed.
fn closed() -> World {
    let world = World::new(3);
    world.create(PageSize::KIB_4);
    world.run(small_cache(), |database| async move { fill(&database).await });
    world
}

/// The same, left open as by a crash.
fn killed() -> World {
    let world = World::new(3);
    world.create(PageSize::KIB_4);
    let (runtime, files) = (world.runtime(), world.files());
    world.executor.block_on(async move {
        let opened = Database::open(&runtime, files, small_cache(), Seed(5)).await;
        fill(&opened.unwrap()).await;
    });
    world.executor.abandon();
    world
}

/// The world's files behind a device whose page reads fail or return wrong data.
fn faulty(
    world: &World,
    purpose: Purpose,
    occurrence: Occurrence,
    effect: Effect,
) -> DatabaseFiles {
    let fault = Fault {
        matching: Matching {
            call: Some(Call::Read),
            purpose: Some(purpose),
            file: Some(FILE.to_owned()),
        },
        occurrence,
        effect,
    };
    let plan = FaultPlan { seed: Seed(1), faults: vec![fault] };
    let inner = Rc::new(world.volume.clone());
    let volume = FaultyVolume::new(inner, plan, world.runtime());
    DatabaseFiles { database: Rc::new(volume), ..world.files() }
}

/// Transient read faults: the read fails, it ends early, or bits are flipped on the way, one or
/// more than can be corrected.
const TROUBLES: [Effect; 4] =
    [Effect::Fail { done: false }, Effect::ShortRead, Effect::FlipBits(40), Effect::FlipBits(1)];

/// Number of corrections counted as the fault's own kind; fails if any were counted as another.
fn named(effect: Effect, mended: Mended) -> u64 {
    let (by_name, others) = match effect {
        // Recovery does not correct a bit on a page too full for a mark, but reads it again.
        Effect::FlipBits(1) => (mended.flipped_bits, mended.failed_reads),
        Effect::FlipBits(_) => (mended.wrong_reads, mended.failed_reads + mended.flipped_bits),
        _ => (mended.failed_reads, mended.wrong_reads + mended.flipped_bits),
    };
    assert_eq!(others, 0, "{effect:?}: {mended:?}");
    by_name
}

/// Reads every message and returns their number.
async fn read_all(database: &Database) -> Result<i64, TransactionError> {
    let table = database.table("Messages").unwrap();
    let transaction = database.begin();
    let mut scan = transaction.scan(&table, Order::Primary, &[]);
    let mut count = 0;
    while scan.next().await?.is_some() {
        count += 1;
    }
    transaction.rollback().await?;
    Ok(count)
}

#[test]
fn a_page_that_comes_in_wrong_once_is_read_again() {
    for effect in TROUBLES {
        let world = closed();
        let every_fifth = Occurrence::Every(5);
        let files = faulty(&world, Purpose::Database, every_fifth, effect);
        let runtime = world.runtime();
        world.executor.block_on(async move {
            let opened = Database::open(&runtime, files, small_cache(), Seed(6)).await;
            let database = opened.unwrap();
            assert_eq!(read_all(&database).await.unwrap(), ROWS, "{effect:?}");
            let counters = database.counters();
            assert!(named(effect, counters.mended) > 5, "{effect:?}: {counters:?}");
            assert_eq!(database.poisoned(), None);
            database.shut_down().await.unwrap();
        });
        world.check();
    }
}

#[test]
fn a_page_that_is_wrong_at_every_attempt_is_damaged() {
    let world = closed();
    let from_now = Occurrence::From(15);
    let files = faulty(&world, Purpose::Database, from_now, Effect::FlipBits(40));
    let runtime = world.runtime();
    world.executor.block_on(async move {
        let opened = Database::open(&runtime, files, small_cache(), Seed(6)).await;
        let database = opened.unwrap();
        let failed = read_all(&database).await;
        assert!(matches!(failed, Err(TransactionError::Damaged(_))), "{failed:?}");
        assert_eq!(database.counters().mended, Mended::default());
    });
}

#[test]
fn the_scan_reads_a_page_again_before_it_counts_as_bad() {
    let world = closed();
    let every_second = Occurrence::Every(2);
    let files = faulty(&world, Purpose::Maintenance, every_second, Effect::FlipBits(40));
    let settings = Settings { maintenance_pause: Some(Nanos::from_millis(1)), ..small_cache() };
    let runtime = world.runtime();
    world.executor.block_on(async move {
        let opened = Database::open(&runtime, files, settings, Seed(6)).await;
        let database = opened.unwrap();
        while database.counters().maintenance_passes < 2 {
            runtime.sleep(Nanos::from_millis(10)).await;
        }
        let counters = database.counters();
        assert_eq!(counters.maintenance_bad_pages, 0, "{counters:?}");
        assert!(counters.mended.wrong_reads > 0 && database.poisoned().is_none());
        database.shut_down().await.unwrap();
    });
}

#[test]
fn recovery_reads_a_page_again_before_it_refuses_it() {
    for effect in TROUBLES {
        let world = killed();
        let every_third = Occurrence::Every(3);
        let files = faulty(&world, Purpose::Database, every_third, effect);
        let runtime = world.runtime();
        world.executor.block_on(async move {
            let recovered =
                Database::recover(&runtime, files, small_cache(), Seed(6), &|_| ()).await;
            let (database, summary) = recovered.unwrap();
            let summary = summary.unwrap();
            assert!(named(effect, summary.mended) > 0, "{effect:?}: {summary:?}");
            assert_eq!(read_all(&database).await.unwrap(), ROWS);
            database.shut_down().await.unwrap();
        });
        world.check();
    }
}
