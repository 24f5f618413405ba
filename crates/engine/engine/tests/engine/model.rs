//! Many sessions at once against a model twin: their views, their conflicts, and the final state.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::world::{World, message, messages, small_cache};
use engine::{CommitMode, Database, Order, Row, Table, Transaction, TransactionError};
use ese::page::PageSize;
use ese::record::RecordRef;
use units::{Nanos, Prng, Seed};

/// The committed rows, and the author of each change.
#[derive(Default)]
struct Model {
    rows: BTreeMap<i64, i32>,
    commits: u64,
    changed: BTreeMap<i64, u64>,
    writers: BTreeMap<i64, usize>,
    /// Rows of transactions that were dropped.
    perhaps_locked: BTreeSet<i64>,
    conflicts: usize,
}

struct Session {
    number: usize,
    database: Database,
    table: Table,
    model: Rc<RefCell<Model>>,
    prng: Prng,
    short: usize,
    long: usize,
}

/// The expected view of a transaction.
struct Twin {
    rows: BTreeMap<i64, i32>,
    began: u64,
    written: BTreeSet<i64>,
}

impl Session {
    fn below(&mut self, bound: u64) -> u64 {
        self.prng.below(bound)
    }

    fn key(&self, id: i64) -> Vec<u8> {
        self.table.primary_key(&[&id.to_le_bytes()]).unwrap()
    }

    async fn transaction(&mut self, keys: u64) {
        let mut transaction = self.database.begin();
        let mut twin = {
            let model = self.model.borrow();
            Twin { rows: model.rows.clone(), began: model.commits, written: BTreeSet::new() }
        };
        let mut failed = false;
        for _ in 0..=self.below(12) {
            let id = i64::try_from(self.below(keys)).unwrap();
            match self.below(10) {
                0..=5 if !self.write(&mut transaction, &mut twin, id).await => {
                    failed = true;
                    break;
                }
                0..=5 => (),
                6..=8 => self.read(&transaction, &twin, id).await,
                _ => self.scan(&transaction, &twin, id).await,
            }
        }
        let ending = self.below(10);
        if failed || ending < 2 {
            if ending == 0 {
                // The rows stay locked until the rollback in the background is over.
                drop(transaction);
                self.model.borrow_mut().perhaps_locked.extend(&twin.written);
            } else {
                transaction.rollback().await.unwrap();
            }
            self.forget_writes(&twin);
            return;
        }
        {
            let mut model = self.model.borrow_mut();
            model.commits += u64::from(!twin.written.is_empty());
            let number = model.commits;
            for id in &twin.written {
                model.writers.remove(id);
                model.changed.insert(*id, number);
                match twin.rows.get(id) {
                    Some(version) => model.rows.insert(*id, *version),
                    None => model.rows.remove(id),
                };
            }
        }
        let mode = if ending < 5 { CommitMode::Durable } else { CommitMode::Lazy };
        transaction.commit(mode).await.unwrap();
    }

    fn forget_writes(&self, twin: &Twin) {
        let mut model = self.model.borrow_mut();
        for id in &twin.written {
            model.writers.remove(id);
        }
    }

    /// One insert, replace or delete; false if it conflicted, as the model predicts.
    async fn write(&mut self, transaction: &mut Transaction, twin: &mut Twin, id: i64) -> bool {
        let there = twin.rows.contains_key(&id);
        let deletes = there && self.below(3) == 0;
        let version = i32::try_from(self.below(1000)).unwrap();
        let mut row = Row::new();
        message(&mut row, id, version, self.short, self.long);
        let result = if deletes {
            let key = self.key(id);
            transaction.delete(&self.table, &key).await
        } else if there {
            transaction.replace(&self.table, &row).await
        } else {
            transaction.insert(&self.table, &row).await
        };
        let mut model = self.model.borrow_mut();
        let held = model.writers.get(&id).is_some_and(|writer| *writer != self.number);
        let changed = model.changed.get(&id).is_some_and(|commit| *commit > twin.began);
        match result {
            Ok(()) => {
                assert!(!held && !changed, "row {id} should have conflicted");
                model.writers.insert(id, self.number);
                twin.written.insert(id);
                if deletes {
                    twin.rows.remove(&id);
                } else {
                    twin.rows.insert(id, version);
                }
                true
            }
            Err(TransactionError::Conflict) => {
                let dropped = model.perhaps_locked.contains(&id);
                assert!(held || changed || dropped, "row {id} should not have conflicted");
                model.conflicts += 1;
                false
            }
            Err(error) => panic!("row {id} there {there} deletes {deletes}: {error}"),
        }
    }

