use ese::page::{PageMut, PageSize, page_flags};
use units::{ObjectId, PageNumber};

use super::{Damage, Tally};

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
    let mut tally = Tally::new(100, None);
    tally.judge(block, SIZE, PageNumber(10));
    tally
}

fn damage(block: &[u8]) -> (u32, Damage) {
    let tally = judged(block);
    assert_eq!(
        (tally.bad, tally.findings.len()),
        (1, 1),
        "{:?}",
        tally.findings
    );
    let finding = tally.findings[0].clone();
    (finding.page.0, finding.damage)
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
    assert_eq!(
        damage(&one),
        (
            10,
            Damage::FlippedBit {
                bits: vec![160_004]
            }
        )
    );

    let mut two = page(10, 0);
    two[20_000] ^= 0x30;
    assert_eq!(damage(&two), (10, Damage::Checksum { block: 2 }));

    let really = PageNumber(77);
    assert_eq!(damage(&page(77, 0)), (10, Damage::WrongNumber { really }));
}

#[test]
fn zeros_are_damage_where_a_tree_points_to_them() {
    let block = [page(10, 11), vec![0; 2 * SIZE.bytes()]].concat();
    let mut tally = judged(&block);
    assert_eq!((tally.bad, tally.uninitialised), (0, 2));
    tally.find_wiped_pages();
    assert_eq!((tally.bad, tally.uninitialised), (1, 1));
    assert_eq!(tally.findings[0].page, PageNumber(11));
    assert_eq!(tally.findings[0].damage, Damage::Wiped);
}

#[test]
fn what_lies_behind_the_database_is_not_judged() {
    let mut tally = Tally::new(100, Some(PageNumber(9)));
    tally.judge(
        &[page(77, 0), vec![0; SIZE.bytes()]].concat(),
        SIZE,
        PageNumber(10),
    );
    assert_eq!((tally.foreign, tally.bad, tally.uninitialised), (2, 0, 0));
}

#[test]
fn parts_add_up_to_the_whole() {
    let pages = [page(10, 12), page(99, 0), vec![0; SIZE.bytes()]];
    let whole = {
        let mut tally = judged(&pages.concat());
        tally.find_wiped_pages();
        tally
    };
    let mut parts = Tally::new(100, None);
    for (number, page) in (10..).zip(&pages) {
        let mut part = Tally::new(100, None);
        part.judge(page, SIZE, PageNumber(number));
        parts.merge(part);
    }
    parts.find_wiped_pages();
    assert_eq!(parts.findings, whole.findings);
    assert_eq!((parts.seen, parts.bad, parts.wrong_number), (3, 2, 1));
}
