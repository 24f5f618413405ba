//! The cache as a device: the contract of every device, hits on flash, and survival of restarts.

mod policy;
mod support;

use std::rc::Rc;

use device::{
    Buffer, Device, DeviceError, Durability, OpenMode, Purpose, Request, Volume, conformance,
};
use faults::{Call, Effect, Fault, FaultPlan, FaultyVolume, Matching, Occurrence};
use flashcache::{
    CacheHealth, CacheStore, Cached, CachedVolume, ExamineDepth, FlashCache, FormatOptions,
    PoolShare, RequestClass, StoreError, examine, format,
};
use support::{BLOCK, World, cached, new_flash, open_store, pattern, read, write};
use units::{Bytes, Prng, Seed};

const FLASH: u64 = 64 << 20;

async fn new_cache(world: &(Rc<dyn Volume>, device::Runtime), bytes: u64) -> FlashCache {
    let flash = new_flash(&world.0, bytes).await;
    let opened = CacheStore::open(flash, &world.1).await;
    FlashCache::new(opened.expect("a new store").0, None)
}

#[test]
fn conforms() {
    let world = World::new();
    let flash = (Rc::clone(&world.flash), world.executor.runtime());
    let cache = world.executor.block_on(async move { new_cache(&flash, FLASH).await });
    let volume: Rc<dyn Volume> = Rc::new(CachedVolume::new(Rc::clone(&world.backing), &cache));
    conformance::check_all(&world.executor, &volume);
    let status = cache.store().status();
    assert_eq!(status.health, CacheHealth::Working);
    assert!(status.counters.block_hits > 100, "the suite went through the cache: {status:?}");
    assert_eq!(status.counters.damaged, 0);
}

#[test]
fn the_second_read_comes_from_flash_and_a_write_is_seen_at_once() {
    let world = World::new();
    let (backing, flash) = (Rc::clone(&world.backing), Rc::clone(&world.flash));
    let runtime = world.executor.runtime();
    world.executor.block_on(async move {
        let cache = new_cache(&(flash, runtime.clone()), FLASH).await;
        let volume = cached(&cache, &backing, 1 << 30).await;
        write(&volume, 5, pattern(1)).await;
        for _ in 0..2 {
            // Enough other blocks for the group of block 5 to leave memory.
            for block in 0..64 {
                read(&volume, block * 9 + 5).await;
            }
        }
        let began = runtime.now();
        assert!(read(&volume, 5).await[..] == pattern(1)[..]);
        assert!(runtime.now().since(began).0 <= 100_000, "from flash");
        write(&volume, 5, pattern(2)).await;
        assert!(read(&volume, 5).await[..] == pattern(2)[..]);
        let part = Buffer::copy_of(&[9; 4_096]);
        let at = 5 * BLOCK as u64 + 4_096;
        let change = Request::write(Purpose::Database, at, part, Durability::Volatile);
        volume.submit(change).await.result.unwrap();
        let mut expected = pattern(2);
        expected[4_096..8_192].fill(9);
        assert!(read(&volume, 5).await[..] == expected[..]);
        let class = cache.class(RequestClass::Database);
        assert!(class.hits > 60 && class.hit_bytes == class.hits * BLOCK as u64, "{class:?}");
    });
}

#[test]
fn a_clean_end_keeps_everything_warm() {
    let world = World::new();
    let (backing, flash) = (Rc::clone(&world.backing), Rc::clone(&world.flash));
    let runtime = world.executor.runtime();
    world.executor.block_on(async move {
        let cache = new_cache(&(Rc::clone(&flash), runtime.clone()), FLASH).await;
        let volume = cached(&cache, &backing, 1 << 30).await;
        for block in 0..500_u64 {
            write(&volume, block * 3, pattern(block)).await;
        }
        volume.submit(Request::flush(Purpose::Database)).await.result.unwrap();
        cache.store().close().await.unwrap();
        let refused =
            volume.submit(Request::write(Purpose::Database, 0, pattern(1), Durability::Volatile));
        let refused = refused.await.result;
        assert!(matches!(refused, Err(DeviceError::Disconnected { .. })), "{refused:?}");
        drop((volume, cache));
        let (store, recovery) = open_store(&flash, &runtime).await;
        assert!(recovery.was_clean && recovery.blocks == 500, "{recovery:?}");
        let cache = FlashCache::new(store, None);
        let volume = cached(&cache, &backing, 1 << 30).await;
        for block in 0..500_u64 {
            assert!(read(&volume, block * 3).await[..] == pattern(block)[..]);
        }
        assert_eq!(cache.class(RequestClass::Database).hits, 500);
    });
}

