use proptest::prelude::*;
use units::{ObjectId, PageNumber};

use super::{PageFault, TagEdges, check, unsound_lines};
use crate::page::{PageMut, PageRef, PageSize, Tag, encode_node, page_flags};

const NUMBER: PageNumber = PageNumber(9);

fn leaf(size: PageSize, flags: u32, nodes: &[(&[u8], &[u8])]) -> Vec<u8> {
    let mut bytes = vec![0; size.bytes()];
    let mut page = PageMut::new(&mut bytes);
    page.format(page_flags::LEAF | flags, ObjectId(3));
    page.set_external_header(b"prefix").expect("room");
    for (line, (key, data)) in nodes.iter().enumerate() {
        let mut node = Vec::new();
        let flags = encode_node(b"prefix", key, data, &mut node);
        page.insert(line, flags, &node).expect("room");
    }
    page.seal(NUMBER);
    bytes
}

fn good(size: PageSize) -> Vec<u8> {
    leaf(size, 0, &[(b"prefixA", b"1"), (b"prefixB", b"2"), (b"q", b"3")])
}

fn fault_after(size: PageSize, damage: impl Fn(&mut [u8])) -> Option<PageFault> {
    let mut bytes = good(size);
    damage(&mut bytes);
    check(PageRef::new(&bytes), NUMBER).err()
}

#[test]
fn a_page_of_this_crate_passes_on_every_size() {
    for size in PageSize::ALL {
        assert_eq!(check(PageRef::new(&good(size)), NUMBER), Ok(()), "{size}");
    }
}

#[test]
fn nodes_begin_behind_all_reserved_tags() {
    for size in PageSize::ALL {
        for reserved in [2, 3, 7] {
            let mut bytes = good(size);
            PageMut::new(&mut bytes).reserve_tags(reserved);
            let page = PageRef::new(&bytes);
            assert_eq!(check(page, NUMBER), Ok(()), "{size}, {reserved} reserved");
            let keys: Vec<Vec<u8>> = page.nodes().map(|node| node.key()).collect();
            assert_eq!(keys, [&b"prefixA"[..], b"prefixB", b"q"]);
            assert_eq!(unsound_lines(page), [0_usize; 0]);
        }
    }
    // A reserved tag may be empty; a node may not.
    let mut bytes = leaf(PageSize::KIB_4, 0, &[(b"prefixA", b"1")]);
    PageMut::new(&mut bytes).reserve_tags(2);
    let emptied = |index: usize| {
        let mut bytes = bytes.clone();
        let page = PageRef::new(&bytes);
        let free = page.free_bytes() + page.tag(index).expect("a tag").bytes;
        let free = u16::try_from(free).expect("a page");
        bytes[4096 - 4 * (index + 1)] = 0;
        bytes[28..30].copy_from_slice(&free.to_le_bytes());
        check(PageRef::new(&bytes), NUMBER)
    };
    assert_eq!(emptied(1), Ok(()));
    assert_eq!(emptied(2), Err(PageFault::EmptyTag { tag: 2 }));
    // More reserved tags than tags.
    bytes[35] = 0x70;
    assert_eq!(check(PageRef::new(&bytes), NUMBER), Err(PageFault::TagCount { stated: 3 }));
}

#[test]
fn every_header_field_is_checked() {
    let fault = |damage: fn(&mut [u8])| fault_after(PageSize::KIB_32, damage);
    let stated = PageNumber(8);
    assert_eq!(fault(|page| page[64] = 8), Some(PageFault::OwnNumber { stated }));
    assert_eq!(fault(|page| page[29] = 0x80), Some(PageFault::FreeBytes { stated: 32906 }));
    let stated = 0x7FFF;
    assert_eq!(
        fault(|page| page[30..32].copy_from_slice(&[0xFF, 0x7F])),
        Some(PageFault::UncommittedFreeBytes { stated })
    );
    assert_eq!(
        fault(|page| page[32..34].copy_from_slice(&[0xFF, 0x7F])),
        Some(PageFault::FirstFree { stated })
    );
    assert_eq!(fault(|page| page[34] = 0), Some(PageFault::TagCount { stated: 0 }));
    assert!(matches!(
        fault(|page| page[34..36].copy_from_slice(&[0xFF, 0x0F])),
        Some(PageFault::TagCount { .. })
    ));
    assert!(matches!(fault(|page| page[36] |= 0xC0), Some(PageFault::Flags { .. })));
    assert!(matches!(fault(|page| page[36] |= 0x10), Some(PageFault::Flags { .. })));
    assert!(matches!(fault(|page| page[28] -= 1), Some(PageFault::SpaceIdentity { .. })));
}

