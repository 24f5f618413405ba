//! What the writer promises: order, durability of what was flushed, and how much it writes.

use std::cell::RefCell;
use std::rc::Rc;

use device::{DeviceError, Purpose};
use device::{Latency, MemoryVolume, VirtualReactor, VolumeImage};
use faults::{
    Call, CrashOptions, CrashVolume, Effect, Fault, FaultPlan, FaultyVolume, Matching, Occurrence,
};
use proptest::prelude::*;
use units::{Nanos, Prng, Seed};

use super::*;
use crate::log::read_checkpoint;

#[test]
fn records_come_back_in_order_over_generations() {
    let (world, records) = filled_log(3);
    let found = world.run(|_, folder| read_all(folder, place(1, 1, 0)));
    assert_eq!(found, Ok(records));
}

#[test]
fn bytes_written_are_twice_the_log_volume() {
    let world = World::of(&VolumeImage::default());
    let counters = world.run(|runtime, folder| async move {
        let log = Log::create(&runtime, folder, identity(), small_buffers())
            .await
            .unwrap();
        for number in 0.. {
            if log.tip().generation > Generation(12) {
                break;
            }
            log.append(&record(number, 1_500)).unwrap();
            if number % 16 == 0 {
                log.flush_to(log.tip()).await.unwrap();
            }
            log.throttle().await.unwrap();
        }
        log.close().await.unwrap();
        log.counters()
    });
    let ratio = counters.bytes_written.0 as f64 / counters.volume.0 as f64;
    assert!((2.0..2.1).contains(&ratio), "{counters:?}: {ratio}");
    assert!(counters.record_bytes < counters.volume);
}

#[test]
fn one_write_serves_everybody_who_waits() {
    let world = World::of(&VolumeImage::default());
    let counters = world.run(|runtime, folder| async move {
        let log = Log::create(&runtime, folder, identity(), small_buffers())
            .await
            .unwrap();
        let sessions: Vec<_> = (0..20)
            .map(|session| {
                let log = log.clone();
                runtime.spawn(async move {
                    let span = log.append(&record(session, 100)).unwrap();
                    log.flush_to(span.end).await.unwrap();
                    assert!(log.durable() >= span.end);
                })
            })
            .collect();
        for session in sessions {
            session.await;
        }
        log.counters()
    });
    assert_eq!((counters.writes, counters.flush_waits), (1, 20));
}

#[test]
fn lazy_records_leave_when_the_buffer_fills() {
    let world = World::of(&VolumeImage::default());
    world.run(|runtime, folder| async move {
        let log = Log::create(&runtime, folder, identity(), small_buffers())
            .await
            .unwrap();
        for number in 0..200 {
            log.append(&record(number, 1_000)).unwrap();
            log.throttle().await.unwrap();
        }
        assert!(log.durable() > place(1, 10, 0), "{}", log.durable());
        assert_eq!(log.counters().flush_waits, 0);
    });
}

/// Behind the header and one write of records the volume is full; what is written after that fails
/// for another reason.
fn full_at_the_third_write() -> FaultPlan {
    let fault = |occurrence, effect| Fault {
        matching: Matching {
            call: Some(Call::Write),
            purpose: Some(Purpose::Log),
            file: None,
        },
        occurrence,
        effect,
    };
    FaultPlan {
        seed: Seed(1),
        faults: vec![
            fault(Occurrence::Nth(3), Effect::Full),
            fault(Occurrence::From(4), Effect::Fail { done: true }),
        ],
    }
}

#[test]
fn the_first_failure_is_what_every_later_call_reports() {
    let world = World::of(&VolumeImage::default());
    let memory = Rc::new(world.memory.clone());
    world.run(|runtime, _| async move {
        let volume = FaultyVolume::new(memory, full_at_the_third_write(), runtime.clone());
        let folder = LogFolder::new(Rc::new(volume.clone()), "E00");
        let log = Log::create(&runtime, folder, identity(), small_buffers())
            .await
            .unwrap();
        let good = log.append(&record(1, 100)).unwrap();
        log.flush_to(good.end).await.unwrap();
        let durable = log.durable();
        let lost = log.append(&record(2, 100)).unwrap();
        let poisoned = LogError::Poisoned {
            first: Box::new(LogError::Device(DeviceError::Full {
                file: "logs/E00tmp.plg".to_owned(),
                offset: 8192,
            })),
        };
        assert_eq!(log.flush_to(lost.end).await, Err(poisoned.clone()));
        assert_eq!(log.append(&record(3, 100)), Err(poisoned.clone()));
        assert_eq!(log.flush_to(lost.end).await, Err(poisoned.clone()));
        assert_eq!(log.throttle().await, Err(poisoned.clone()));
        assert_eq!(log.advance_checkpoint(durable).await, Err(poisoned));
        assert_eq!(log.durable(), durable);
        let tried = volume.injections().len();
        assert_eq!(tried, 1, "nothing is written behind the failure");
    });
}

