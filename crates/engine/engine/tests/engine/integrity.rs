//! Databases of this engine, examined page by page after a load: by the check in this folder, and
//! by the examination that operators use.

use crate::world::{FILE, World, message, small_cache};
use device::{OpenMode, Purpose, Request};
use engine::{CommitMode, Row};
use ese::header::{PROBE_BYTES, read_copies};
use ese::page::PageSize;
use ese::reader::FileImage;
use ese::verify::{Report, verify};
use units::{Prng, Seed};

/// Inserts, replaces and deletes, some of it rolled back.
fn load(world: &World, seed: u64) {
    world.run(small_cache(), move |database| async move {
        let table = database.table("Messages").unwrap();
        let mut prng = Prng::new(Seed(seed));
        let (mut row, mut next) = (Row::new(), 1_i64);
        let mut live: Vec<i64> = Vec::new();
        for version in 0..160 {
            let mut transaction = database.begin();
            let before = live.clone();
            for _ in 0..8 {
                let pick = usize::try_from(prng.below(live.len().max(1) as u64)).unwrap();
                if live.len() > 50 && prng.percent(35) {
                    let id = live.swap_remove(pick);
                    let key = table.primary_key(&[&id.to_le_bytes()]).unwrap();
                    transaction.delete(&table, &key).await.unwrap();
                } else if live.len() > 50 && prng.percent(30) {
                    message(&mut row, live[pick], version, 150, 3000);
                    transaction.replace(&table, &row).await.unwrap();
                } else {
                    message(&mut row, next, version, 200, 2000);
                    transaction.insert(&table, &row).await.unwrap();
                    live.push(next);
                    next += 1;
                }
            }
            if prng.percent(20) {
                transaction.rollback().await.unwrap();
                live = before;
            } else {
                transaction.commit(CommitMode::Lazy).await.unwrap();
            }
        }
    });
}

fn examine(world: &World) -> Report {
    let bytes = world.volume.image().files[FILE].to_vec();
    let copies = read_copies(&bytes[..bytes.len().min(PROBE_BYTES)]).unwrap();
    let Ok(report) = verify(FileImage::new(&bytes, copies.page_size), &copies.header);
    report
}

#[test]
fn an_empty_database_agrees_with_itself() {
    for size in PageSize::ALL {
        let world = World::new(3);
        world.create(size);
        let report = examine(&world);
        assert_eq!(report.findings, [], "{size}");
        assert_eq!((report.leaked, report.notices), (vec![], vec![]), "{size}");
    }
}

fn lengthen(world: &World, length: u64) {
    let files = world.files();
    world.executor.block_on(async move {
        let opened = files.database.open(&files.file, OpenMode::ReadWrite).await;
        let request = Request::set_length(Purpose::Database, length);
        opened.unwrap().submit(request).await.result.unwrap();
    });
}

/// A crash between the file's growth and the change that would own the space leaves such room.
#[test]
fn room_that_the_database_does_not_own_goes_when_it_is_closed() {
    let world = World::new(4);
    world.create(PageSize::ALL[0]);
    let length = world.volume.image().files[FILE].to_vec().len() as u64;
    let grown = length + 256 * PageSize::ALL[0].bytes_u64();
    lengthen(&world, grown);
    assert_eq!(examine(&world).notices.len(), 1, "the file is too long");
    world.run(small_cache(), |_| async {});
    assert_eq!(examine(&world).notices, []);
    assert_eq!(world.volume.image().files[FILE].to_vec().len() as u64, length);
}

#[test]
fn a_loaded_database_agrees_with_itself() {
    for (seed, size) in (1..).zip(PageSize::ALL) {
        let world = World::new(seed);
        world.create(size);
        load(&world, seed);
        let rows = world.check();
        let report = examine(&world);
        let text: Vec<_> = report.findings.iter().take(20).map(ToString::to_string).collect();
        assert!(report.is_clean(), "{size}: {} problems: {text:#?}", report.problems);
        assert_eq!((report.leaked, report.notices), (vec![], vec![]), "{size}");
        assert!(rows.len() > 50, "{size}: {} rows", rows.len());
        assert_eq!(report.long_values, rows.len() as u64, "{size}");
    }
}
