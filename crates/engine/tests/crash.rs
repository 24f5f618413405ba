//! Power fails at any request, again during recovery, and nothing acknowledged may be lost.
//!
//! Sessions change rows of their own, so that what survives of each is told apart. After recovery
//! the rows must be those of a prefix of all commits in the order of the log, with every durable
//! one in it, and the file must be whole.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use device::{Executor, Latency, MemoryVolume, VirtualReactor, Volume, VolumeImage};
use engine::{CommitPosition, Database, DatabaseFiles, Durability, OpenError, Row, Settings};
use ese::page::PageSize;
use ese::record::RecordRef;
use faults::{CrashOptions, CrashVolume};
use proptest::prelude::*;
use units::{Nanos, Prng, Seed};
use world::{FILE, World, message, messages, small_cache};

const SESSIONS: i64 = 3;
/// Rows of session `s` have the keys from `s * KEYS` on.
const KEYS: i64 = 1000;

/// Versions of one session's rows.
type Rows = BTreeMap<i64, i32>;

/// What one session has done: its rows after each commit, the first entry before any.
#[derive(Default)]
struct History {
    states: Vec<Rows>,
    /// Position of each commit that has returned; the last one may still be on its way.
    positions: Vec<CommitPosition>,
    /// Commits acknowledged as durable, by themselves.
    durable: usize,
}

type Histories = Rc<RefCell<Vec<History>>>;

async fn session(database: Database, number: i64, histories: Histories, seed: Seed, count: u32) {
    let mut prng = Prng::new(seed);
    let table = database.table("Messages").unwrap();
    let index = usize::try_from(number).unwrap();
    let mut rows = histories.borrow()[index].states.last().cloned().unwrap();
    for _ in 0..count {
        let mut transaction = database.begin();
        let before = rows.clone();
        for _ in 0..=prng.below(4) {
            let id = number * KEYS + i64::try_from(prng.below(40)).unwrap();
            let version = i32::try_from(prng.below(1 << 20)).unwrap();
            let mut row = Row::new();
            let long = 1 + usize::try_from(prng.below(9_000)).unwrap();
            message(&mut row, id, version, 100, long);
            let key = table.primary_key(&[&id.to_le_bytes()]).unwrap();
            let there = rows.contains_key(&id);
            if there && prng.percent(40) {
                transaction.delete(&table, &key).await.unwrap();
                rows.remove(&id);
                continue;
            }
            if there {
                transaction.replace(&table, &row).await.unwrap();
            } else {
                transaction.insert(&table, &row).await.unwrap();
            }
            rows.insert(id, version);
        }
        if prng.percent(15) {
            transaction.rollback().await.unwrap();
            rows = before;
            continue;
        }
        histories.borrow_mut()[index].states.push(rows.clone());
        let durability = if prng.percent(40) {
            Durability::Durable
        } else {
            Durability::Lazy
        };
        let position = transaction.commit(durability).await.unwrap();
        let history = &mut histories.borrow_mut()[index];
        history.positions.push(position);
        if durability == Durability::Durable {
            history.durable = history.positions.len();
        }
    }
}

/// A disk in memory that may lose its power, and the tasks on it.
struct Machine {
    executor: Executor,
    memory: MemoryVolume,
    volume: CrashVolume,
}

impl Machine {
    fn new(image: &VolumeImage, options: CrashOptions, seed: Seed) -> Self {
        let reactor = VirtualReactor::new();
        let latency = Latency::spread(Nanos::from_micros(20), Nanos::from_micros(300), seed);
        let memory = MemoryVolume::of("memory", &reactor, latency, image);
        let volume = CrashVolume::new(Rc::new(memory.clone()), image, options);
        Self {
            executor: Executor::new(reactor),
            memory,
            volume,
        }
    }

    fn files(&self) -> DatabaseFiles {
        let volume: Rc<dyn Volume> = Rc::new(self.volume.clone());
        DatabaseFiles {
            database: Rc::clone(&volume),
            file: FILE.to_owned(),
            log: volume,
            log_base: "E00".to_owned(),
        }
    }

    /// Opens the database, recovers it if need be, and closes it; none where power failed.
    fn recover(&self, settings: &Settings) -> Option<Result<(), OpenError>> {
        let (runtime, files, settings) = (self.executor.runtime(), self.files(), settings.clone());
        self.volume.run(&self.executor, async move {
            let opened = Database::recover(&runtime, files, settings, Seed(3), &|_| ()).await;
            let (database, _) = opened?;
            database.shut_down().await.unwrap();
            Ok(())
        })
    }

    /// Runs the sessions until they end or power fails.
    fn work(&self, settings: &Settings, histories: &Histories, seed: Seed, count: u32) {
        let (runtime, files, settings) = (self.executor.runtime(), self.files(), settings.clone());
        let histories = Rc::clone(histories);
        self.volume.run(&self.executor, async move {
            let opened = Database::recover(&runtime, files, settings, Seed(3), &|_| ()).await;
            let (database, _) = opened.unwrap();
            let sessions: Vec<_> = (0..SESSIONS)
                .map(|number| {
                    let seed = seed.derive(number.cast_unsigned());
                    let histories = Rc::clone(&histories);
                    runtime.spawn(session(database.clone(), number, histories, seed, count))
                })
                .collect();
            for session in sessions {
                session.await;
            }
            database.shut_down().await.unwrap();
        });
    }
}

