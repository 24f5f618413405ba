//! The cache stays within its limit, and reads find free pages in it although the writes that make
//! room are slow.

use crate::world::{World, message, small_cache};
use device::{Executor, Latency, MemoryVolume, Runtime, VirtualReactor};
use engine::{CommitMode, Database, Row, Settings};
use ese::page::PageSize;
use units::{Bytes, Nanos, Prng, Seed};

const MESSAGES: i64 = 6_000;
const SESSIONS: u64 = 8;

/// Storage on which some requests take as long as many others.
fn slow_world() -> World {
    let reactor = VirtualReactor::new();
    let latency = Latency::spread(Nanos::from_micros(20), Nanos::from_millis(4), Seed(1));
    let volume = MemoryVolume::new("memory", &reactor, latency);
    World { executor: Executor::new(reactor), volume }
}

const CACHE: Bytes = Bytes::from_mib(4);

/// A cache of 1,024 pages, for a database some six times as large.
fn settings() -> Settings {
    Settings {
        cache_minimum: CACHE,
        cache_maximum: CACHE,
        checkpoint_depth: CACHE,
        ..small_cache()
    }
}

async fn fill(database: &Database) {
    let table = database.table("Messages").unwrap();
    let mut row = Row::new();
    for first in (0..MESSAGES).step_by(20) {
        let mut transaction = database.begin();
        for id in first..first + 20 {
            message(&mut row, id, 1, 200, 2_500);
            transaction.insert(&table, &row).await.unwrap();
        }
        transaction.commit(CommitMode::Lazy).await.unwrap();
        // A change may add its pages to those that were cached when it began.
        let cached = database.counters().cache_bytes;
        assert!(cached.0 <= CACHE.0 + (64 << 10), "{first}: {cached:?}");
    }
}

/// Reads messages anywhere and replaces one in eight, until `until`.
async fn work(database: Database, clock: Runtime, seed: u64, until: Nanos) {
    let table = database.table("Messages").unwrap();
    let (mut row, mut record, mut prng) = (Row::new(), Vec::new(), Prng::new(Seed(seed)));
    while clock.now() < until {
        let id = i64::try_from(prng.below(MESSAGES.unsigned_abs())).unwrap();
        let mut transaction = database.begin();
        if prng.below(8) > 0 {
            let key = table.primary_key(&[&id.to_le_bytes()]).unwrap();
            let found = transaction.read(&table, &key, &mut record).await.unwrap();
            assert!(found, "{id}");
            transaction.commit(CommitMode::Lazy).await.unwrap();
            continue;
        }
        message(&mut row, id, 2, 200, 2_500);
        // Another session may have changed the same message since this one began.
        match transaction.replace(&table, &row).await {
            Ok(()) => drop(transaction.commit(CommitMode::Lazy).await.unwrap()),
            Err(_) => transaction.rollback().await.unwrap(),
        }
    }
}

#[test]
fn pages_wait_for_room_at_first_only() {
    let world = slow_world();
    world.create(PageSize::KIB_4);
    let runtime = world.runtime();
    world.run(settings(), |database| async move {
        fill(&database).await;
        let mut stalls = Vec::new();
        for _ in 0..4 {
            let before = database.counters().page_fault_stalls;
            let until = runtime.now() + Nanos::from_secs(1);
            let sessions: Vec<_> = (0..SESSIONS)
                .map(|seed| runtime.spawn(work(database.clone(), runtime.clone(), seed, until)))
                .collect();
            for session in sessions {
                session.await;
            }
            stalls.push(database.counters().page_fault_stalls - before);
        }
        let last = &stalls[1..];
        assert!(last.iter().all(|stalls| *stalls == 0), "{stalls:?}");
        let written = database.counters().dirty_evictions;
        assert!(written > 5_000, "{written}");
    });
}

#[test]
fn pages_that_are_made_and_never_read_make_room_for_each_other() {
    let world = World::new(2);
    world.create(PageSize::KIB_4);
    world.run(settings(), |database| async move {
        fill(&database).await;
        assert!(database.counters().pages_read < 100);
    });
    assert_eq!(world.check().len(), usize::try_from(MESSAGES).unwrap());
}