#[test]
fn generations_below_the_checkpoint_go() {
    let (world, _) = filled_log(4);
    let (names, checkpoint) = world.run(|runtime, folder| async move {
        let chain = LogChain::find(&folder).await.unwrap().unwrap();
        let end = chain.end().await.unwrap();
        let settings = small_buffers();
        let log = Log::resume(&runtime, folder.clone(), identity(), settings, end)
            .await
            .unwrap();
        log.advance_checkpoint(place(3, 7, 99)).await.unwrap();
        let files = folder.volume.list().await.unwrap();
        let names: Vec<_> = files.into_iter().map(|entry| entry.name).collect();
        (names, read_checkpoint(&folder, &identity()).await.unwrap())
    });
    let expected = [
        "E00.pck",
        "E00.plg",
        "E0000000003.plg",
        "E0000000004.plg",
        "E0000000005.plg",
    ];
    assert_eq!(names, expected);
    assert_eq!(checkpoint.map(|found| found.place), Some(place(3, 7, 99)));
}

/// What a log was told and what it said, which a power failure does not take away.
#[derive(Default)]
struct Promised {
    appended: Vec<LogRecord>,
    /// How many of them were known to be durable.
    durable: usize,
}

/// Opens the log, appends `steps` records from number `first` on and flushes now and then.
async fn append_and_flush(
    runtime: Runtime,
    folder: LogFolder,
    (first, steps): (u32, u32),
    seed: Seed,
    promised: Rc<RefCell<Promised>>,
) {
    let log = Log::open(&runtime, folder, identity(), small_buffers())
        .await
        .unwrap();
    let mut prng = Prng::new(seed);
    let mut ends = Vec::new();
    let note = |ends: &[Lgpos]| {
        promised.borrow_mut().durable = ends.partition_point(|end| *end <= log.durable());
    };
    for number in first..first + steps {
        let bytes = if prng.percent(3) {
            30_000
        } else {
            usize::try_from(prng.below(2_500)).unwrap()
        };
        let next = record(number, bytes);
        ends.push(log.append(&next).unwrap().end);
        promised.borrow_mut().appended.push(next);
        if prng.percent(10) {
            let wanted = ends[usize::try_from(prng.below(ends.len() as u64)).unwrap()];
            log.flush_to(wanted).await.unwrap();
            note(&ends);
        } else if prng.percent(5) {
            runtime.sleep(Nanos::from_micros(prng.below(400))).await;
        }
        log.throttle().await.unwrap();
        note(&ends);
    }
}

/// One life of a log over `image`, whose power may fail at a request.
fn live(
    image: &VolumeImage,
    records: (u32, u32),
    seed: Seed,
    at_request: Option<u64>,
) -> (CrashVolume, Promised) {
    let reactor = VirtualReactor::new();
    let latency = Latency::spread(Nanos::from_micros(50), Nanos::from_micros(500), seed);
    let memory = MemoryVolume::of("logs", &reactor, latency, image);
    let options = CrashOptions {
        at_request,
        ..CrashOptions::default()
    };
    let volume = CrashVolume::new(Rc::new(memory), image, options);
    let executor = Executor::new(reactor);
    let folder = LogFolder::new(Rc::new(volume.clone()), "E00");
    let promised = Rc::<RefCell<Promised>>::default();
    let told = Rc::clone(&promised);
    let task = append_and_flush(executor.runtime(), folder, records, seed, told);
    volume.run(&executor, task);
    assert_eq!(volume.has_crashed(), at_request.is_some());
    (volume, promised.take())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_crash_loses_nothing_durable_and_keeps_order(
        seed in any::<u64>(),
        lives in prop::collection::vec((1..900_u32, any::<u64>()), 1..4),
    ) {
        check_lives(Seed(seed), &lives)?;
    }
}

fn check_lives(seed: Seed, lives: &[(u32, u64)]) -> Result<(), TestCaseError> {
    let mut image = VolumeImage::default();
    let mut survivors: Vec<LogRecord> = Vec::new();
    for (number, (steps, crash)) in (0..).zip(lives) {
        let seed = seed.derive(number);
        let before = survivors.len();
        let records = (u32::try_from(before).unwrap(), *steps);
        let whole = live(&image, records, seed, None);
        let at = any_request(&mut Prng::new(Seed(*crash)), 1, whole.0.requests());
        let (volume, promised) = at.map_or(whole, |_| live(&image, records, seed, at));
        survivors.extend(promised.appended);
        image = volume.survivors(seed);
        let found = World::of(&image).run(|_, folder| read_all(folder, place(1, 1, 0)));
        let found = found.map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert!(
            found.len() >= before + promised.durable,
            "{} of {before} and {}",
            found.len(),
            promised.durable
        );
        let differs = found
            .iter()
            .zip(&survivors)
            .position(|(left, right)| left != right);
        let (left, right) = (found.len(), survivors.len());
        prop_assert_eq!(differs, None, "of {} found, {} expected", left, right);
        prop_assert!(left <= right);
        survivors = found;
    }
    Ok(())
}
