//! What the writer promises: order, durability of what was flushed, and how much it writes.

use std::cell::Cell;
use std::rc::Rc;

use device::{
    Caps, Completion, Device, DeviceError, FileEntry, OpenMode, Pending, Purpose, Request, Volume,
};
use device::{Latency, MemoryVolume, VirtualReactor, VolumeImage};
use proptest::prelude::*;
use units::{Nanos, Prng, Seed};

use super::crash::CrashVolume;
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

/// Fails every log write once it is told to.
struct Failing {
    inner: Rc<dyn Volume>,
    broken: Rc<Cell<bool>>,
}

struct FailingDevice {
    inner: Rc<dyn Device>,
    broken: Rc<Cell<bool>>,
}

impl Volume for Failing {
    fn open(&self, file: &str, mode: OpenMode) -> Pending<Rc<dyn Device>> {
        let (opening, broken) = (self.inner.open(file, mode), Rc::clone(&self.broken));
        Box::pin(async move {
            let inner = opening.await?;
            Ok(Rc::new(FailingDevice { inner, broken }) as Rc<dyn Device>)
        })
    }
    fn rename(&self, from: &str, to: &str) -> Pending<()> {
        self.inner.rename(from, to)
    }
    fn remove(&self, file: &str) -> Pending<()> {
        self.inner.remove(file)
    }
    fn list(&self) -> Pending<Vec<FileEntry>> {
        self.inner.list()
    }
    fn free_bytes(&self) -> Pending<u64> {
        self.inner.free_bytes()
    }
    fn name(&self) -> &str {
        self.inner.name()
    }
}

impl Device for FailingDevice {
    fn submit(&self, request: Request) -> Completion {
        let fails = self.broken.get() && request.purpose == Purpose::Log;
        let file = self.inner.name().to_owned();
        self.inner.submit(request).on_complete(move |outcome| {
            if fails {
                outcome.result = Err(DeviceError::Full { file, offset: 4096 });
            }
        })
    }
    fn caps(&self) -> Caps {
        self.inner.caps()
    }
    fn length(&self) -> u64 {
        self.inner.length()
    }
    fn name(&self) -> &str {
        self.inner.name()
    }
}

#[test]
fn the_first_failure_is_what_every_later_call_reports() {
    let world = World::of(&VolumeImage::default());
    let memory = world.memory.clone();
    world.run(|runtime, _| async move {
        let broken = Rc::new(Cell::new(false));
        let volume = Failing {
            inner: Rc::new(memory),
            broken: Rc::clone(&broken),
        };
        let folder = LogFolder::new(Rc::new(volume), "E00");
        let log = Log::create(&runtime, folder, identity(), small_buffers())
            .await
            .unwrap();
        let good = log.append(&record(1, 100)).unwrap();
        log.flush_to(good.end).await.unwrap();
        let durable = log.durable();
        broken.set(true);
        let lost = log.append(&record(2, 100)).unwrap();
        let latched = LogError::Latched {
            first: Box::new(LogError::Device(DeviceError::Full {
                file: "logs/E00tmp.plg".to_owned(),
                offset: 4096,
            })),
        };
        assert_eq!(log.flush_to(lost.end).await, Err(latched.clone()));
        broken.set(false);
        assert_eq!(log.append(&record(3, 100)), Err(latched.clone()));
        assert_eq!(log.flush_to(lost.end).await, Err(latched.clone()));
        assert_eq!(log.throttle().await, Err(latched.clone()));
        assert_eq!(log.advance_checkpoint(durable).await, Err(latched));
        assert_eq!(log.durable(), durable);
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

/// One life of a log: what was appended, and when how much of it was known to be durable.
struct Life {
    volume: CrashVolume,
    appended: Vec<LogRecord>,
    /// (moments passed, records durable by then).
    acknowledged: Vec<(usize, usize)>,
}

/// Opens the log over `image`, appends `steps` records and flushes now and then.
fn live(image: &VolumeImage, survivors: usize, steps: u32, seed: Seed) -> Life {
    let reactor = VirtualReactor::new();
    let latency = Latency::spread(Nanos::from_micros(50), Nanos::from_micros(500), seed);
    let memory = MemoryVolume::of("logs", &reactor, latency, image);
    let volume = CrashVolume::new(Rc::new(memory), image.clone());
    let executor = device::Executor::new(reactor);
    let (runtime, watched) = (executor.runtime(), volume.clone());
    executor.block_on(async move {
        let folder = LogFolder::new(Rc::new(watched.clone()), "E00");
        let log = Log::open(&runtime, folder, identity(), small_buffers())
            .await
            .unwrap();
        let mut prng = Prng::new(seed);
        let (mut appended, mut ends, mut acknowledged) = (Vec::new(), Vec::new(), Vec::new());
        for step in 0..steps {
            let bytes = if prng.percent(3) {
                30_000
            } else {
                usize::try_from(prng.below(2_500)).unwrap()
            };
            let next = record(u32::try_from(survivors).unwrap() + step, bytes);
            ends.push(log.append(&next).unwrap().end);
            appended.push(next);
            if prng.percent(10) {
                let wanted = ends[usize::try_from(prng.below(ends.len() as u64)).unwrap()];
                log.flush_to(wanted).await.unwrap();
            } else if prng.percent(5) {
                runtime.sleep(Nanos::from_micros(prng.below(400))).await;
            }
            log.throttle().await.unwrap();
            let durable = ends.partition_point(|end| *end <= log.durable());
            acknowledged.push((watched.moments(), durable));
        }
        Life {
            volume: watched,
            appended,
            acknowledged,
        }
    })
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
        let life = live(&image, survivors.len(), *steps, seed);
        let moments = Prng::new(Seed(*crash)).below(life.volume.moments() as u64 + 1);
        let moments = usize::try_from(moments).unwrap();
        let acknowledged = life
            .acknowledged
            .iter()
            .filter(|(passed, _)| *passed <= moments);
        let durable = acknowledged.map(|(_, durable)| *durable).max().unwrap_or(0);
        let before = survivors.len();
        survivors.extend(life.appended);
        image = life.volume.crash(moments, seed);
        let found = World::of(&image).run(|_, folder| read_all(folder, place(1, 1, 0)));
        let found = found.map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert!(
            found.len() >= before + durable,
            "{} of {durable}",
            found.len() - before
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