#[test]
fn a_stamp_that_comes_late_leaves_a_closed_cache_warm() {
    for delay_micros in [0, 50, 500, 1_000, 100_000] {
        let world = World::new();
        let (backing, flash) = (Rc::clone(&world.backing), Rc::clone(&world.flash));
        let runtime = world.executor.runtime();
        world.executor.block_on(async move {
            let cache = new_cache(&(Rc::clone(&flash), runtime.clone()), FLASH).await;
            let volume = cached(&cache, &backing, 1 << 30).await;
            for block in 0..50 {
                write(&volume, block * 3, pattern(block)).await;
            }
            volume.submit(Request::flush(Purpose::Database)).await.result.unwrap();
            let (late, clock) = (cache.clone(), runtime.clone());
            let stamping = runtime.spawn(async move {
                clock.sleep(units::Nanos::from_micros(delay_micros)).await;
                late.set_stamp("volume", 7).await;
            });
            cache.store().close().await.unwrap();
            stamping.await;
            drop((volume, cache));
            let (_, recovery) = open_store(&flash, &runtime).await;
            assert!(recovery.was_clean && recovery.blocks == 50, "{delay_micros}: {recovery:?}");
        });
    }
}

#[test]
fn an_opened_store_knows_what_an_examination_finds_without_reading_it_twice() {
    let world = World::new();
    let (backing, flash) = (Rc::clone(&world.backing), Rc::clone(&world.flash));
    let runtime = world.executor.runtime();
    world.executor.block_on(async move {
        let cache = new_cache(&(Rc::clone(&flash), runtime.clone()), FLASH).await;
        let volume = cached(&cache, &backing, 1 << 30).await;
        for block in 0..50 {
            write(&volume, block * 3, pattern(block)).await;
        }
        volume.submit(Request::flush(Purpose::Database)).await.result.unwrap();
        cache.set_stamp("volume", 7).await;
        cache.store().close().await.unwrap();
        drop((volume, cache));
        let device = flash.open("cache", OpenMode::ReadOnly).await.unwrap();
        let found = examine(device, &runtime, ExamineDepth::Index).await.unwrap();
        let (store, _) = open_store(&flash, &runtime).await;
        assert_eq!(store.stored_volumes(), found.volumes);
        let [volume] = &found.volumes[..] else { panic!("one volume: {found:?}") };
        assert_eq!((volume.length, volume.stamp, volume.blocks), (1 << 30, 7, 50));
    });
}

#[test]
fn a_volume_of_another_length_or_stamp_starts_cold() {
    let world = World::new();
    let (backing, flash) = (Rc::clone(&world.backing), Rc::clone(&world.flash));
    let runtime = world.executor.runtime();
    world.executor.block_on(async move {
        let cache = new_cache(&(flash, runtime), FLASH).await;
        let volume = cached(&cache, &backing, 1 << 30).await;
        for block in 0..100 {
            read(&volume, block * 7).await;
        }
        assert_eq!(cache.store().status().cached_blocks, 100);
        let inner = backing.open("volume", OpenMode::ReadOnly).await.unwrap();
        let share = flashcache::PoolShare::default();
        drop(flashcache::Cached::new(&cache, inner, ("volume", 1), share).await);
        assert_eq!(cache.store().status().cached_blocks, 0);
    });
}

fn every(call: Call, effect: Effect) -> FaultPlan {
    let matching = Matching { call: Some(call), purpose: Some(Purpose::Database), file: None };
    let fault = Fault { matching, occurrence: Occurrence::From(1), effect };
    FaultPlan { seed: Seed(4), faults: vec![fault] }
}

/// A hundred blocks are cached while the flash suffers `plan`; then all of them are read.
fn with_faulty_flash(plan: FaultPlan) -> flashcache::StoreStatus {
    let world = World::new();
    let runtime = world.executor.runtime();
    let faulty = FaultyVolume::new(Rc::clone(&world.flash), FaultPlan::default(), runtime.clone());
    let (backing, flash): (_, Rc<dyn Volume>) =
        (Rc::clone(&world.backing), Rc::new(faulty.clone()));
    world.executor.block_on(async move {
        let cache = new_cache(&(flash, runtime.clone()), FLASH).await;
        let volume = cached(&cache, &backing, 1 << 30).await;
        faulty.follow(plan);
        for block in 0..160 {
            write(&volume, block * 3, pattern(block)).await;
        }
        runtime.sleep(units::Nanos::from_secs(1)).await;
        for block in 0..160 {
            assert!(read(&volume, block * 3).await[..] == pattern(block)[..], "block {block}");
        }
        cache.store().status()
    })
}

