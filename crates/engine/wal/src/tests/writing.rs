//! Guarantees of the writer: order, durability of flushed records, and write volume.

use std::cell::RefCell;
use std::rc::Rc;

use device::{Caps, Completion, Device, DeviceError, Purpose, Request};
use device::{Latency, MemoryVolume, VirtualReactor, VolumeImage};
use faults::{
    Call, CrashOptions, CrashVolume, Effect, Fault, FaultPlan, FaultyVolume, Matching, Occurrence,
};
use proptest::prelude::*;
use units::{Nanos, Prng, Seed};

use super::*;
use crate::read_checkpoint;

#[test]
fn records_come_back_in_order_over_generations() {
    for size in SIZES {
        let (world, records) = filled_log_of(size, 3);
        let found = world.run(|_, folder| read_all(folder, place(1, 1, 0)));
        assert_eq!(found, Ok(records));
    }
}

#[test]
fn a_flush_takes_up_no_more_log_than_sectors_need() {
    let volume = |settings: LogSettings| {
        let world = World::of(&VolumeImage::default());
        world.run(move |runtime, folder| async move {
            let log = Log::create(&runtime, folder, identity(), settings);
            let log = log.await.unwrap();
            log.append(&record(1, 700)).unwrap();
            log.flush_to(log.tip()).await.unwrap();
            let before = log.counters();
            log.append(&record(2, 700)).unwrap();
            log.flush_to(log.tip()).await.unwrap();
            let after = log.counters();
            let written = after.bytes_written.0 - before.bytes_written.0;
            (after.volume.0 - before.volume.0, written)
        })
    };
    let unset = LogSettings::default();
    assert_eq!(volume(unset), (1024, 1024), "sectors of memory have 512 bytes");
    assert_eq!(volume(small_buffers()), (4096, 4096));
}

#[test]
fn segments_are_as_long_as_what_a_power_failure_may_take_along() {
    struct Sectors(u32, u32);
    impl Device for Sectors {
        fn submit(&self, _: Request) -> Completion {
            unreachable!("only what it promises is asked")
        }
        fn caps(&self) -> Caps {
            Caps {
                atomic_write_unit: self.0,
                sector: self.0,
                physical_sector: self.1,
                volatile_cache: true,
                unbuffered: true,
                zeroed: true,
            }
        }
        fn length(&self) -> u64 {
            0
        }
        fn name(&self) -> &'static str {
            "E00tmp.plg"
        }
    }
    let [short, long] = SIZES;
    let size = |segment_size, logical, physical| {
        let settings = LogSettings { segment_size, ..small_buffers() };
        settings.segment_size_on(&Sectors(logical, physical))
    };
    assert_eq!(size(None, 512, 512), Ok(short));
    assert_eq!(size(None, 512, 4096), Ok(long));
    assert_eq!(size(None, 4096, 4096), Ok(long));
    assert_eq!(size(Some(short), 512, 4096), Ok(short));
    assert_eq!(size(Some(long), 512, 512), Ok(long));
    let refused = LogError::SectorTooLong { file: "E00tmp.plg".to_owned(), sector: 4096 };
    assert_eq!(size(Some(short), 4096, 4096), Err(refused));
}

#[test]
fn bytes_written_are_twice_the_log_volume() {
    let world = World::of(&VolumeImage::default());
    let counters = world.run(|runtime, folder| async move {
        let log = Log::create(&runtime, folder, identity(), small_buffers()).await.unwrap();
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
        let log = Log::create(&runtime, folder, identity(), small_buffers()).await.unwrap();
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
        let log = Log::create(&runtime, folder, identity(), small_buffers()).await.unwrap();
        for number in 0..200 {
            log.append(&record(number, 1_000)).unwrap();
            log.throttle().await.unwrap();
        }
        assert!(log.durable() > place(1, 10, 0), "{}", log.durable());
        assert_eq!(log.counters().flush_waits, 0);
    });
}

