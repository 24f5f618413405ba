//! Tests redo against a twin: whatever a crash leaves of pages and log, the file must afterwards
//! hold exactly the result of the surviving records.

mod twin;
mod world;

use std::cell::RefCell;
use std::rc::Rc;

use device::{FileImage, Observation, Observer, OpKind, Purpose, TracedVolume, VolumeImage};
use ese::page::PageRef;
use faults::{CrashOptions, CrashVolume};
use proptest::prelude::*;
use units::{Generation, PageNumber, Prng, Seed};
use wal::{LogError, LogRecord};

use super::redo::{RedoStep, step};
use super::*;
use crate::files::DatabaseFiles;
use twin::{FILE, PAGE_BYTES, Twin, expected_pages, live, page_of};
use world::{BEGIN, World, any_request, read_all};

#[test]
fn a_change_is_made_exactly_once() {
    assert_eq!(step(Some(4), 4, 9, false), RedoStep::Apply);
    assert_eq!(step(Some(9), 4, 9, false), RedoStep::Skip);
    assert_eq!(step(Some(12), 4, 9, true), RedoStep::Apply, "never trust what can be made anew");
    assert_eq!(step(Some(3), 4, 9, false), RedoStep::Lost);
    assert_eq!(step(Some(6), 4, 9, false), RedoStep::Lost);
    assert_eq!(step(Some(0), 4, 9, true), RedoStep::Apply);
    assert_eq!(step(None, 4, 9, true), RedoStep::Apply);
    assert_eq!(step(None, 4, 9, false), RedoStep::Wait);
}

fn files(volume: Rc<dyn device::Volume>) -> DatabaseFiles {
    DatabaseFiles {
        database: Rc::clone(&volume),
        file: FILE.to_owned(),
        log: volume,
        log_base: "E00".to_owned(),
    }
}

/// A cache of few pages, so that redo writes and reads again.
fn settings() -> RecoverySettings {
    RecoverySettings {
        cache: units::Bytes(70 * PAGE_BYTES as u64),
        reads_in_flight: 4,
        read_ahead: units::Bytes(2_000),
        ..RecoverySettings::default()
    }
}

/// Like [`settings`], with changes written long before the end of the log.
fn shallow() -> RecoverySettings {
    RecoverySettings { checkpoint_depth: units::Bytes(6_000), ..settings() }
}

fn redo_in(world: &World) -> Result<Option<Redone>, RecoveryError> {
    let volume: Rc<dyn device::Volume> = Rc::new(world.memory.clone());
    world.run(|runtime, _| async move { redo(&runtime, &files(volume), &shallow(), &|_| ()).await })
}

/// Redoes `image`, with a possible power failure at one of its requests.
fn redo_until(image: &VolumeImage, at_request: Option<u64>) -> Result<CrashVolume, RecoveryError> {
    let world = World::of(image);
    let options = CrashOptions { at_request, ..CrashOptions::default() };
    let volume = CrashVolume::new(Rc::new(world.memory.clone()), image, options);
    let (runtime, files) = (world.executor.runtime(), files(Rc::new(volume.clone())));
    let redone = volume
        .run(&world.executor, async move { redo(&runtime, &files, &shallow(), &|_| ()).await });
    redone.transpose()?;
    assert_eq!(volume.has_crashed(), at_request.is_some());
    Ok(volume)
}

/// Every request to the database file, with offset, length, start and end.
#[derive(Default)]
struct Requests(RefCell<Vec<Observation>>);

impl Observer for Requests {
    fn observe(&self, observation: &Observation) {
        if observation.purpose == Purpose::Database {
            self.0.borrow_mut().push(*observation);
        }
    }
}

/// The requests of a redo after a crash.
fn requests_of_redo(seed: Seed) -> Vec<Observation> {
    let requests = Rc::new(Requests::default());
    let observer = Rc::<Requests>::clone(&requests);
    let world = World::of(&live(seed, 1500, Twin { rebuilds: false }, None).killed());
    let traced = TracedVolume::new(Rc::new(world.memory.clone()), observer);
    let redone = world.run(|runtime, _| async move {
        redo(&runtime, &files(Rc::new(traced)), &settings(), &|_| ()).await
    });
    assert!(redone.is_ok(), "{redone:?}");
    requests.0.take()
}