/// One life after another on the same disk.
struct Trial {
    settings: Settings,
    unit: u32,
    seed: Seed,
    image: VolumeImage,
    histories: Histories,
}

impl Trial {
    fn new(seed: Seed, unit: u32) -> Self {
        let world = World::new(1);
        world.create(PageSize::KIB_4);
        world.run(small_cache(), |_| async {});
        assert!(world.check().is_empty());
        let histories = (0..SESSIONS).map(|_| History {
            states: vec![Rows::new()],
            ..History::default()
        });
        Self {
            settings: Settings {
                log_whole_pages: unit < 4096,
                ..small_cache()
            },
            unit,
            seed,
            image: world.volume.image(),
            histories: Rc::new(RefCell::new(histories.collect())),
        }
    }

    fn options(&self, at_request: Option<u64>) -> CrashOptions {
        CrashOptions {
            at_request,
            atomic_write_unit: self.unit,
        }
    }

    /// Works until power fails at a request, recovers through further failures, and checks.
    fn life(&mut self, number: u64, count: u32, at_request: u64, during_recovery: &[u64]) {
        let seed = self.seed.derive(number);
        let machine = Machine::new(&self.image, self.options(Some(at_request)), seed);
        machine.work(&self.settings, &self.histories, seed, count);
        self.image = machine.volume.survivors(seed);
        for (attempt, at) in (100..).zip(during_recovery) {
            let machine = Machine::new(&self.image, self.options(Some(*at)), seed);
            if let Some(done) = machine.recover(&self.settings) {
                done.unwrap();
            }
            self.image = machine.volume.survivors(seed.derive(attempt));
        }
        let machine = Machine::new(&self.image, self.options(None), seed);
        let recovered = machine.recover(&self.settings).expect("power stays on");
        recovered.unwrap();
        self.image = machine.memory.image();
        self.compare();
    }

    /// Compares the file with the histories, and makes what has survived the new beginning.
    fn compare(&self) {
        let found = world::integrity::check(&self.image.files[FILE].to_vec());
        let mut found_rows = vec![Rows::new(); usize::try_from(SESSIONS).unwrap()];
        let version = messages().column_named("Version").cloned().unwrap();
        for (key, (record, long)) in found {
            let id = i64::from_be_bytes(key[1..].try_into().unwrap()) ^ i64::MIN;
            let parsed = RecordRef::parse(&record, PageSize::KIB_4).unwrap();
            let version = parsed.plain(&version).unwrap();
            let version = i32::from_le_bytes(version.try_into().unwrap());
            let mut row = Row::new();
            message(&mut row, id, version, 100, long.len());
            assert_eq!(row.get(256), Some(&long[..]), "long value of row {id}");
            found_rows[usize::try_from(id / KEYS).unwrap()].insert(id, version);
        }
        let mut histories = self.histories.borrow_mut();
        let mut last_kept = None;
        let mut first_lost: Option<CommitPosition> = None;
        for (history, found) in histories.iter_mut().zip(found_rows) {
            let kept = history.states.iter().rposition(|state| *state == found);
            let kept = kept.expect("the rows are those after some commit");
            assert!(
                kept >= history.durable,
                "{} durable commits, {kept} kept",
                history.durable
            );
            let position = kept
                .checked_sub(1)
                .and_then(|last| history.positions.get(last));
            last_kept = last_kept.max(position.copied());
            let lost = history.positions.get(kept).copied();
            first_lost = [first_lost, lost].into_iter().flatten().min();
            *history = History {
                states: vec![found],
                ..History::default()
            };
        }
        if let (Some(lost), Some(kept)) = (first_lost, last_kept) {
            assert!(
                lost > kept,
                "a commit at {lost:?} is lost, a later one at {kept:?} is not"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 48,
        max_shrink_iters: 40,
        ..ProptestConfig::default()
    })]

    #[test]
    fn nothing_acknowledged_is_lost(
        seed in any::<u64>(),
        tears_pages in any::<bool>(),
        lives in prop::collection::vec(
            (1..40_u32, 1..900_u64, prop::collection::vec(1..120_u64, 0..3)),
            1..3,
        ),
    ) {
        let unit = if tears_pages { 512 } else { 4096 };
        let mut trial = Trial::new(Seed(seed), unit);
        for (number, (count, at_request, during_recovery)) in (0..).zip(lives) {
            trial.life(number, count, at_request, &during_recovery);
        }
    }
}

#[test]
fn power_fails_at_every_request_of_a_short_life() {
    for at_request in 1..160 {
        let mut trial = Trial::new(Seed(at_request), 4096);
        trial.life(0, 6, at_request, &[]);
    }
}
