use std::sync::Arc;

use ese::flush_map::FlushMap;
use ese::page::{PageMut, PageSize, page_flags};
use ese::page_state::PageDamage;
use units::{ObjectId, PageNumber};

use super::{Damage, DamagedPage, Tally};

const SIZE: PageSize = PageSize::KIB_32;

/// A sound leaf with one node.
fn page(number: u32, next: u32) -> Vec<u8> {
    let mut bytes = vec![0; SIZE.bytes()];
    let mut page = PageMut::new(&mut bytes);
    page.format(page_flags::ALWAYS | page_flags::LEAF, ObjectId(7));
    page.set_dbtime(5);
    page.set_links(PageNumber::NONE, PageNumber(next));
    let mut node = Vec::new();
    let flags = ese::page::encode_node(b"", b"key", b"some data", &mut node);
    page.insert(0, flags, &node).unwrap();
    page.seal(PageNumber(number));
    bytes
}

fn judged(block: &[u8]) -> Tally {
    let mut tally = Tally::new(100, None, None);
    tally.judge(block, SIZE, PageNumber(10));
    tally
}

fn damage(block: &[u8]) -> (u32, PageDamage) {
    let tally = judged(block);
    assert_eq!((tally.bad, tally.findings.len()), (1, 1), "{:?}", tally.findings);
    (tally.findings[0].page.0, damages(&tally)[0].clone())
}

/// The damage that was found, page by page.
fn damages(tally: &Tally) -> Vec<PageDamage> {
    let damage = |finding: &DamagedPage| match &finding.damage {
        Damage::Page(damage) => damage.clone(),
        Damage::Unreadable(error) => panic!("{error}"),
    };
    tally.findings.iter().map(damage).collect()
}

#[test]
fn sound_and_empty_pages_are_no_findings() {
    let tally = judged(&[page(10, 0), vec![0; SIZE.bytes()], page(12, 0)].concat());
    assert_eq!((tally.seen, tally.bad, tally.uninitialised), (3, 0, 1));
    assert!(tally.zeros.contains(PageNumber(11)));
}

#[test]
fn each_damage_is_named_for_what_it_is() {
    let mut one = page(10, 0);
    one[20_000] ^= 0x10;
    assert_eq!(damage(&one), (10, PageDamage::FlippedBit { bits: vec![160_004] }));

    let mut two = page(10, 0);
    two[20_000] ^= 0x30;
    assert_eq!(damage(&two), (10, PageDamage::Checksum { block: 2 }));

    let really = PageNumber(77);
    assert_eq!(damage(&page(77, 0)), (10, PageDamage::WrongNumber { really }));
}

#[test]
fn zeros_are_damage_where_a_tree_points_to_them() {
    let block = [page(10, 11), vec![0; 2 * SIZE.bytes()]].concat();
    let mut tally = judged(&block);
    assert_eq!((tally.bad, tally.uninitialised), (0, 2));
    tally.find_wiped_pages(|| None);
    assert_eq!((tally.bad, tally.uninitialised), (1, 1));
    assert_eq!(tally.findings[0].page, PageNumber(11));
    assert_eq!(damages(&tally)[0], PageDamage::Wiped);
}

#[test]
fn links_of_a_page_that_was_emptied_and_freed_point_nowhere() {
    let mut freed = page(10, 11);
    let mut emptied = PageMut::new(&mut freed);
    emptied.set_flags(page_flags::ALWAYS | page_flags::LEAF | page_flags::EMPTY);
    emptied.seal(PageNumber(10));
    let mut tally = judged(&[freed, vec![0; SIZE.bytes()]].concat());
    tally.find_wiped_pages(|| None);
    assert_eq!(tally.findings, []);
}

#[test]
fn a_flipped_bit_in_zeros_is_named_unless_a_tree_points_to_them() {
    let mut flipped = vec![0; SIZE.bytes()];
    flipped[20_000] = 0x10;
    let bit = 160_004;
    assert_eq!(damage(&flipped), (10, PageDamage::FlippedZero { bit }));
    assert_eq!(judged(&flipped).correctable, 1);

    let mut tally = judged(&[page(10, 11), flipped.clone(), flipped].concat());
    tally.find_wiped_pages(|| None);
    let named = damages(&tally);
    assert_eq!(named, [PageDamage::Wiped, PageDamage::FlippedZero { bit }]);
    assert_eq!((tally.bad, tally.correctable, tally.uninitialised), (2, 1, 0));
}

