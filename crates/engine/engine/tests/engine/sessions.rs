//! Transactions through the public interface, on memory in virtual time.

use crate::world::{World, message, messages, small_cache};
use engine::{CommitMode, Database, Row, Settings, Table, Transaction};
use ese::long_value::LongValueId;
use ese::page::PageSize;
use ese::record::{Element, RecordRef, Stored};
use units::{Nanos, Seed};

#[test]
fn what_was_committed_is_there_after_opening_again() {
    let world = World::new(1);
    world.create(PageSize::KIB_4);
    world.run(small_cache(), |database| async move {
        let table = database.table("Messages").unwrap();
        let mut row = Row::new();
        for first in (1..1000).step_by(16) {
            let mut transaction = database.begin();
            for id in first..first + 16 {
                message(&mut row, id, 1, 200, 2000);
                transaction.insert(&table, &row).await.unwrap();
            }
            transaction.commit(CommitMode::Durable).await.unwrap();
        }
        let counters = database.counters();
        assert!(counters.evictions > 0 && counters.splits > 100, "{counters:?}");
    });
    world.run(Settings::default(), |database| async move {
        let table = database.table("Messages").unwrap();
        let transaction = database.begin();
        let (mut record, mut value, mut row) = (Vec::new(), Vec::new(), Row::new());
        for id in 1..=1008 {
            let key = table.primary_key(&[&i64::to_le_bytes(id)]).unwrap();
            assert!(transaction.read(&table, &key, &mut record).await.unwrap(), "{id}");
            message(&mut row, id, 1, 200, 2000);
            let parsed = RecordRef::parse(&record, PageSize::KIB_4).unwrap();
            let definition = messages();
            for column in definition.columns.iter().filter(|column| column.id.0 < 256) {
                assert_eq!(parsed.plain(column), row.get(column.id.0), "{column:?}");
            }
            let long = parsed.column(definition.column_named("LongPad").unwrap()).unwrap();
            let Stored::One(Element::Separated(long)) = long else {
                panic!("{long:?}");
            };
            assert!(transaction.read_long_value(&table, long, &mut value).await.unwrap());
            assert_eq!(Some(&value[..]), row.get(256));
        }
        transaction.commit(CommitMode::Lazy).await.unwrap();
    });
}

#[test]
fn a_rollback_leaves_nothing() {
    let world = World::new(2);
    world.create(PageSize::KIB_4);
    world.run(small_cache(), |database| async move {
        let table = database.table("Messages").unwrap();
        let (mut row, mut record) = (Row::new(), Vec::new());
        let mut transaction = database.begin();
        for id in [58, 4, 9, 7, 28] {
            message(&mut row, id, 1, 200, 2000);
            transaction.insert(&table, &row).await.unwrap();
        }
        transaction.rollback().await.unwrap();
        let mut transaction = database.begin();
        for id in [58, 4, 9, 7, 28] {
            let key = table.primary_key(&[&i64::to_le_bytes(id)]).unwrap();
            assert!(!transaction.read(&table, &key, &mut record).await.unwrap(), "{id}");
            message(&mut row, id, 2, 200, 2000);
            transaction.insert(&table, &row).await.unwrap();
        }
        transaction.commit(CommitMode::Durable).await.unwrap();
    });
    assert_eq!(world.check().len(), 5);
}

fn key(table: &Table, id: i64) -> Vec<u8> {
    table.primary_key(&[&id.to_le_bytes()]).unwrap()
}

async fn insert(transaction: &mut Transaction, table: &Table, id: i64) -> LongValueId {
    let (mut row, mut record) = (Row::new(), Vec::new());
    message(&mut row, id, 1, 100, 3000);
    transaction.insert(table, &row).await.unwrap();
    let key = key(table, id);
    assert!(transaction.read(table, &key, &mut record).await.unwrap());
    let record = RecordRef::parse(&record, PageSize::KIB_4).unwrap();
    let long = record.column(messages().column_named("LongPad").unwrap());
    let Ok(Stored::One(Element::Separated(long))) = long else {
        panic!("{long:?}");
    };
    long
}

/// The log records the release of the value and its cleanup. So a new value may take its number,
/// and recovery's cleanups leave the new value alone when a transaction releases it.
#[test]
fn the_number_of_a_long_value_that_was_cleaned_up_before_a_crash_is_used_again() {
    let world = World::new(1);
    world.create(PageSize::KIB_4);
    let (runtime, files) = (world.runtime(), world.files());
    let released = world.executor.block_on(async move {
        let opened = Database::open(&runtime, files, small_cache(), Seed(11)).await;
        let database = opened.unwrap();
        let table = database.table("Messages").unwrap();
        let mut transaction = database.begin();
        insert(&mut transaction, &table, 1).await;
        let long = insert(&mut transaction, &table, 2).await;
        transaction.commit(CommitMode::Durable).await.unwrap();
        // The second commit makes the first one's cleanup durable.
        for id in [2, 1] {
            let mut transaction = database.begin();
            let key = key(&table, id);
            transaction.delete(&table, &key).await.unwrap();
            transaction.commit(CommitMode::Durable).await.unwrap();
            runtime.sleep(Nanos::from_millis(100)).await;
        }
        assert!(database.counters().cleanups > 0, "the value is gone");
        long
    });
    world.executor.abandon();
    let (runtime, files) = (world.runtime(), world.files());
    let next = world.executor.block_on(async move {
        let recovered = Database::recover(&runtime, files, small_cache(), Seed(11), &|_| ()).await;
        let (database, summary) = recovered.unwrap();
        assert!(summary.unwrap().cleanups > 0);
        let table = database.table("Messages").unwrap();
        let mut transaction = database.begin();
        let next = insert(&mut transaction, &table, 3).await;
        transaction.commit(CommitMode::Durable).await.unwrap();
        let mut transaction = database.begin();
        transaction.delete(&table, &key(&table, 3)).await.unwrap();
        runtime.sleep(Nanos::from_millis(100)).await;
        transaction.rollback().await.unwrap();
        database.shut_down().await.unwrap();
        next
    });
    assert_eq!(next, released);
    assert_eq!(world.check().len(), 1);
}