/// Reads continue while pages are written: as many as allowed, and never more.
#[test]
fn reads_are_kept_in_flight_while_pages_are_written() {
    let (mut beside, mut all) = (0, 0);
    for seed in 1..=8 {
        let requests = requests_of_redo(Seed(seed));
        let reads: Vec<_> = requests.iter().filter(|of| of.kind == OpKind::Read).collect();
        let in_flight = |read: &Observation, at| read.submitted <= at && at < read.completed;
        let depth = |at| reads.iter().filter(|read| in_flight(read, at)).count();
        let most = reads.iter().map(|read| depth(read.submitted)).max();
        assert_eq!(most, Some(settings().reads_in_flight));
        let last = reads.iter().map(|read| read.submitted).max();
        let writes = requests.iter().filter(|of| of.kind == OpKind::Write);
        for write in writes.filter(|write| Some(write.completed) < last) {
            beside += usize::from(depth(write.submitted) == settings().reads_in_flight);
            all += 1;
        }
    }
    assert!(all > 50 && beside * 4 > all * 3, "{beside} of {all} writes");
}

/// Fails if the file differs from the result of all log records.
fn compare(world: &World) -> Result<(), TestCaseError> {
    let records = world.run(|_, folder| read_all(folder, BEGIN)).unwrap();
    let file = world.memory.image().files[FILE].to_vec();
    for (number, expected) in expected_pages(&records) {
        let found = page_of(&file, number);
        let view = |bytes: &[u8]| {
            let page = PageRef::new(bytes);
            let nodes: Vec<_> = (0..page.node_count()).map(|line| page.node_bytes(line)).collect();
            (page.dbtime(), page.previous(), page.external_header().to_vec(), nodes)
        };
        prop_assert_eq!(view(&found), view(&expected), "page {}", number);
    }
    Ok(())
}

fn check(seed: Seed, steps: u32) -> Result<(), TestCaseError> {
    let mut prng = Prng::new(seed);
    let live = |at| live(seed, steps, Twin { rebuilds: true }, at);
    let whole = live(None);
    let at = any_request(&mut prng, whole.created + 1, whole.volume.requests());
    let cut = at.map_or(whole, |_| live(at));
    let mut image = cut.volume.survivors(seed.derive(1));
    for attempt in 0..prng.below(3) {
        let redo =
            |at| redo_until(&image, at).map_err(|error| TestCaseError::fail(error.to_string()));
        let whole = redo(None)?;
        let at = any_request(&mut prng, 1, whole.requests());
        let cut = at.map_or(Ok(whole), |_| redo(at))?;
        image = cut.survivors(seed.derive(2 + attempt));
    }
    let world = World::of(&image);
    redo_in(&world).map_err(|error| TestCaseError::fail(error.to_string()))?;
    compare(&world)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn redo_gives_what_the_surviving_records_say(seed in any::<u64>(), steps in 1..1500_u32) {
        check(Seed(seed), steps)?;
    }
}

/// The files left when the process is killed after all steps of a run.
fn crashed(steps: u32) -> VolumeImage {
    live(Seed(7), steps, Twin { rebuilds: false }, None).killed()
}

fn change_file(image: &mut VolumeImage, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = image.files[name].to_vec();
    change(&mut bytes);
    image.files.insert(name.to_owned(), FileImage::of(&bytes));
}

#[test]
fn redo_says_what_it_did_and_is_done_only_once() {
    let world = World::of(&crashed(600));
    let first = redo_in(&world).unwrap().expect("the file is dirty");
    assert!(first.summary.pages_redone > 0 && first.summary.records > 0);
    assert_eq!(first.summary.last, first.end.generation);
    let second = redo_in(&world).unwrap().expect("it still is");
    assert!(second.summary.pages_redone < first.summary.pages_redone);
    assert_eq!(
        second.summary.pages_redone + second.summary.pages_skipped,
        first.summary.pages_redone + first.summary.pages_skipped
    );
    assert_eq!(second.losers, first.losers);
}

/// Files after redo, and a page that the redone records change but never rebuild.
fn redone_with_changed_page() -> (VolumeImage, PageNumber) {
    let world = World::of(&crashed(900));
    let redone = redo_in(&world).unwrap().expect("the file is dirty");
    let records = world.run(move |_, folder| read_all(folder, redone.checkpoint)).unwrap();
    let edits = || {
        let applies = records.iter().filter_map(|record| match record {
            LogRecord::Apply(apply) => Some(apply),
            _ => None,
        });
        applies.flat_map(|apply| &apply.pages)
    };
    let never_anew = |page| edits().all(|edits| edits.page != page || !edits.rebuilds());
    let page = edits().map(|edits| edits.page).find(|page| never_anew(*page));
    (world.memory.image(), page.expect("the checkpoint has moved"))
}

