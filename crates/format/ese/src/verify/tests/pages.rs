//! Pages that contradict themselves, as readers meet them.

use units::PageNumber;

use super::examine;
use super::world::{SIZE, World, primary_key};
use crate::page::PageMut;
use crate::page_check::PageFault;
use crate::reader::{Cursor, FileImage, LostPart, ReadError, Reader, SalvageStep};

#[test]
fn a_database_with_reserved_tags_is_as_sound_as_without() {
    let sound = examine(&World::new());
    for reserved in [2, 7] {
        let mut world = World::new();
        for number in 1..=40 {
            let page = world.page_bytes(number);
            if page.iter().any(|byte| *byte != 0) {
                world.change(number, |page| page.reserve_tags(reserved));
            }
        }
        assert_eq!(examine(&world), sound, "{reserved} reserved");
        let (keys, losses) = salvaged(&world);
        assert_eq!((keys, losses), ((0..10).map(primary_key).collect(), Vec::new()));
    }
}

/// Makes the second node of leaf 32 eight bytes longer than its place.
fn lengthen_a_tag(page: &mut PageMut<'_>) {
    page.lengthen_tag(2, 8);
}

#[test]
fn a_cursor_stops_at_a_page_that_contradicts_itself() {
    let mut world = World::new();
    world.change(32, lengthen_a_tag);
    let mut source = FileImage::new(&world.file, SIZE);
    let mut cursor = Cursor::first(&mut source, PageNumber(30)).expect("a tree");
    for _ in 0..4 {
        assert!(matches!(cursor.next(&mut source), Ok(Some(_))));
    }
    let stopped = cursor.next(&mut source);
    let Err(ReadError::Page { page, fault: PageFault::SpaceIdentity { .. } }) = stopped else {
        panic!("{stopped:?}");
    };
    assert_eq!(page, PageNumber(32));
    let sought = Cursor::seek(&mut source, PageNumber(30), &primary_key(5)).err();
    assert!(matches!(sought, Some(ReadError::Page { .. })), "{sought:?}");
}

/// The keys of the rows that a walk over the table yields, and its losses.
fn salvaged(world: &World) -> (Vec<Vec<u8>>, Vec<(u32, LostPart)>) {
    let mut reader = Reader::open(FileImage::new(&world.file, SIZE)).expect("a catalog");
    let table = reader.table("T").expect("a table").clone();
    let mut walk = reader.salvaged_rows(&table);
    let (mut keys, mut losses) = (Vec::new(), Vec::new());
    while let Ok(Some(step)) = walk.next(reader.source()) {
        match step {
            SalvageStep::Entry(entry) => keys.push(entry.key.to_vec()),
            SalvageStep::Loss(loss) => losses.push((loss.error.page().0, loss.part)),
        }
    }
    (keys, losses)
}

#[test]
fn salvage_gives_the_sound_nodes_of_a_page_that_contradicts_itself() {
    let mut world = World::new();
    world.change(32, lengthen_a_tag);
    let sound = (0..10).filter(|id| *id != 5).map(primary_key).collect();
    let losses = vec![(32, LostPart::SomeNodes), (32, LostPart::Node)];
    assert_eq!(salvaged(&world), (sound, losses));
}

#[test]
fn rows_below_an_internal_page_that_contradicts_itself_are_found_without_it() {
    let mut world = World::new();
    world.change(30, |page| page.set_uncommitted_free_bytes(40_000));
    let losses = vec![(30, LostPart::Branch { rescued: 3 })];
    assert_eq!(salvaged(&world), ((0..10).map(primary_key).collect(), losses));
}
