//! A read, the background scan and redo judge a damaged page alike.

use crate::world::{FILE, World, message, small_cache};
use device::{Buffer, Durability, OpenMode, Purpose, Request, Volume as _};
use engine::{CommitMode, Counters, Database, Order, Row, Settings, TransactionError};
use ese::checksum;
use ese::page::{PageMut, PageRef, PageSize, page_flags};
use units::{Nanos, PageNumber, Seed};

const SIZE: PageSize = PageSize::KIB_4;

/// A closed database of 300 messages, with one page of them damaged.
fn damaged(damage: impl FnOnce(&mut [u8], PageNumber)) -> World {
    let world = World::new(3);
    world.create(SIZE);
    world.run(small_cache(), |database| async move {
        let table = database.table("Messages").unwrap();
        let mut row = Row::new();
        for id in 1..=300 {
            message(&mut row, id, 1, 200, 2_000);
            let mut transaction = database.begin();
            transaction.insert(&table, &row).await.unwrap();
            transaction.commit(CommitMode::Lazy).await.unwrap();
        }
    });
    world.check();
    let mut file = world.volume.image().files[FILE].to_vec();
    let number = leaf_of_messages(&file);
    let at = usize::try_from(SIZE.file_offset(number)).unwrap();
    let page = &mut file[at..at + SIZE.bytes()];
    damage(page, number);
    write(&world, number, page);
    world
}

/// The last leaf of a table in the file; those of the catalog come before it.
fn leaf_of_messages(file: &[u8]) -> PageNumber {
    const OTHERS: u32 = page_flags::ROOT
        | page_flags::SPACE_TREE
        | page_flags::INDEX
        | page_flags::LONG_VALUE
        | page_flags::EMPTY;
    let pages = file.chunks(SIZE.bytes()).map(PageRef::new).skip(2);
    let is_leaf = |page: &PageRef<'_>| page.is_leaf() && !page.has(OTHERS) && page.node_count() > 1;
    let leaves = (1..).zip(pages).filter(|(_, page)| is_leaf(page));
    PageNumber(leaves.map(|(number, _)| number).max().unwrap())
}

fn write(world: &World, number: PageNumber, page: &[u8]) {
    let (volume, buffer) = (world.volume.clone(), Buffer::copy_of(page));
    world.executor.block_on(async move {
        let device = volume.open(FILE, OpenMode::ReadWrite).await.unwrap();
        let offset = SIZE.file_offset(number);
        let write = Request::write(Purpose::Database, offset, buffer, Durability::Durable);
        device.submit(write).await.result.unwrap();
    });
}

/// Reads every message through the cache.
fn read_all(world: &World) -> (Result<u64, TransactionError>, Counters) {
    let (runtime, files) = (world.runtime(), world.files());
    world.executor.block_on(async move {
        let database = Database::open(&runtime, files, small_cache(), Seed(6)).await;
        let database = database.unwrap();
        let table = database.table("Messages").unwrap();
        let transaction = database.begin();
        let (mut scan, mut rows) = (transaction.scan(&table, Order::Primary, &[]), 0);
        let read = loop {
            match scan.next().await {
                Ok(Some(_)) => rows += 1,
                Ok(None) => break Ok(rows),
                Err(error) => break Err(error),
            }
        };
        (read, database.counters())
    })
}

/// Counts of one pass of the background scan.
fn scanned(world: &World) -> Counters {
    let settings = Settings { maintenance_pause: Some(Nanos::from_millis(1)), ..small_cache() };
    let (runtime, files) = (world.runtime(), world.files());
    world.executor.block_on(async move {
        let database = Database::open(&runtime, files, settings, Seed(6)).await;
        let database = database.unwrap();
        while database.counters().maintenance_passes < 1 {
            runtime.sleep(Nanos::from_millis(10)).await;
        }
        let counters = database.counters();
        assert_eq!(database.poisoned(), None);
        counters
    })
}

#[test]
fn a_flipped_bit_is_put_right_by_a_read_and_by_the_scan() {
    let damage = |page: &mut [u8], _| page[2_000] ^= 4;
    let (read, counters) = read_all(&damaged(damage));
    assert_eq!(read, Ok(300));
    assert!(counters.mended.flipped_bits > 0);
    let counters = scanned(&damaged(damage));
    assert_eq!(counters.maintenance_bad_pages, 0, "{counters:?}");
    assert!(counters.mended.flipped_bits > 0);
}

/// A page that was inconsistent when it was sealed carries a valid mark: reads accept it, and only
/// the scan and the checksum phase of a run find the fault. Without the map no mark counts, and
/// reads check the page as well.
#[test]
fn a_page_that_contradicts_itself_is_damaged_to_the_scan_and_to_a_read_that_has_no_mark() {
    let damage = |page: &mut [u8], number| {
        // More free bytes than it has.
        page[29] = 0x80;
        PageMut::new(page).seal(number);
    };
    assert_eq!(scanned(&damaged(damage)).maintenance_bad_pages, 1);
    let (read, _) = read_all(&damaged(damage));
    assert_eq!(read, Ok(300));
    let world = damaged(damage);
    let volume = world.volume.clone();
    world.executor.block_on(async move { volume.remove("mailbox.jfm").await.unwrap() });
    let (read, _) = read_all(&world);
    assert!(matches!(read, Err(TransactionError::Damaged(_))), "{read:?}");
}

#[test]
fn a_torn_page_that_its_checksum_does_not_see_is_damaged_to_a_read_and_to_the_scan() {
    let damage = |page: &mut [u8], number| {
        // Equal changes in two words cancel out in the checksum.
        page[2_048] ^= 3;
        page[2_112] ^= 3;
        assert_eq!(checksum::verify(page, number), checksum::PageVerdict::Good);
    };
    let (read, _) = read_all(&damaged(damage));
    assert!(matches!(read, Err(TransactionError::Damaged(_))), "{read:?}");
    assert_eq!(scanned(&damaged(damage)).maintenance_bad_pages, 1);
}
