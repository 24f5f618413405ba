//! Tests that reading a log back reports its missing writes before any file is removed.

use std::rc::Rc;

use device::{Purpose, VolumeImage};
use faults::{Call, Effect, Fault, FaultPlan, FaultyVolume, Matching, Occurrence};
use units::Seed;

use super::*;
use crate::not_as_written::{NotAsWritten, Written};

const SETTINGS: LogSettings = LogSettings {
    segment_size: Some(SegmentSize::Bytes4096),
    buffer: Bytes::from_kib(128),
    write_behind: Bytes::from_kib(32),
    longest_write: Bytes::from_kib(64),
    format_chunk: Bytes::from_kib(256),
    circular: true,
    copies: 0,
    read_back: true,
};

/// Applies `effect` to the log write selected by `occurrence`.
fn suffer(occurrence: Occurrence, effect: Effect) -> FaultPlan {
    FaultPlan {
        seed: Seed(1),
        faults: vec![Fault {
            matching: Matching { call: Some(Call::Write), purpose: Some(Purpose::Log), file: None },
            occurrence,
            effect,
        }],
    }
}

/// Fills four and a half generations on faulty storage, with the checkpoint close behind; returns
/// the mismatches and the remaining files.
fn life(plan: FaultPlan) -> (Vec<NotAsWritten>, Vec<String>) {
    life_of(SegmentSize::Bytes4096, plan)
}

/// Like [`life`], with segments of the given size.
fn life_of(size: SegmentSize, plan: FaultPlan) -> (Vec<NotAsWritten>, Vec<String>) {
    let settings = LogSettings { segment_size: Some(size), ..SETTINGS };
    let world = World::of(&VolumeImage::default());
    let memory = Rc::new(world.memory.clone());
    world.run(move |runtime, _| async move {
        let volume = FaultyVolume::new(memory, plan, runtime.clone());
        let folder = LogFolder::new(Rc::new(volume), "E00");
        let log = Log::create(&runtime, folder.clone(), identity(), settings).await.unwrap();
        let mut number = 0;
        while log.tip() < place(5, size.per_file() / 2, 0) {
            log.append(&record(number, 3_000)).unwrap();
            number += 1;
            if number % 7 == 0 {
                log.flush_to(log.tip()).await.unwrap();
                log.advance_checkpoint(log.durable()).await.unwrap();
            }
            log.throttle().await.unwrap();
        }
        log.flush_to(log.tip()).await.unwrap();
        log.close().await.unwrap();
        let files = folder.volume.list().await.unwrap();
        let names = files.into_iter().map(|entry| entry.name).collect();
        (log.take_not_as_written(), names)
    })
}

#[test]
fn a_sound_log_is_read_back_without_a_word_and_removed() {
    for size in SIZES {
        let (found, files) = life_of(size, FaultPlan::default());
        assert_eq!(found, []);
        assert_eq!(files, ["E00.pck", "E00.plg", "E00tmp.plg"]);
    }
}

#[test]
fn one_lost_write_of_a_generation_that_is_removed_is_named() {
    for size in SIZES {
        let (found, _) = life_of(size, suffer(Occurrence::Nth(40), Effect::LoseWrite));
        let [found] = &found[..] else {
            panic!("one file: {found:?}");
        };
        assert_eq!(found.file, "logs/E0000000001.plg");
        let Written::LogSegments { generation, segment, .. } = found.what else {
            panic!("{found:?}");
        };
        assert_eq!(generation, Generation(1));
        assert_eq!(found.offset, size.offset(segment));
    }
}

#[test]
fn flipped_torn_and_misdirected_writes_are_named() {
    for effect in [Effect::FlipBits(1), Effect::TearWrite, Effect::MisdirectWrite] {
        let (found, _) = life(suffer(Occurrence::Nth(90), effect));
        assert!(!found.is_empty(), "{effect:?}");
    }
}

#[test]
fn every_generation_of_a_log_that_loses_everything_is_named() {
    let (found, _) = life(suffer(Occurrence::From(2), Effect::LoseWrite));
    let files: Vec<_> = found.iter().map(|found| found.file.as_str()).collect();
    let closed = (1..5).map(|generation| format!("logs/E000000000{generation}.plg"));
    let mut expected: Vec<_> = closed.collect();
    expected.push("logs/E00.plg".to_owned());
    assert_eq!(files, expected);
}

#[test]
fn the_last_file_is_compared_too() {
    // The last twenty writes make up half of the fifth generation.
    let (found, _) = life(suffer(Occurrence::From(190), Effect::LoseWrite));
    let files: Vec<_> = found.iter().map(|found| found.file.as_str()).collect();
    assert_eq!(files, ["logs/E00.plg"]);
}

#[test]
fn a_checkpoint_that_is_not_there_is_named() {
    let mut plan = suffer(Occurrence::From(9), Effect::LoseWrite);
    plan.faults[0].matching.purpose = Some(Purpose::Header);
    let (found, _) = life(plan);
    let [found] = &found[..] else {
        panic!("one file: {found:?}");
    };
    assert_eq!((found.file.as_str(), &found.what), ("logs/E00.pck", &Written::Checkpoint));
}

/// Sound segments under a sound header, one of them an earlier state of the same place.
#[test]
fn a_sound_segment_that_is_not_the_one_that_was_written_is_named() {
    let size = SegmentSize::Bytes512;
    let (world, _) = filled_log_of(size, 1);
    let found = world.run(move |_, folder| async move {
        let read_back = ReadBack::new(folder.clone(), identity().signature.random, size);
        let chain = LogChain::find(&folder).await.unwrap().unwrap();
        let end = chain.end().await.unwrap();
        let witness =
            LogWitness { generation: end.generation, last_segment: end.last_segment, sum: end.sum };
        read_back.finish().await;
        read_back.compare_rest(witness).await;
        assert_eq!(read_back.take(), []);
        let sum = witness.sum ^ 1;
        read_back.compare_rest(LogWitness { sum, ..witness }).await;
        read_back.take()
    });
    let generation = Generation(2);
    assert_eq!(found[0].what, Written::LogGeneration { generation });
}
