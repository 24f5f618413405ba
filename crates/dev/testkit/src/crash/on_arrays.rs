//! Power failures under a simulated array: each layer keeps the bytes that it promised to keep. A
//! database on an honest array recovers; one on disks that lie does not.

use std::collections::BTreeMap;
use std::rc::Rc;

use device::{Buffer, Device, Durability, OpenMode, Purpose, Request, Volume, VolumeImage};
use faults::{CrashOptions as PowerOptions, CrashVolume};
use simdisk::ArrayDescription;
use units::{Prng, Seed};

use super::{CrashOptions, Steps, run};
use crate::world::World;

const SHELF: &str = include_str!("../../../../../arrays/shelf-15k.toml");
const NVME: &str = include_str!("../../../../../arrays/nvme.toml");

fn array(text: &str, changes: &[(&str, &str)]) -> ArrayDescription {
    let changes: Vec<_> =
        changes.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    ArrayDescription::parse("test", text, &changes).expect("an array")
}

const CACHED_DISKS: [(&str, &str); 2] =
    [("cache.mode", "pass-through"), ("disk.write_cache_kib", "4096")];

/// Arrays that keep acknowledged writes, each by a different layer.
fn honest() -> Vec<ArrayDescription> {
    let rebuilding = [("raid.level", "5"), ("raid.failed", "1"), ("raid.spares", "1")];
    vec![
        array(SHELF, &[]),
        array(SHELF, &[("cache.battery", "false")]),
        array(SHELF, &CACHED_DISKS),
        array(SHELF, &[&CACHED_DISKS[..], &rebuilding].concat()),
        array(NVME, &[]),
        array(
            NVME,
            &[("flash.buffer_is_volatile", "true"), ("file_system.metadata_percent", "33")],
        ),
    ]
}

fn lying() -> ArrayDescription {
    array(SHELF, &[&CACHED_DISKS[..], &[("disk.ignores_flushes", "true")]].concat())
}

const SECTORS: u64 = 64;

/// Possible contents of a sector after a loss of power: the durable ones, or any written since.
#[derive(Clone, Debug, Default)]
struct SectorTwin {
    durable: u8,
    since: Vec<u8>,
}

/// The twin of a file: its sectors, by number.
type Twin = Rc<std::cell::RefCell<BTreeMap<u64, SectorTwin>>>;

/// One session that writes, flushes and pauses, and records the effects in the twin.
async fn script(device: Rc<dyn Device>, twin: Twin, seed: Seed) {
    let mut prng = Prng::new(seed);
    for value in 1..=200_u8 {
        if prng.percent(15) {
            let covered: Vec<(u64, u8)> = (twin.borrow().iter())
                .filter_map(|(sector, of)| Some((*sector, *of.since.last()?)))
                .collect();
            device.submit(Request::flush(Purpose::Database)).await.result.expect("power is on");
            for (sector, value) in &covered {
                settle(&twin, *sector, *value);
            }
            continue;
        }
        let (sector, count) = (prng.below(SECTORS - 8), 1 + prng.below(8));
        let is_durable = prng.percent(30);
        let durability = if is_durable { Durability::Durable } else { Durability::Volatile };
        for at in sector..sector + count {
            twin.borrow_mut().entry(at).or_default().since.push(value);
        }
        let length = usize::try_from(count * 512).expect("a few sectors");
        let buffer = Buffer::copy_of(&vec![value; length]);
        let request = Request::write(Purpose::Database, sector * 512, buffer, durability);
        device.submit(request).await.result.expect("power is on");
        if is_durable {
            (sector..sector + count).for_each(|at| settle(&twin, at, value));
        }
    }
}

/// Records that a value is durable, which rules out all earlier ones.
fn settle(twin: &Twin, sector: u64, value: u8) {
    let mut twin = twin.borrow_mut();
    let of = twin.entry(sector).or_default();
    if let Some(at) = of.since.iter().rposition(|written| *written == value) {
        of.durable = value;
        of.since.drain(..=at);
    }
}

/// Sectors with contents they may not have, after power failed at request `at`.
fn broken_sectors(array: &ArrayDescription, seed: u64, at: u64) -> Vec<String> {
    let world = World::on_array(&VolumeImage::default(), array, Seed(seed));
    let power = PowerOptions { at_request: Some(at), ..PowerOptions::default() };
    let before = VolumeImage::default();
    let volume = CrashVolume::guaranteed(world.volume(), &before, power, world.guarantee());
    let (twin, own) = (Twin::default(), volume.clone());
    let shared = Rc::clone(&twin);
    let ended = volume.run(world.executor(), async move {
        let length = SECTORS * 512;
        let device = own.open("file", OpenMode::CreateNew { length }).await.expect("a file");
        script(device, shared, Seed(seed)).await;
    });
    assert!(ended.is_none(), "power was to fail");
    let mut broken = Vec::new();
    for draw in 0..4 {
        let image = volume.survivors(Seed(seed * 31 + draw));
        let Some(file) = image.files.get("file") else {
            continue; // Its creation was cut short.
        };
        for (sector, found) in (0..).zip(file.to_vec().chunks(512)) {
            let of = twin.borrow().get(&sector).cloned().unwrap_or_default();
            let is_kept = found[0] == of.durable || of.since.contains(&found[0]);
            if !is_kept || found.iter().any(|byte| *byte != found[0]) {
                broken.push(format!("seed {seed}, sector {sector}: {} of {of:?}", found[0]));
            }
        }
    }
    broken
}

#[test]
fn every_layer_keeps_the_bytes_that_it_promised_to_keep() {
    for (number, array) in honest().iter().enumerate() {
        for seed in 0..40 {
            let broken = broken_sectors(array, seed, 3 + seed * 5 % 190);
            assert!(broken.is_empty(), "array {number}: {broken:?}");
        }
    }
}

/// Shows that the test above can fail: on lying disks it must.
#[test]
fn disks_that_lie_lose_what_was_durable() {
    let array = lying();
    let lost = (0..40).filter(|seed| !broken_sectors(&array, *seed, 3 + seed * 5).is_empty());
    assert!(lost.count() > 20);
}

#[test]
fn databases_recover_on_every_array_that_keeps_its_promises() {
    for (number, array) in (0..).zip(honest()) {
        for seed in 0..4 {
            let seed = Seed(1_000 + number * 10 + seed);
            let array = Some(array.clone());
            let options = CrashOptions { array, ..CrashOptions::new(seed, Steps::Some(4)) };
            let summary = run(&options).unwrap_or_else(|failure| panic!("{number}: {failure}"));
            assert!(summary.crashes >= 4, "{summary:?}");
        }
    }
}

/// A lost flush is detected: durable commits are missing, or the database reports that its log is
/// missing.
#[test]
fn databases_on_disks_that_lie_are_found_to_have_lost_commits() {
    let lost = (0..12).filter(|seed| {
        let array = Some(lying());
        let options = CrashOptions { array, ..CrashOptions::new(Seed(*seed), Steps::Some(6)) };
        run(&options).is_err()
    });
    assert!(lost.count() >= 6);
}