#[test]
fn every_tag_is_checked() {
    // Tag 2 ("prefixB") is 12 bytes before the end of the page; size first, then offset.
    let tag = 4096 - 12;
    let fault = |damage: &dyn Fn(&mut [u8])| fault_after(PageSize::KIB_4, damage);
    assert_eq!(fault(&|page| page[tag] = 0), Some(PageFault::EmptyTag { tag: 2 }));
    assert_eq!(fault(&|page| page[tag + 2] = 200), Some(PageFault::TagBeyondUsed { tag: 2 }));
    assert_eq!(fault(&|page| page[tag + 2] -= 1), Some(PageFault::Overlap { tag: 2 }));
}

#[test]
fn every_node_is_checked() {
    // Nodes follow the 40 bytes of header and the 6 of tag 0: prefix size first.
    let fault = |damage: &dyn Fn(&mut [u8])| fault_after(PageSize::KIB_4, damage);
    assert_eq!(fault(&|page| page[46] = 7), Some(PageFault::Node { line: 0 }));
    assert_eq!(fault(&|page| page[48] = 9), Some(PageFault::Node { line: 0 }));
    assert_eq!(fault(&|page| page[50] = b'Z'), Some(PageFault::KeyOrder { line: 1 }));
}

#[test]
fn nodes_with_bytes_that_are_not_theirs_are_unsound() {
    // Nodes "prefixA", "prefixB" and "q" are contiguous; tag 2 is 12 bytes before the page's end:
    // size first, then offset.
    let tag = 4096 - 12;
    let unsound = |damage: &dyn Fn(&mut [u8])| {
        let mut bytes = good(PageSize::KIB_4);
        damage(&mut bytes);
        unsound_lines(PageRef::new(&bytes))
    };
    assert_eq!(unsound(&|_| {}), [0_usize; 0]);
    assert_eq!(unsound(&|page| page[28] -= 1), [0_usize; 0], "the page's own sum");
    assert_eq!(unsound(&|page| page[tag] = 0), [1]);
    assert_eq!(unsound(&|page| page[tag] += 2), [1], "too long");
    assert_eq!(unsound(&|page| page[tag + 2] += 2), [1, 2], "shifted: the sizes add up");
    assert_eq!(unsound(&|page| page[tag + 2] = 200), [1], "behind the used bytes");
    assert_eq!(unsound(&|page| page[50] = 9), [0_usize; 0], "a key");
    assert_eq!(unsound(&|page| page[46] = 7), [0], "a longer prefix than there is");
    // Tag 0, which the first two nodes borrow from.
    assert_eq!(unsound(&|page| page[4092] += 1), [0, 1], "the prefix reaches into a node");
}

#[test]
fn keys_repeat_only_where_they_may() {
    let nodes: &[(&[u8], &[u8])] = &[(b"k", b"1"), (b"k", b"2")];
    let swapped: &[(&[u8], &[u8])] = &[(b"k", b"2"), (b"k", b"1")];
    let verdict = |flags, nodes| check(PageRef::new(&leaf(PageSize::KIB_8, flags, nodes)), NUMBER);
    let wrong = Err(PageFault::KeyOrder { line: 1 });
    assert_eq!(verdict(page_flags::NON_UNIQUE, nodes), Ok(()));
    assert_eq!(verdict(page_flags::NON_UNIQUE, swapped), wrong);
    assert_eq!(verdict(0, nodes), wrong);
}

#[test]
fn an_empty_key_is_for_the_last_separator() {
    let nodes: &[(&[u8], &[u8])] = &[(b"k", &[1, 0, 0, 0]), (b"", &[2, 0, 0, 0])];
    let mut bytes = leaf(PageSize::KIB_4, 0, nodes);
    assert_eq!(check(PageRef::new(&bytes), NUMBER), Err(PageFault::Node { line: 1 }));
    PageMut::new(&mut bytes).set_flags(page_flags::PARENT_OF_LEAF | page_flags::ALWAYS);
    assert_eq!(check(PageRef::new(&bytes), NUMBER), Ok(()));
}

proptest! {
    #[test]
    fn tags_that_share_no_byte_cover_what_they_have(
        places in prop::collection::vec((0..32_400_usize, 1..368_usize), 2..40),
    ) {
        let mut edges = TagEdges::new();
        let mut before: Vec<Tag> = Vec::new();
        let (mut bytes, mut is_shared) = (0, false);
        for (offset, length) in places {
            let tag = Tag { offset, bytes: length, small_flags: 0 };
            is_shared |= before.iter().any(|b| b.end() > tag.offset && tag.end() > b.offset);
            edges.add(tag);
            bytes += length;
            prop_assert_eq!(edges.covered_bytes() < bytes, is_shared);
            before.push(tag);
        }
    }

    #[test]
    fn neighbours_share_no_byte(lengths in prop::collection::vec(1..200_usize, 1..160)) {
        let mut edges = TagEdges::new();
        let mut end = 0;
        for bytes in lengths {
            edges.add(Tag { offset: end, bytes, small_flags: 0 });
            end += bytes;
        }
        prop_assert_eq!(edges.covered_bytes(), end);
    }
}