#[test]
fn blocks_that_rot_on_flash_are_read_from_the_volume() {
    let status = with_faulty_flash(every(Call::Read, Effect::FlipBits(1)));
    assert!(status.counters.damaged > 100, "{status:?}");
    assert_eq!(status.health, CacheHealth::Working);
    let status = with_faulty_flash(every(Call::Write, Effect::MisdirectWrite));
    assert!(status.counters.damaged > 100, "{status:?}");
}

#[test]
fn flash_that_fails_is_passed_by_and_marked_as_empty() {
    let status = with_faulty_flash(every(Call::Write, Effect::Fail { done: false }));
    let CacheHealth::Failed { marked_empty, .. } = status.health else {
        panic!("{status:?}");
    };
    assert!(marked_empty && status.cached_blocks == 0);
    let header = FaultPlan {
        seed: Seed(1),
        faults: vec![Fault {
            matching: Matching { call: Some(Call::Write), purpose: None, file: None },
            occurrence: Occurrence::From(1),
            effect: Effect::Fail { done: false },
        }],
    };
    let status = with_faulty_flash(header);
    let words = status.health.to_string();
    assert!(words.contains("format it before you use it again"), "{words}");
}

#[test]
fn errors_of_the_volume_are_passed_on_and_never_cached() {
    let world = World::new();
    let runtime = world.executor.runtime();
    let faulty =
        FaultyVolume::new(Rc::clone(&world.backing), FaultPlan::default(), runtime.clone());
    let (backing, flash): (Rc<dyn Volume>, _) = (Rc::new(faulty.clone()), Rc::clone(&world.flash));
    world.executor.block_on(async move {
        let cache = new_cache(&(flash, runtime), FLASH).await;
        let volume = cached(&cache, &backing, 1 << 30).await;
        write(&volume, 4, pattern(1)).await;
        faulty.follow(every(Call::Write, Effect::Fail { done: true }));
        let at = 4 * BLOCK as u64;
        let change = Request::write(Purpose::Database, at, pattern(2), Durability::Durable);
        let result = volume.submit(change).await.result;
        assert!(
            matches!(&result, Err(DeviceError::Io { offset, .. }) if *offset == at),
            "{result:?}"
        );
        assert_eq!(cache.store().status().cached_blocks, 0);
        assert!(read(&volume, 4).await[..] == pattern(2)[..], "it was done all the same");
    });
}

#[test]
fn a_device_that_holds_something_is_not_formatted_unasked() {
    let world = World::new();
    let flash = Rc::clone(&world.flash);
    let runtime = world.executor.runtime();
    world.executor.block_on(async move {
        let mode = OpenMode::CreateNew { length: FLASH };
        let device = flash.open("cache", mode).await.unwrap();
        let foreign = CacheStore::open(Rc::clone(&device), &runtime).await.err();
        assert!(matches!(foreign, Some(StoreError::Foreign { .. })), "{foreign:?}");
        write(&*device, 3, pattern(1)).await;
        let block_bytes = u32::try_from(BLOCK).unwrap();
        let mut options = FormatOptions { block_bytes, identity: [1; 16], force: false };
        let refused = format(&device, options).await;
        assert!(matches!(refused, Err(StoreError::HoldsSomething { is_store: false, .. })));
        options.force = true;
        format(&device, options).await.unwrap();
        options.force = false;
        let refused = format(&device, options).await;
        assert!(matches!(refused, Err(StoreError::HoldsSomething { is_store: true, .. })));
        options.block_bytes = 5_000;
        let refused = format(&device, options).await;
        assert!(matches!(refused, Err(StoreError::NoLayout { .. })));
    });
}

#[test]
fn a_scan_of_the_volume_evicts_nothing_and_blocks_come_back_after_turnover() {
    let world = World::new();
    let (backing, flash) = (Rc::clone(&world.backing), Rc::clone(&world.flash));
    let runtime = world.executor.runtime();
    world.executor.block_on(async move {
        let cache = new_cache(&(flash, runtime), 32 << 20).await;
        let volume = cached(&cache, &backing, 4 << 30).await;
        let mut prng = Prng::new(Seed(5));
        // A hot set of 300 blocks, and cold reads that turn the cache over several times.
        for _ in 0..6_000 {
            let block = if prng.percent(70) { prng.below(300) * 11 } else { prng.below(100_000) };
            read(&volume, block).await;
        }
        let warm = cache.class(RequestClass::Database);
        assert!(warm.hits * 100 > warm.reads * 55, "{warm:?}");
        for block in 0..4_000 {
            read(&volume, block + 120_000).await;
        }
        let before = cache.class(RequestClass::Database);
        for _ in 0..1_000 {
            read(&volume, prng.below(300) * 11).await;
        }
        let after = cache.class(RequestClass::Database);
        assert!(after.hits - before.hits > 950, "{before:?} {after:?}");
        let status = cache.store().status();
        assert!(status.counters.moved > 0 && status.counters.evicted > 1_000, "{status:?}");
        assert_eq!(status.counters.damaged, 0);
    });
}