#[test]
fn what_lies_behind_the_database_is_not_judged() {
    let mut tally = Tally::new(100, Some(PageNumber(9)), None);
    tally.judge(&[page(77, 0), vec![0; SIZE.bytes()]].concat(), SIZE, PageNumber(10));
    assert_eq!((tally.foreign, tally.bad, tally.uninitialised), (1, 0, 1));
}

#[test]
fn a_flipped_bit_is_located_behind_the_database_too() {
    let mut tally = Tally::new(100, Some(PageNumber(9)), None);
    let (mut sealed, mut zeros) = (page(10, 0), vec![0; SIZE.bytes()]);
    sealed[700] ^= 0x20;
    zeros[1_000] = 0x01;
    let rubbish = vec![0x5A; SIZE.bytes()];
    tally.judge(&[sealed, zeros, rubbish].concat(), SIZE, PageNumber(10));
    let found = damages(&tally);
    let (bits, bit) = (vec![5_605], 8_000);
    assert_eq!(found, [PageDamage::FlippedBit { bits }, PageDamage::FlippedZero { bit }]);
    assert_eq!((tally.foreign, tally.bad, tally.correctable), (3, 2, 2));
}

#[test]
fn parts_add_up_to_the_whole() {
    let pages = [page(10, 12), page(99, 0), vec![0; SIZE.bytes()]];
    let whole = {
        let mut tally = judged(&pages.concat());
        tally.find_wiped_pages(|| None);
        tally
    };
    let mut parts = Tally::new(100, None, None);
    for (number, page) in (10..).zip(&pages) {
        let mut part = Tally::new(100, None, None);
        part.judge(page, SIZE, PageNumber(number));
        parts.merge(part);
    }
    parts.find_wiped_pages(|| None);
    assert_eq!(parts.findings, whole.findings);
    assert_eq!((parts.seen, parts.bad, parts.wrong_number), (3, 2, 1));
}

/// Returns a map that records a flush type for page 10.
fn map(flush_type: u8) -> Arc<FlushMap> {
    let mut map = FlushMap::new();
    map.remember(PageNumber(10), flush_type, 5);
    Arc::new(map)
}

/// The sound page 10, written for the first time.
fn first_written() -> Vec<u8> {
    let mut bytes = page(10, 0);
    let mut page = PageMut::new(&mut bytes);
    page.set_flush_type(1);
    page.seal(PageNumber(10));
    bytes
}

fn judged_by(map: impl Into<Option<Arc<FlushMap>>>, block: &[u8]) -> Tally {
    let mut tally = Tally::new(100, None, map.into());
    tally.judge(block, SIZE, PageNumber(10));
    tally
}

#[test]
fn an_older_page_is_a_lost_flush_and_counted_apart() {
    let bytes = first_written();
    assert_eq!(judged_by(map(1), &bytes).bad, 0);
    assert_eq!(judged_by(None, &bytes).bad, 0);
    let mut tally = judged_by(map(2), &bytes);
    let (written, found) = (2, 1);
    assert_eq!(damages(&tally)[0], PageDamage::LostFlush { written, found });
    tally.merge(judged_by(map(3), &vec![0; SIZE.bytes()]));
    let (written, found) = (3, 0);
    assert_eq!(damages(&tally)[1], PageDamage::LostFlush { written, found });
    assert_eq!((tally.bad, tally.lost_flushes), (2, 2));
    assert_eq!((tally.correctable, tally.uninitialised), (0, 0));
}

#[test]
fn zeros_with_a_flipped_bit_are_a_lost_flush_where_something_was_written() {
    // The second flip sets flush type 1 in the page flags.
    for (at, value) in [(20_000, 0x10), (37, 0x80)] {
        let mut bytes = vec![0; SIZE.bytes()];
        bytes[at] = value;
        let (written, found) = (1, 0);
        let tally = judged_by(map(written), &bytes);
        assert_eq!(damages(&tally)[0], PageDamage::LostFlush { written, found });
    }
}

