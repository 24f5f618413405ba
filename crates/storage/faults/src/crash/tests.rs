use std::collections::BTreeSet;
use std::rc::Rc;

use device::{
    Buffer, Device, Durability, Executor, FileImage, Latency, MemoryVolume, OpenMode, Purpose,
    Request, VirtualReactor, Volume, VolumeImage, conformance,
};
use units::{Nanos, Prng, Seed};

use super::{CrashOptions, CrashVolume};

fn world(options: CrashOptions) -> (Executor, CrashVolume) {
    let reactor = VirtualReactor::new();
    let latency = Latency::spread(Nanos(10), Nanos(90), Seed(3));
    let memory = MemoryVolume::new("memory", &reactor, latency);
    let volume = CrashVolume::new(Rc::new(memory), &VolumeImage::default(), options);
    (Executor::new(reactor), volume)
}

fn create(length: u64) -> OpenMode {
    OpenMode::CreateNew { length }
}

fn filled(offset: u64, length: usize, byte: u8, durability: Durability) -> Request {
    let buffer = Buffer::copy_of(&vec![byte; length]);
    Request::write(Purpose::Database, offset, buffer, durability)
}

async fn done(device: &Rc<dyn Device>, request: Request) {
    device.submit(request).await.result.unwrap();
}

/// The distinct bytes in a file of one byte value per sector.
fn sectors(image: &FileImage) -> Vec<u8> {
    let bytes = image.to_vec();
    let whole = |sector: &[u8]| {
        assert!(sector.iter().all(|&byte| byte == sector[0]), "a torn sector");
        sector[0]
    };
    bytes.chunks(512).map(whole).collect()
}

/// Contents of `file` after the crash, for many seeds.
fn outcomes(volume: &CrashVolume, file: &str) -> Vec<Vec<u8>> {
    (0..200).map(|seed| sectors(&volume.survivors(Seed(seed)).files[file])).collect()
}

#[test]
fn conforms_while_power_is_on() {
    let (executor, volume) = world(CrashOptions::default());
    conformance::check_all(&executor, &(Rc::new(volume) as Rc<dyn Volume>));
}

#[test]
fn durable_writes_and_flushed_writes_survive_every_seed() {
    let (executor, volume) = world(CrashOptions::default());
    let twin = volume.clone();
    executor.block_on(async move {
        let device = twin.open("file", create(8_192)).await.unwrap();
        done(&device, filled(0, 4_096, 1, Durability::Volatile)).await;
        done(&device, Request::flush(Purpose::Database)).await;
        done(&device, filled(4_096, 4_096, 2, Durability::Durable)).await;
    });
    let expected = [[1; 8], [2; 8]].concat();
    assert!(outcomes(&volume, "file").iter().all(|found| *found == expected));
}

#[test]
fn volatile_writes_are_applied_dropped_or_torn_at_sectors() {
    let (executor, volume) = world(CrashOptions::default());
    let twin = volume.clone();
    executor.block_on(async move {
        let device = twin.open("file", create(4_096)).await.unwrap();
        done(&device, filled(0, 4_096, 7, Durability::Volatile)).await;
    });
    let found = outcomes(&volume, "file");
    assert!(found.contains(&vec![0; 8]), "dropped");
    assert!(found.contains(&vec![7; 8]), "applied");
    let patterns: BTreeSet<_> = found.into_iter().collect();
    assert!(patterns.len() > 20, "torn in many patterns");
}

#[test]
fn a_long_write_is_also_cut_off_anywhere() {
    let (executor, volume) = world(CrashOptions::default());
    let twin = volume.clone();
    executor.block_on(async move {
        let device = twin.open("file", create(65_536)).await.unwrap();
        done(&device, filled(0, 65_536, 7, Durability::Volatile)).await;
    });
    let beginning = |found: &Vec<u8>| {
        let (written, rest) = found.split_at(found.partition_point(|&byte| byte == 7));
        let is_cut = written.iter().all(|&byte| byte == 7) && rest.iter().all(|&byte| byte == 0);
        is_cut.then_some(written.len())
    };
    let found = outcomes(&volume, "file");
    let cuts: BTreeSet<_> = found.iter().filter_map(beginning).collect();
    let inside = |part: std::ops::Range<usize>| cuts.range(part).next().is_some();
    assert!((0..128).step_by(32).all(|from| inside(from.max(1)..from + 32)), "{cuts:?}");
}