    async fn read(&mut self, transaction: &Transaction, twin: &Twin, id: i64) {
        let mut record = Vec::new();
        let found = transaction.read(&self.table, &self.key(id), &mut record).await.unwrap();
        let seen = found.then(|| version_of(&record));
        assert_eq!(seen, twin.rows.get(&id).copied(), "row {id}");
    }

    async fn scan(&mut self, transaction: &Transaction, twin: &Twin, id: i64) {
        let mut scan = transaction.scan(&self.table, Order::Primary, &self.key(id));
        for (expected, version) in twin.rows.range(id..).take(20) {
            let entry = scan.next().await.unwrap().expect("the model has another row");
            assert_eq!(entry.key, self.key(*expected));
            assert_eq!(version_of(&entry.data), *version);
        }
        let mut by_received = transaction.scan(&self.table, Order::Index(0), &[]);
        let mut seen = BTreeSet::new();
        while let Some(entry) = by_received.next().await.unwrap() {
            assert!(seen.insert(entry.data));
        }
        let all: BTreeSet<_> = twin.rows.keys().map(|id| self.key(*id)).collect();
        assert_eq!(seen, all, "the index holds what the snapshot holds");
    }
}

fn version_of(record: &[u8]) -> i32 {
    let parsed = RecordRef::parse(record, PageSize::KIB_4).unwrap();
    let column = messages().column_named("Version").cloned().unwrap();
    i32::from_le_bytes(parsed.plain(&column).unwrap().try_into().unwrap())
}

fn run(seed: u64, sessions: usize, rounds: usize, keys: u64, (short, long): (usize, usize)) {
    let world = World::new(seed);
    world.create(PageSize::KIB_4);
    let model = Rc::new(RefCell::new(Model::default()));
    let shared = Rc::clone(&model);
    let runtime = world.runtime();
    world.run(small_cache(), move |database| async move {
        let table = database.table("Messages").unwrap();
        let tasks: Vec<_> = (0..sessions)
            .map(|number| {
                let mut session = Session {
                    number,
                    database: database.clone(),
                    table: table.clone(),
                    model: Rc::clone(&shared),
                    prng: Prng::new(Seed(seed).derive(number as u64)),
                    short,
                    long,
                };
                let pause = runtime.clone();
                runtime.spawn(async move {
                    for _ in 0..rounds {
                        session.transaction(keys).await;
                        let nanos = session.below(1_000_000);
                        pause.sleep(Nanos(nanos)).await;
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await;
        }
    });
    let rows = world.check();
    let model = model.borrow();
    assert!(model.conflicts > 0, "sessions never met");
    assert_eq!(rows.len(), model.rows.len());
    for ((_, (record, long_value)), (id, version)) in rows.iter().zip(&model.rows) {
        let mut row = Row::new();
        message(&mut row, *id, *version, short, long);
        assert_eq!(version_of(record), *version, "row {id}");
        assert_eq!(row.get(256), Some(&long_value[..]), "long value of row {id}");
    }
}

#[test]
fn sessions_that_meet_often_see_what_the_model_sees() {
    for seed in 0..4 {
        run(seed, 8, 80, 24, (200, 2000));
    }
}

#[test]
fn trees_grow_and_shrink_under_many_sessions() {
    run(100, 12, 150, 900, (250, 300));
}

#[test]
fn long_values_of_many_chunks_come_and_go() {
    run(200, 4, 60, 40, (10, 30_000));
}