fn bytes_of(page: PageNumber) -> std::ops::Range<usize> {
    let start = (page.0 as usize + 1) * PAGE_BYTES;
    start..start + PAGE_BYTES
}

#[test]
fn a_page_that_went_back_in_time_is_a_lost_write() {
    let (mut image, changed) = redone_with_changed_page();
    change_file(&mut image, FILE, |bytes| {
        let mut page = ese::page::PageMut::new(&mut bytes[bytes_of(changed)]);
        page.set_dbtime(1);
        page.seal(changed);
    });
    let result = redo_in(&World::of(&image));
    let Err(RecoveryError::LostWrite { page, found, .. }) = result else {
        panic!("{result:?}");
    };
    assert_eq!((page, found), (changed, 1));
}

#[test]
fn a_page_that_the_log_does_not_hold_whole_is_named() {
    let (mut image, changed) = redone_with_changed_page();
    change_file(&mut image, FILE, |bytes| {
        for byte in &mut bytes[bytes_of(changed)][100..200] {
            *byte ^= 0x5A;
        }
    });
    let result = redo_in(&World::of(&image));
    let Err(RecoveryError::DamagedPage { page, .. }) = result else {
        panic!("{result:?}");
    };
    assert_eq!(page, changed);
}

#[test]
fn a_flipped_bit_is_put_right_in_the_file() {
    let (image, changed) = redone_with_changed_page();
    let mut flipped = image.clone();
    change_file(&mut flipped, FILE, |bytes| {
        bytes[bytes_of(changed)][300] ^= 4;
    });
    let world = World::of(&flipped);
    redo_in(&world).unwrap();
    let file = world.memory.image().files[FILE].to_vec();
    let verdict = ese::checksum::verify(&file[bytes_of(changed)], changed);
    assert_eq!(verdict, ese::checksum::PageVerdict::Good);
}

#[test]
fn a_lost_end_of_the_log_shows_in_the_pages() {
    let world = World::of(&crashed(300));
    redo_in(&world).unwrap();
    let mut image = world.memory.image();
    change_file(&mut image, "E00.plg", |bytes| bytes[4 * 4096..].fill(0));
    let result = redo_in(&World::of(&image));
    assert!(
        matches!(result, Err(RecoveryError::LogTooOld { .. } | RecoveryError::Log(_))),
        "{result:?}"
    );
}

#[test]
fn a_missing_log_and_another_s_log_are_refused() {
    let mut image = crashed(300);
    let mut without = image.clone();
    without.files.retain(|name, _| !name.contains(".plg"));
    let result = redo_in(&World::of(&without));
    assert!(
        matches!(result, Err(RecoveryError::Log(LogError::Missing { found: None, .. }))),
        "{result:?}"
    );
    change_file(&mut image, FILE, |bytes| {
        let mut header = ese::header::DatabaseHeader::decode(&bytes[..PAGE_BYTES]);
        header.log_signature.random += 1;
        header.encode_over(&mut bytes[..PAGE_BYTES]);
    });
    let result = redo_in(&World::of(&image));
    assert!(matches!(result, Err(RecoveryError::Log(LogError::Foreign { .. }))), "{result:?}");
}

#[test]
fn a_header_that_requires_more_log_than_there_is_is_believed() {
    let mut image = crashed(300);
    change_file(&mut image, FILE, |bytes| {
        let mut header = ese::header::DatabaseHeader::decode(&bytes[..PAGE_BYTES]);
        header.generation_max_required = Generation(5);
        header.encode_over(&mut bytes[..PAGE_BYTES]);
    });
    let result = redo_in(&World::of(&image));
    let Err(RecoveryError::Log(LogError::Missing { needed, missing, .. })) = result else {
        panic!("{result:?}");
    };
    assert_eq!((needed.1, missing), (Generation(5), Generation(2)));
}

#[test]
fn a_clean_file_needs_nothing() {
    let mut image = crashed(10);
    change_file(&mut image, FILE, |bytes| {
        let mut header = ese::header::DatabaseHeader::decode(&bytes[..PAGE_BYTES]);
        header.state = ese::header::DatabaseState::CleanShutdown;
        header.encode_over(&mut bytes[..PAGE_BYTES]);
    });
    assert_eq!(redo_in(&World::of(&image)), Ok(None));
}