#[test]
fn a_torn_write_destroys_neighbours_within_a_physical_sector_only() {
    for (physical_sector, may_be_lost) in [(512, false), (4_096, true)] {
        let options = CrashOptions { physical_sector, ..CrashOptions::default() };
        let (executor, volume) = world(options);
        let twin = volume.clone();
        executor.block_on(async move {
            let device = twin.open("file", create(8_192)).await.unwrap();
            assert_eq!(device.caps().physical_sector, physical_sector);
            done(&device, filled(0, 512, 7, Durability::Durable)).await;
            done(&device, filled(4_096, 512, 7, Durability::Durable)).await;
            drop(device.submit(filled(512, 512, 9, Durability::Durable)));
        });
        let mut survivors = (0..200).map(|seed| {
            let bytes = volume.survivors(Seed(seed)).files["file"].to_vec();
            assert!(bytes[4_096..4_608] == [7; 512], "another physical sector");
            bytes[..512] == [7; 512]
        });
        assert_eq!(survivors.any(|is_there| !is_there), may_be_lost);
    }
}

#[test]
fn a_page_that_is_written_whole_is_not_torn() {
    let options = CrashOptions { atomic_write_unit: 4_096, ..CrashOptions::default() };
    let (executor, volume) = world(options);
    let twin = volume.clone();
    executor.block_on(async move {
        let device = twin.open("file", create(8_192)).await.unwrap();
        assert_eq!(device.caps().atomic_write_unit, 4_096);
        done(&device, filled(0, 8_192, 7, Durability::Volatile)).await;
    });
    let patterns: BTreeSet<_> = outcomes(&volume, "file").into_iter().collect();
    let page = |byte: u8| [byte; 8];
    let all = [[0, 0], [0, 7], [7, 0], [7, 7]].map(|pages| pages.map(page).concat());
    assert_eq!(patterns, BTreeSet::from(all));
}

#[test]
fn a_flush_covers_only_what_had_completed_before_it() {
    let (executor, volume) = world(CrashOptions::default());
    let twin = volume.clone();
    executor.block_on(async move {
        let device = twin.open("file", create(8_192)).await.unwrap();
        let early = device.submit(filled(0, 4_096, 1, Durability::Volatile));
        let flush = device.submit(Request::flush(Purpose::Database));
        early.await.result.unwrap();
        flush.await.result.unwrap();
    });
    let found = outcomes(&volume, "file");
    assert!(found.iter().any(|sectors| sectors[0] == 0), "it may be lost");
}

#[test]
fn an_older_volatile_write_never_covers_a_durable_one() {
    let (executor, volume) = world(CrashOptions::default());
    let twin = volume.clone();
    executor.block_on(async move {
        let device = twin.open("file", create(4_096)).await.unwrap();
        done(&device, filled(0, 4_096, 1, Durability::Volatile)).await;
        done(&device, filled(0, 4_096, 2, Durability::Durable)).await;
    });
    assert!(outcomes(&volume, "file").iter().all(|found| *found == [2; 8]));
}

#[test]
fn a_durable_write_makes_no_other_write_durable() {
    let (executor, volume) = world(CrashOptions::default());
    let twin = volume.clone();
    executor.block_on(async move {
        let device = twin.open("file", create(12_288)).await.unwrap();
        done(&device, filled(0, 4_096, 1, Durability::Volatile)).await;
        done(&device, filled(4_096, 4_096, 2, Durability::Durable)).await;
        done(&device, filled(8_192, 4_096, 3, Durability::Volatile)).await;
    });
    let found = outcomes(&volume, "file");
    assert!(found.iter().all(|sectors| sectors[8..16] == [2; 8]));
    for (first, last) in [(0, 0), (0, 3), (1, 0), (1, 3)] {
        let seen = |sectors: &Vec<u8>| sectors[..8] == [first; 8] && sectors[16..] == [last; 8];
        assert!(found.iter().any(seen), "{first} and {last}");
    }
}

#[test]
fn what_is_asked_after_the_crash_leaves_nothing() {
    let (executor, volume) = world(CrashOptions::default());
    let twin = volume.clone();
    executor.block_on(async move {
        let device = twin.open("file", create(4_096)).await.unwrap();
        twin.crash();
        drop(device.submit(filled(0, 4_096, 9, Durability::Volatile)));
    });
    assert!(outcomes(&volume, "file").iter().all(|found| *found == [0; 8]));
    assert_eq!(volume.requests(), 1);
}

/// A script of one request each: create, write, flush, grow, rename, create, remove.
async fn script(volume: CrashVolume) -> u64 {
    let device = volume.open("a", create(4_096)).await.unwrap();
    done(&device, filled(0, 4_096, 1, Durability::Volatile)).await;
    done(&device, Request::flush(Purpose::Database)).await;
    done(&device, Request::set_length(Purpose::Database, 8_192)).await;
    volume.rename("a", "b").await.unwrap();
    volume.open("c", create(4_096)).await.unwrap();
    volume.remove("c").await.unwrap();
    volume.requests()
}

