//! Backups that copy the data they read, in virtual time.

use std::rc::Rc;

use device::{FileImage, Latency, MemoryVolume, OpenMode, Volume};
use faults::{Call, Effect, Fault, FaultPlan, FaultyVolume, Matching, Occurrence};
use record::{BackupCopy, RunRecord, Series};
use units::{Nanos, Seed};

use super::{PLAN, issues, prepared, run_once};
use crate::location::CopyFolder;
use crate::testing::World;

/// A prepared world whose backups go to a separate folder, where each request takes `takes`.
fn copying(takes: Nanos) -> (World, MemoryVolume) {
    let text = PLAN
        .replace("size", "backup_folders = [\"copies\"]\nsize")
        .replace("[test]\n", "[test]\ntype = \"backup\"\n")
        .replace("duration = \"1500ms\"\n", "");
    let mut world = prepared(&text);
    let latency = Latency::spread(takes, takes + Nanos(1), Seed(3));
    let volume = MemoryVolume::new("copies", &world.reactor, latency);
    copy_to(&mut world, &(Rc::new(volume.clone()) as Rc<dyn Volume>));
    (world, volume)
}

fn copy_to(world: &mut World, volume: &Rc<dyn Volume>) {
    for location in &mut world.locations {
        location.copies = Some(CopyFolder {
            folder: "copies".to_owned(),
            volume: Rc::clone(volume),
            storage: "copies".to_owned(),
        });
    }
}

/// The record of one backup, with as many issues as its end states.
fn backed_up(world: &World) -> RunRecord {
    let (_, events) = run_once(world, None);
    let mut run = RunRecord::default();
    for event in events {
        run.push(event);
    }
    run
}

fn file(volume: &MemoryVolume, name: &str) -> FileImage {
    volume.image().files[name].clone()
}

#[test]
fn a_copy_is_the_database_byte_for_byte_and_is_read_back() {
    let (world, copies) = copying(Nanos::from_micros(300));
    for again in [false, true] {
        let run = backed_up(&world);
        assert!(run.issues.is_empty(), "again {again}: {:?}", run.issues);
        assert_eq!((run.backup_copies.len(), run.copy_checksums.len()), (2, 2));
        for (volume, name) in world.volumes.iter().zip(["Plimsoll001.edb", "Plimsoll002.edb"]) {
            let (database, copy) = (file(volume, name), file(&copies, name));
            assert!(database.to_vec() == copy.to_vec(), "{name}");
            assert!(run.backup_copies.iter().all(|of| of.bytes == copy.length()));
        }
        for (read, back) in run.backups.iter().zip(&run.copy_checksums) {
            assert_eq!((read.seen_pages, back.bad_pages), (back.seen_pages, 0));
        }
        let written: u64 = run.totals.values().map(|of| of.count(Series::BackupCopyWrite)).sum();
        assert!(written > 100, "{written} writes of 256 KiB make two databases of 16 MiB");
    }
}

#[test]
fn how_long_reads_wait_for_a_copy_is_told() {
    let waited = |takes| -> (Vec<BackupCopy>, u64) {
        let run = backed_up(&copying(takes).0);
        assert!(run.issues.is_empty(), "{:?}", run.issues);
        let longest = run.backups.iter().map(|read| read.elapsed_ns).max();
        (run.backup_copies, longest.expect("databases were read"))
    };
    let (fast, _) = waited(Nanos::from_micros(50));
    assert!(fast.iter().all(|copy| copy.reads_waited_ns < copy.elapsed_ns / 10), "{fast:?}");
    let (slow, read) = waited(Nanos::from_millis(100));
    // 64 blocks of 256 KiB, two at a time, take 3.2 s, and creating the file takes a few requests.
    for copy in slow {
        assert!((2_800_000_000..4_500_000_000).contains(&copy.reads_waited_ns), "{copy:?}");
        assert!(copy.reads_waited_ns <= read, "{copy:?}");
    }
}

#[test]
fn what_is_no_copy_of_the_database_is_never_replaced() {
    let (world, copies) = copying(Nanos::from_micros(300));
    let stranger = copies.clone();
    world.executor.block_on(async move {
        let length = 32 << 10;
        let made = stranger.open("Plimsoll002.edb", OpenMode::CreateNew { length }).await;
        drop(made.expect("a new file"));
    });
    let before = copies.image();
    let (summary, events) = run_once(&world, None);
    assert!(summary.failure.is_some_and(|failure| failure.at_open), "nothing is begun");
    let issues = issues(&events);
    assert!(issues.iter().any(|(_, text)| text.contains("is no copy that a backup")), "{issues:?}");
    assert_eq!(copies.image(), before, "not even of the other database");
    // A copy of one database in place of another's.
    let (world, copies) = copying(Nanos::from_micros(300));
    assert!(backed_up(&world).issues.is_empty());
    let mut image = copies.image();
    let first = image.files["Plimsoll001.edb"].clone();
    image.files.insert("Plimsoll002.edb".to_owned(), first.clone());
    let latency = Latency::spread(Nanos(1_000), Nanos(2_000), Seed(3));
    let swapped = MemoryVolume::of("copies", &world.reactor, latency, &image);
    let mut world = world;
    copy_to(&mut world, &(Rc::new(swapped.clone()) as Rc<dyn Volume>));
    assert!(!backed_up(&world).issues.is_empty());
    assert!(file(&swapped, "Plimsoll002.edb") == first);
}

#[test]
fn a_copy_whose_writes_are_lost_is_damaged_and_one_that_fails_is_no_copy() {
    for (effect, is_made) in [(Effect::LoseWrite, true), (Effect::Fail { done: false }, false)] {
        let (mut world, copies) = copying(Nanos::from_micros(300));
        let fault = Fault {
            matching: Matching {
                call: Some(Call::Write),
                file: Some("Plimsoll002.edb".to_owned()),
                ..Matching::default()
            },
            occurrence: Occurrence::From(20),
            effect,
        };
        let plan = FaultPlan { seed: Seed(1), faults: vec![fault] };
        let runtime = world.executor.runtime();
        let faulty = FaultyVolume::new(Rc::new(copies), plan, runtime);
        copy_to(&mut world, &(Rc::new(faulty) as Rc<dyn Volume>));
        let run = backed_up(&world);
        assert!(!run.issues.is_empty());
        let made: Vec<u32> = run.backup_copies.iter().map(|copy| copy.database).collect();
        assert_eq!(made.contains(&1), is_made && !made.is_empty(), "{made:?}");
        for back in &run.copy_checksums {
            let wrong = back.bad_pages + back.lost_flush_pages;
            assert_eq!(wrong > 0, back.database == 1, "{back:?}");
        }
        assert!(run.backups.iter().all(|read| read.bad_pages + read.lost_flush_pages == 0));
    }
}