/// The volume is full after the header and one write of records; later writes fail for another
/// reason.
fn full_at_the_third_write() -> FaultPlan {
    let fault = |occurrence, effect| Fault {
        matching: Matching { call: Some(Call::Write), purpose: Some(Purpose::Log), file: None },
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
        let log = Log::create(&runtime, folder, identity(), small_buffers()).await.unwrap();
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
        let log = Log::resume(&runtime, folder.clone(), identity(), settings, end).await.unwrap();
        log.advance_checkpoint(place(3, 7, 99)).await.unwrap();
        let files = folder.volume.list().await.unwrap();
        let names: Vec<_> = files.into_iter().map(|entry| entry.name).collect();
        (names, read_checkpoint(&folder, &identity()).await.unwrap())
    });
    let expected = ["E00.pck", "E00.plg", "E0000000003.plg", "E0000000004.plg", "E0000000005.plg"];
    assert_eq!(names, expected);
    assert_eq!(checkpoint.map(|found| found.place), Some(place(3, 7, 99)));
}

/// Records appended and acknowledged, which survive a power failure.
#[derive(Default)]
struct Promised {
    appended: Vec<LogRecord>,
    /// Number of them known to be durable.
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
    let mut prng = Prng::new(seed);
    let settings = LogSettings {
        segment_size: prng.percent(50).then_some(SegmentSize::Bytes4096),
        ..small_buffers()
    };
    let log = open_log(&runtime, folder, identity(), settings).await.unwrap();
    let mut ends = Vec::new();
    let note = |ends: &[Lgpos]| {
        promised.borrow_mut().durable = ends.partition_point(|end| *end <= log.durable());
    };
    for number in first..first + steps {
        let bytes =
            if prng.percent(3) { 30_000 } else { usize::try_from(prng.below(2_500)).unwrap() };
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

/// One run of a log over `image`, with a possible power failure at a request.
fn live(
    image: &VolumeImage,
    records: (u32, u32),
    seed: Seed,
    power: CrashOptions,
) -> (CrashVolume, Promised) {
    let reactor = VirtualReactor::new();
    let latency = Latency::spread(Nanos::from_micros(50), Nanos::from_micros(500), seed);
    let memory = MemoryVolume::of("logs", &reactor, latency, image);
    let volume = CrashVolume::new(Rc::new(memory), image, power);
    let executor = Executor::new(reactor);
    let folder = LogFolder::new(Rc::new(volume.clone()), "E00");
    let promised = Rc::<RefCell<Promised>>::default();
    let told = Rc::clone(&promised);
    let task = append_and_flush(executor.runtime(), folder, records, seed, told);
    volume.run(&executor, task);
    assert_eq!(volume.has_crashed(), power.at_request.is_some());
    (volume, promised.take())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_crash_loses_nothing_durable_and_keeps_order(
        seed in any::<u64>(),
        lives in prop::collection::vec((1..900_u32, any::<u64>()), 1..4),
    ) {
        check_lives(Seed(seed), &lives, 512)?;
    }

    #[test]
    fn a_crash_that_destroys_physical_sectors_loses_nothing_durable_either(
        seed in any::<u64>(),
        lives in prop::collection::vec((1..900_u32, any::<u64>()), 1..4),
    ) {
        check_lives(Seed(seed), &lives, 4096)?;
    }
}

fn check_lives(
    seed: Seed,
    lives: &[(u32, u64)],
    physical_sector: u32,
) -> Result<(), TestCaseError> {
    let mut image = VolumeImage::default();
    let mut survivors: Vec<LogRecord> = Vec::new();
    for (number, (steps, crash)) in (0..).zip(lives) {
        let seed = seed.derive(number);
        let before = survivors.len();
        let records = (u32::try_from(before).unwrap(), *steps);
        let power =
            |at_request| CrashOptions { at_request, physical_sector, ..CrashOptions::default() };
        let whole = live(&image, records, seed, power(None));
        let at = any_request(&mut Prng::new(Seed(*crash)), 1, whole.0.requests());
        let (volume, promised) = at.map_or(whole, |_| live(&image, records, seed, power(at)));
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
        let differs = found.iter().zip(&survivors).position(|(left, right)| left != right);
        let (left, right) = (found.len(), survivors.len());
        prop_assert_eq!(differs, None, "of {} found, {} expected", left, right);
        prop_assert!(left <= right);
        survivors = found;
    }
    Ok(())
}