/// Every possible state of the folder if power fails at request `k` of the script.
fn possible(k: u64) -> BTreeSet<Vec<(String, usize)>> {
    let options = CrashOptions { at_request: Some(k), ..CrashOptions::default() };
    let (executor, volume) = world(options);
    let ended = volume.run(&executor, script(volume.clone()));
    assert_eq!((ended, volume.has_crashed()), (None, true));
    (0..100)
        .map(|seed| {
            let files = volume.survivors(Seed(seed)).files;
            let listed = files.iter().map(|(name, image)| (name.clone(), image.to_vec().len()));
            listed.collect()
        })
        .collect()
}

#[test]
fn power_may_fail_at_every_request_of_a_script() {
    let (executor, volume) = world(CrashOptions::default());
    assert_eq!(volume.run(&executor, script(volume.clone())), Some(7));
    let folder = |files: &[(&str, usize)]| {
        files.iter().map(|&(name, length)| (name.to_owned(), length)).collect::<Vec<_>>()
    };
    let expected: [&[&[(&str, usize)]]; 7] = [
        &[&[], &[("a", 0)], &[("a", 4_096)]],
        &[&[("a", 4_096)]],
        &[&[("a", 4_096)]],
        &[&[("a", 4_096)], &[("a", 8_192)]],
        &[&[("a", 8_192)], &[("b", 8_192)]],
        &[&[("b", 8_192)], &[("b", 8_192), ("c", 0)], &[("b", 8_192), ("c", 4_096)]],
        &[&[("b", 8_192)], &[("b", 8_192), ("c", 4_096)]],
    ];
    for (k, expected) in (1..).zip(expected) {
        let expected: BTreeSet<_> = expected.iter().map(|files| folder(files)).collect();
        assert_eq!(possible(k), expected, "power fails at request {k}");
    }
}

#[test]
fn the_same_seed_leaves_the_same_bytes() {
    let options = CrashOptions { at_request: Some(20), ..CrashOptions::default() };
    let run = || {
        let (executor, volume) = world(options);
        let twin = volume.clone();
        let ended = volume.run(&executor, async move { random_writes(twin, Seed(5)).await });
        assert!(ended.is_none());
        volume
    };
    let (first, second) = (run(), run());
    assert_eq!(first.survivors(Seed(1)), second.survivors(Seed(1)));
    assert_ne!(first.survivors(Seed(1)), first.survivors(Seed(2)));
}

/// Writes at random to a file of 16 pages, tracks the values that each sector may hold after a
/// crash, and checks them after each step.
async fn random_writes(volume: CrashVolume, seed: Seed) {
    let mut prng = Prng::new(seed);
    let device = volume.open("file", create(65_536)).await.unwrap();
    let mut allowed: Vec<BTreeSet<u8>> = vec![BTreeSet::from([0]); 128];
    for value in 1..=60 {
        let durable = prng.below(4) == 0;
        let durability = [Durability::Volatile, Durability::Durable][usize::from(durable)];
        let page = prng.below(16);
        if prng.below(6) == 0 {
            done(&device, Request::flush(Purpose::Database)).await;
            // A flush settles each sector at its last write: its newest value.
            for values in &mut allowed {
                *values = values.last().copied().into_iter().collect();
            }
        } else {
            done(&device, filled(page * 4_096, 4_096, value, durability)).await;
            let first = usize::try_from(page).unwrap() * 8;
            for values in &mut allowed[first..first + 8] {
                if durable {
                    values.clear();
                }
                values.insert(value);
            }
        }
        let image = volume.survivors(Seed(u64::from(value)));
        for (index, (found, values)) in
            sectors(&image.files["file"]).iter().zip(&allowed).enumerate()
        {
            assert!(values.contains(found), "{seed}, step {value}: sector {index}: {found}");
        }
    }
}

#[test]
fn no_sector_ever_holds_what_it_may_not() {
    for seed in 0..20 {
        let (executor, volume) = world(CrashOptions::default());
        let twin = volume.clone();
        executor.block_on(async move { random_writes(twin, Seed(seed)).await });
    }
}

#[test]
fn nothing_completes_after_the_crash_and_survivors_begin_a_new_volume() {
    let (executor, volume) = world(CrashOptions::default());
    let twin = volume.clone();
    let ended = volume.run(&executor, async move {
        let device = twin.open("file", create(4_096)).await.unwrap();
        done(&device, filled(0, 4_096, 9, Durability::Durable)).await;
        twin.crash();
        done(&device, Request::read(Purpose::Database, 0, 4_096)).await;
    });
    assert!(ended.is_none());
    let reactor = VirtualReactor::new();
    let image = volume.survivors(Seed(0));
    let memory = MemoryVolume::of("next", &reactor, Latency::fixed(Nanos(1)), &image);
    let next = CrashVolume::new(Rc::new(memory), &image, CrashOptions::default());
    Executor::new(reactor).block_on(async move {
        let device = next.open("file", OpenMode::ReadWrite).await.unwrap();
        let read = device.submit(Request::read(Purpose::Database, 0, 4_096)).await;
        assert!(read.into_buffer().unwrap().iter().all(|&byte| byte == 9));
    });
}