#[test]
fn the_index_takes_at_most_20_bytes_a_block() {
    let world = World::new();
    let flash = Rc::clone(&world.flash);
    let runtime = world.executor.runtime();
    let status = world.executor.block_on(async move {
        let cache = new_cache(&(flash, runtime), 8 << 30).await;
        cache.store().status()
    });
    assert!(status.capacity_blocks > 240_000, "{status:?}");
    assert!(status.memory_bytes <= status.capacity_blocks * 20, "{status:?}");
}

#[test]
fn a_budget_limits_what_is_written_to_flash() {
    let world = World::new();
    let (backing, flash) = (Rc::clone(&world.backing), Rc::clone(&world.flash));
    let runtime = world.executor.runtime();
    world.executor.block_on(async move {
        let store = CacheStore::open(new_flash(&flash, FLASH).await, &runtime).await.unwrap().0;
        let cache = FlashCache::new(store, Some(Bytes::from_mib(1)));
        let volume = cached(&cache, &backing, 1 << 30).await;
        let began = runtime.now();
        for block in 0..1_000 {
            read(&volume, block * 13 % 32_000).await;
        }
        let seconds = runtime.now().since(began).as_secs_f64();
        let mib = cache.store().status().counters.admitted as f64 / 32.0;
        assert!(mib <= seconds + 1.1 && mib > seconds - 1.0, "{mib} MiB in {seconds} s");
    });
}

#[test]
fn a_volume_keeps_within_its_most_and_an_idle_one_keeps_its_least() {
    let world = World::new();
    let (backing, flash) = (Rc::clone(&world.backing), Rc::clone(&world.flash));
    let runtime = world.executor.runtime();
    world.executor.block_on(async move {
        let cache = new_cache(&(flash, runtime), 32 << 20).await;
        let mut volumes = Vec::new();
        let shares = [
            ("bounded", PoolShare { least: 0, most: 50 }),
            ("kept", PoolShare { least: 100, most: u64::MAX }),
            ("idle", PoolShare::default()),
            ("busy", PoolShare::default()),
        ];
        for (name, share) in shares {
            let mode = OpenMode::CreateNew { length: 2 << 30 };
            let inner = backing.open(name, mode).await.unwrap();
            volumes.push(Cached::new(&cache, inner, (name, 0), share).await);
        }
        for volume in &volumes[..3] {
            for block in 0..200 {
                read(volume, block * 5).await;
            }
        }
        for block in 0..8_000 {
            read(&volumes[3], block * 7 % 64_000).await;
        }
        let status = cache.store().status();
        let blocks: Vec<_> =
            status.volumes.iter().map(|volume| (volume.name.as_str(), volume.blocks)).collect();
        let [(_, bounded), (_, busy), (_, idle), (_, kept)] = blocks[..] else {
            panic!("{blocks:?}");
        };
        assert!(bounded <= 50 && idle == 0, "{blocks:?}");
        assert!(kept >= 90 && busy * 10 > status.capacity_blocks * 7, "{blocks:?}");
    });
}

#[test]
fn trimmed_blocks_are_read_from_the_volume_again() {
    let world = World::new();
    let (backing, flash) = (Rc::clone(&world.backing), Rc::clone(&world.flash));
    let runtime = world.executor.runtime();
    world.executor.block_on(async move {
        let cache = new_cache(&(flash, runtime), FLASH).await;
        let volume = cached(&cache, &backing, 1 << 30).await;
        for block in 0..64 {
            write(&volume, block, pattern(block)).await;
        }
        let bytes = BLOCK as u64 + 5..4 * BLOCK as u64;
        let before = cache.store().status().cached_blocks;
        volume.trim(bytes, async { Ok(()) }).await.unwrap();
        // The range contains three whole blocks, and a part of the first.
        assert_eq!(cache.store().status().cached_blocks + 3, before);
        assert!(read(&volume, 2).await[..] == pattern(2)[..], "the volume kept it");
        let refused = async { Err(DeviceError::PermissionDenied { file: "volume".to_owned() }) };
        let refused = volume.trim(0..BLOCK as u64, refused).await;
        assert!(matches!(refused, Err(DeviceError::PermissionDenied { .. })), "{refused:?}");
    });
}
