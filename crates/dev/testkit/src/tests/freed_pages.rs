//! A page of zeros is damage if a tree points to it, but not if only a freed page still does. The
//! check at the end of a run and `check` agree on that.

use std::rc::Rc;

use super::messages::Messages;
use crate::world::World;
use device::{Buffer, Durability, OpenMode, Purpose, Request};
use engine::bulk::{Amount, BulkOptions, load};
use ese::page::{PageMut, PageSize, encode_node, page_flags};
use ese::page_state::PageDamage;
use ese::reader::{FileImage, Reader};
use ese::{LogTime, Signature};
use integrity::{Damage, DamagedPage, ReadShape, judge_database};
use trial::messages::{TABLE, definition};
use units::{Bytes, ObjectId, PageNumber, Seed};

const FILE: &str = "mail.edb";
const SIZE: PageSize = PageSize::KIB_32;

/// A database with space that was never written.
fn filled() -> World {
    let world = World::new();
    let (runtime, volume) = (world.runtime(), world.volume());
    let signature = Signature::new(7, LogTime::from_unix_millis(1_600_000_000_000));
    let options = BulkOptions {
        page_size: SIZE,
        amount: Amount::File(Bytes::from_mib(24)),
        reserve: Bytes::from_mib(8),
        ..BulkOptions::new(definition(), signature)
    };
    let filled = world.run(async move {
        let mut source = Messages::new(Seed(4), u64::MAX, 4_000);
        load(&runtime, &volume, FILE, &options, &mut source, |_| {}).await
    });
    filled.expect("a fill in memory succeeds");
    world
}

fn write(world: &World, page: PageNumber, bytes: &[u8]) {
    let (volume, buffer) = (world.volume(), Buffer::copy_of(bytes));
    world.run(async move {
        let device = volume.open(FILE, OpenMode::ReadWrite).await;
        let device = device.expect("the file is there");
        let offset = SIZE.file_offset(page);
        let write = Request::write(Purpose::Database, offset, buffer, Durability::Volatile);
        let written = device.submit(write).await;
        written.result.expect("memory does not fail");
    });
}

/// Findings of the check at the end of a run.
fn found(world: &World) -> Vec<DamagedPage> {
    let (runtime, volume) = (world.runtime(), world.volume());
    world.run(async move {
        let device = volume.open(FILE, OpenMode::ReadOnly).await;
        let device: Rc<_> = device.expect("the file is there");
        let (shape, whole) = (ReadShape::FASTEST, (SIZE, None));
        let go_on = |_| std::ops::ControlFlow::Continue(());
        let tally = judge_database(runtime, device, shape, whole, go_on).await;
        tally.expect("nothing breaks off").findings
    })
}

/// A leaf with a row, in the state that freeing leaves: not marked as empty, and with a link.
fn freed_leaf(object: ObjectId, page: PageNumber, next: PageNumber) -> Vec<u8> {
    let mut bytes = vec![0; SIZE.bytes()];
    let mut leaf = PageMut::new(&mut bytes);
    leaf.format(page_flags::ALWAYS | page_flags::LEAF, object);
    leaf.set_links(PageNumber::NONE, next);
    let mut node = Vec::new();
    let flags = encode_node(b"", b"key", b"some data", &mut node);
    leaf.insert(0, flags, &node).expect("room in an empty page");
    leaf.seal(page);
    bytes
}

#[test]
fn a_freed_page_points_nowhere_whatever_its_flags_say() {
    let world = filled();
    assert_eq!(found(&world), []);
    let bytes = world.bytes(FILE);
    let mut reader = Reader::open(FileImage::new(&bytes, SIZE)).expect("a database");
    let object = reader.table(TABLE).expect("its table").place.object;
    let available = reader.database_space().expect("its space").available;
    let mut extents = available.extents().iter();
    let freed = extents.find(|extent| extent.pages > 1).expect("room");
    let freed = freed.first();
    let never_written = PageNumber(freed.0 + 1);
    write(&world, freed, &freed_leaf(object, freed, never_written));
    assert_eq!(found(&world), []);
}

#[test]
fn zeros_in_the_place_of_a_leaf_are_found() {
    let world = filled();
    let bytes = world.bytes(FILE);
    let mut reader = Reader::open(FileImage::new(&bytes, SIZE)).expect("a database");
    let in_use = reader.pages_in_use().expect("a file in memory").expect("whole trees");
    let last =
        (1..).map(PageNumber).take_while(|page| SIZE.file_offset(*page) < bytes.len() as u64);
    let used = last.filter(|page| in_use.contains(*page)).max().expect("pages in use");
    write(&world, used, &vec![0; SIZE.bytes()]);
    let damage = Damage::Page(PageDamage::Wiped);
    assert_eq!(found(&world), [DamagedPage { page: used, damage }]);
}