#[test]
fn what_a_repair_makes_an_older_page_of_is_more_than_a_flipped_bit() {
    let mut bytes = first_written();
    bytes[20_000] ^= 0x10;
    let damage = |map| damages(&judged_by(map, &bytes))[0].clone();
    assert!(matches!(damage(map(1)), PageDamage::FlippedBit { .. }));
    assert!(matches!(damage(map(2)), PageDamage::LostFlush { .. }));
}

#[test]
fn a_flip_in_the_checksum_itself_is_located() {
    for bit in [3, 40, 63, 301] {
        let mut bytes = first_written();
        bytes[bit as usize / 8] ^= 1 << (bit % 8);
        let tally = judged_by(map(1), &bytes);
        assert_eq!(damages(&tally)[0], PageDamage::FlippedChecksum { bit });
        assert_eq!((tally.bad, tally.correctable), (1, 1));
        let tally = judged_by(map(2), &bytes);
        assert!(matches!(damages(&tally)[0], PageDamage::LostFlush { .. }));
    }
}

#[test]
fn what_only_the_mark_sees_is_torn() {
    let mut bytes = first_written();
    // Changes that cancel out, then one that looks like a single flipped bit.
    bytes[20_000] ^= 3;
    bytes[20_064] ^= 3;
    assert_eq!(judged_by(None, &bytes).bad, 0);
    assert_eq!(damages(&judged_by(map(1), &bytes))[0], PageDamage::Torn);
    bytes[21_000] ^= 1;
    let unknown = damages(&judged_by(None, &bytes))[0].clone();
    assert!(matches!(unknown, PageDamage::FlippedBit { .. }));
    assert_eq!(damages(&judged_by(map(1), &bytes))[0], PageDamage::Torn);
}

/// Returns a small page, whose number appears only in its checksum.
fn small_page(number: u32) -> Vec<u8> {
    let mut bytes = vec![0; PageSize::KIB_4.bytes()];
    let mut page = PageMut::new(&mut bytes);
    page.format(page_flags::ALWAYS | page_flags::LEAF, ObjectId(7));
    page.seal(PageNumber(number));
    bytes
}

#[test]
fn a_flip_in_a_small_checksum_is_no_page_that_the_file_lacks() {
    let damage = |bit: u32| {
        let mut bytes = small_page(10);
        bytes[bit as usize / 8] ^= 1 << (bit % 8);
        let mut tally = Tally::new(100, None, None);
        tally.judge(&bytes, PageSize::KIB_4, PageNumber(10));
        damages(&tally)[0].clone()
    };
    for bit in [7, 17, 31, 40, 301] {
        assert_eq!(damage(bit), PageDamage::FlippedChecksum { bit });
    }
    // Bit 2 turns page 10 into page 14, which the file has, so nothing rules it out.
    let really = PageNumber(14);
    assert_eq!(damage(2), PageDamage::WrongNumber { really });
}

#[test]
fn a_large_page_that_the_file_lacks_is_still_that_page() {
    let mut bytes = vec![0; SIZE.bytes()];
    let mut page = PageMut::new(&mut bytes);
    page.format(page_flags::ALWAYS | page_flags::LEAF, ObjectId(7));
    page.seal(PageNumber(10 + 128));
    let mut tally = Tally::new(100, None, None);
    tally.judge(&bytes, SIZE, PageNumber(10));
    let really = PageNumber(10 + 128);
    assert_eq!(damages(&tally)[0], PageDamage::WrongNumber { really });
}

#[test]
fn zeros_in_place_of_a_root_are_damage() {
    let mut tally = Tally::new(100, None, None);
    let zeros = vec![0; 10 * SIZE.bytes()];
    tally.judge(&zeros, SIZE, PageNumber(1));
    tally.find_wiped_pages(|| None);
    let wiped: Vec<u32> = tally.findings.iter().map(|found| found.page.0).collect();
    assert_eq!(wiped, [1, 2, 3, 4], "those of the fixed places, which nothing points to");
}
