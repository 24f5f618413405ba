//! A pass of the maintenance scan resumes where the last opening of the database left it.

use crate::world::{FILE, World, message, small_cache};
use engine::{CommitMode, Database, Row, Settings};
use ese::header::{DatabaseHeader, read_copies};
use ese::page::PageSize;
use units::{Bytes, Nanos};

const PAGE: PageSize = PageSize::KIB_4;

fn scanning() -> Settings {
    Settings {
        maintenance_pause: Some(Nanos::from_millis(1)),
        maintenance_read: Bytes::from_kib(16),
        ..small_cache()
    }
}

fn header(world: &World) -> DatabaseHeader {
    let image = world.volume.image();
    let mut start = vec![0; 2 * PAGE.bytes()];
    image.files[FILE].read(0, &mut start);
    read_copies(&start).unwrap().header
}

/// Number of pages in the file, without the header pages.
fn pages(world: &World) -> u64 {
    world.volume.image().files[FILE].length() / PAGE.bytes_u64() - 2
}

/// A database of some hundred pages, never scanned.
fn filled() -> World {
    let world = World::new(3);
    world.create(PAGE);
    world.run(small_cache(), |database| async move {
        let table = database.table("Messages").unwrap();
        let mut row = Row::new();
        for id in 1..400 {
            message(&mut row, id, 1, 100, 2_000);
            let mut transaction = database.begin();
            transaction.insert(&table, &row).await.unwrap();
            transaction.commit(CommitMode::Lazy).await.unwrap();
        }
    });
    world
}

async fn until(runtime: &device::Runtime, is_so: impl Fn() -> bool) {
    while !is_so() {
        runtime.sleep(Nanos::from_micros(100)).await;
    }
}

fn scanned(database: &Database) -> u64 {
    database.counters().maintenance_pages
}

#[test]
fn a_pass_goes_on_in_the_next_opening() {
    let world = filled();
    assert_eq!(header(&world).scanned_to.0, 0, "nothing was scanned");
    let runtime = world.runtime();
    world.run(scanning(), move |database| async move {
        assert_eq!(database.scanned_to(), None);
        until(&runtime, || scanned(&database) >= 100).await;
    });
    let first = header(&world);
    let (reached, all) = (u64::from(first.scanned_to.0), pages(&world));
    assert!((100..all).contains(&reached), "{reached} of {all}");
    assert_eq!(first.highest_page_scanned, first.scanned_to);
    assert_ne!(first.scan_started_time, ese::LogTime::NEVER);
    assert_eq!(first.scan_finished_time, ese::LogTime::NEVER);
    let runtime = world.runtime();
    world.run(scanning(), move |database| async move {
        assert_eq!(database.scanned_to(), Some(first.scanned_to));
        until(&runtime, || database.counters().maintenance_passes == 1).await;
        assert_eq!(scanned(&database), all - reached, "no page was read twice");
    });
    let second = header(&world);
    assert_ne!(second.scan_finished_time, ese::LogTime::NEVER);
    assert!(u64::from(second.scanned_to.0) < 20, "a new pass has begun: {:?}", second.scanned_to);
    world.check();
}

#[test]
fn a_crash_takes_no_more_than_what_no_header_has_said() {
    let world = filled();
    let runtime = world.runtime();
    let (inner, files) = (world.runtime(), world.files());
    world.executor.block_on(async move {
        let database = Database::open(&inner, files, scanning(), units::Seed(11)).await.unwrap();
        until(&runtime, || scanned(&database) >= 100).await;
        database.abandon().await.unwrap();
    });
    let before = header(&world).scanned_to;
    let (runtime, files) = (world.runtime(), world.files());
    let (seed, told) = (units::Seed(12), |_| ());
    world.executor.block_on(async move {
        let opened = Database::recover(&runtime, files, scanning(), seed, &told).await.unwrap();
        assert_eq!(opened.0.scanned_to().unwrap_or_default(), before);
        opened.0.shut_down().await.unwrap();
    });
    world.check();
}
