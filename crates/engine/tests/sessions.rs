//! Transactions through the public interface, on memory in virtual time.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use engine::{Durability, Row, Settings};
use ese::page::PageSize;
use ese::record::{Element, RecordRef, Stored};
use world::{World, message, messages, small_cache};

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
            transaction.commit(Durability::Durable).await.unwrap();
        }
        let counters = database.counters();
        assert!(
            counters.evictions > 0 && counters.splits > 100,
            "{counters:?}"
        );
    });
    world.run(Settings::default(), |database| async move {
        let table = database.table("Messages").unwrap();
        let transaction = database.begin();
        let (mut record, mut value, mut row) = (Vec::new(), Vec::new(), Row::new());
        for id in 1..=1008 {
            let key = table.primary_key(&[&i64::to_le_bytes(id)]).unwrap();
            assert!(
                transaction.read(&table, &key, &mut record).await.unwrap(),
                "{id}"
            );
            message(&mut row, id, 1, 200, 2000);
            let parsed = RecordRef::parse(&record, PageSize::KIB_4).unwrap();
            let definition = messages();
            for column in definition.columns.iter().filter(|column| column.id.0 < 256) {
                assert_eq!(parsed.plain(column), row.get(column.id.0), "{column:?}");
            }
            let long = parsed
                .column(definition.column_named("LongPad").unwrap())
                .unwrap();
            let Stored::One(Element::Separated(long)) = long else {
                panic!("{long:?}");
            };
            assert!(
                transaction
                    .read_long_value(&table, long, &mut value)
                    .await
                    .unwrap()
            );
            assert_eq!(Some(&value[..]), row.get(256));
        }
        transaction.commit(Durability::Lazy).await.unwrap();
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
            assert!(
                !transaction.read(&table, &key, &mut record).await.unwrap(),
                "{id}"
            );
            message(&mut row, id, 2, 200, 2000);
            transaction.insert(&table, &row).await.unwrap();
        }
        transaction.commit(Durability::Durable).await.unwrap();
    });
    assert_eq!(world.check().len(), 5);
}
