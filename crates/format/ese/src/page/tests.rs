use proptest::prelude::*;
use units::{ObjectId, PageNumber};

use super::search::SoughtKey;
use super::{Node, PageError, PageMut, PageRef, PageSize, encode_node, node_flags, page_flags};

/// The page's expected contents: tag 0, and each node's flags and bytes.
#[derive(Clone, Debug, Default)]
struct Twin {
    external_header: Vec<u8>,
    nodes: Vec<(u8, Vec<u8>)>,
}

#[derive(Clone, Debug)]
enum Change {
    Insert(usize, u8, Vec<u8>),
    Replace(usize, u8, Vec<u8>),
    Remove(usize, usize),
    Flags(usize, u8),
    External(Vec<u8>),
    Reorganise,
}

fn node_bytes() -> impl Strategy<Value = Vec<u8>> {
    (0usize..40, 0usize..900, any::<u8>()).prop_map(|(key_bytes, data_bytes, fill)| {
        let mut out = Vec::new();
        encode_node(&[], &vec![fill; key_bytes], &vec![fill ^ 0xFF; data_bytes], &mut out);
        out
    })
}

fn change() -> impl Strategy<Value = Change> {
    let line = 0usize..64;
    // Compressed nodes are excluded, because tag 0 changes freely here.
    let flags = 0u8..4;
    prop_oneof![
        6 => (line.clone(), flags.clone(), node_bytes())
            .prop_map(|(l, f, n)| Change::Insert(l, f, n)),
        4 => (line.clone(), flags.clone(), node_bytes())
            .prop_map(|(l, f, n)| Change::Replace(l, f, n)),
        2 => (line.clone(), 0usize..4).prop_map(|(l, c)| Change::Remove(l, c)),
        1 => (line, flags).prop_map(|(l, f)| Change::Flags(l, f)),
        1 => proptest::collection::vec(any::<u8>(), 0..300).prop_map(Change::External),
        1 => Just(Change::Reorganise),
    ]
}

fn apply_to_page(page: &mut PageMut<'_>, change: &Change) -> Result<(), PageError> {
    match change {
        Change::Insert(line, flags, node) => page.insert(*line, *flags, node),
        Change::Replace(line, flags, node) => page.replace(*line, *flags, node),
        Change::Remove(line, count) => page.remove(*line, *count),
        Change::Flags(line, flags) => page.set_node_flags(*line, *flags),
        Change::External(header) => page.set_external_header(header),
        Change::Reorganise => page.reorganise(),
    }
}

fn apply_to_twin(twin: &mut Twin, change: Change) {
    match change {
        Change::Insert(line, flags, node) => twin.nodes.insert(line, (flags, node)),
        Change::Replace(line, flags, node) => twin.nodes[line] = (flags, node),
        Change::Remove(line, count) => drop(twin.nodes.drain(line..line + count)),
        Change::Flags(line, flags) => twin.nodes[line].0 = flags,
        Change::External(header) => twin.external_header = header,
        Change::Reorganise => {}
    }
}

/// Whether `error` is the expected response to `change` in the state of `twin`.
fn error_is_due(error: PageError, change: &Change, twin: &Twin, free_of_nodes: usize) -> bool {
    let used: usize = twin.nodes.iter().map(|(_, node)| node.len() + 4).sum();
    let free = free_of_nodes - twin.external_header.len() - used;
    let count = twin.nodes.len();
    match (error, change) {
        (PageError::NoLine { .. }, Change::Insert(line, ..)) => *line > count,
        (PageError::NoLine { .. }, Change::Replace(line, ..) | Change::Flags(line, _)) => {
            *line >= count
        }
        (PageError::NoLine { .. }, Change::Remove(line, removed)) => line + removed > count,
        (PageError::Full { .. }, Change::Insert(_, _, node)) => node.len() + 4 > free,
        (PageError::Full { .. }, Change::Replace(line, _, node)) => {
            node.len() > free + twin.nodes[*line].1.len()
        }
        (PageError::Full { .. }, Change::External(header)) => {
            header.len() > free + twin.external_header.len()
        }
        _ => false,
    }
}

fn assert_equal(page: PageRef<'_>, twin: &Twin) {
    assert_eq!(page.external_header(), twin.external_header);
    assert_eq!(page.node_count(), twin.nodes.len());
    for (line, (flags, bytes)) in twin.nodes.iter().enumerate() {
        let expected = Node::parse(*flags, bytes, &twin.external_header);
        assert_eq!(page.node(line), expected, "line {line}");
        assert_eq!(page.node_bytes(line).as_ref(), Some(bytes), "line {line}");
    }
    let sizes: usize = (0..page.tag_count()).map(|index| page.tag(index).expect("tag").bytes).sum();
    let body = page.size().body_bytes();
    assert_eq!(sizes + page.free_bytes() + 4 * page.tag_count(), body, "the page's identity");
    assert!(page.first_free() + 4 * page.tag_count() <= body);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_page_holds_what_its_twin_holds(
        size in proptest::sample::select(PageSize::ALL.to_vec()),
        reserved in 1_usize..8,
        changes in proptest::collection::vec(change(), 1..150),
    ) {
        let mut bytes = vec![0; size.bytes()];
        let mut page = PageMut::new(&mut bytes);
        page.format(page_flags::LEAF, ObjectId(7));
        page.reserve_tags(reserved);
        let free = page.as_ref().free_bytes();
        let mut twin = Twin::default();
        for change in changes {
            let before = bytes.clone();
            match apply_to_page(&mut PageMut::new(&mut bytes), &change) {
                Ok(()) => apply_to_twin(&mut twin, change),
                Err(error) => {
                    prop_assert!(error_is_due(error, &change, &twin, free), "{error} {change:?}");
                    prop_assert!(before == bytes, "a failed change left the page alone");
                }
            }
            let page = PageRef::new(&bytes);
            assert_equal(page, &twin);
            for index in 1..reserved {
                prop_assert_eq!(page.tag_bytes(index), Some(&b"kept"[..]));
            }
        }
    }

    #[test]
    fn no_bytes_make_reading_panic(seed in any::<u64>(), size in 0usize..4, count in any::<u16>()) {
        let mut bytes = vec![0; PageSize::ALL[size].bytes()];
        units::Prng::new(units::Seed(seed)).fill(&mut bytes);
        bytes[34..36].copy_from_slice(&count.to_le_bytes());
        if seed % 2 == 0 {
            // A consistent header over inconsistent tags.
            bytes[28..36].copy_from_slice(&[0, 9, 0, 0, 0, 1, 200, 0]);
        }
        let page = PageRef::new(&bytes);
        for line in 0..=page.node_count() {
            if let Some(node) = page.node(line) {
                node.key();
            }
            page.child(line);
        }
        let _ = page.search(&[0x7F, 1], Some(1));
        let _ = page.search_pair(&[0x7F, 1], &[2], Some(0));
        page.child_line(&[0x7F], &[], None);
        let _ = crate::page_check::check(page, PageNumber(1));
        crate::page_check::unsound_lines(page);
        // Changing it must not panic either; the result does not matter.
        let mut page = PageMut::new(&mut bytes);
        let _ = page.insert(0, 0, &[0; 20]);
        let _ = page.replace(1, 0, &[0; 30]);
        let _ = page.remove(1, 2);
        let _ = page.set_external_header(&[0; 30]);
        let _ = page.add_u32(0, 0, 1);
        let _ = page.reorganise();
    }

    #[test]
    fn a_sought_key_compares_with_nodes_as_the_whole(
        header in proptest::collection::vec(0u8..2, 0..6),
        borrowed in 0_usize..6,
        suffix in proptest::collection::vec(0u8..2, 0..10),
        key in proptest::collection::vec(0u8..2, 0..10),
    ) {
        let prefix = &header[..borrowed.min(header.len())];
        let whole = [prefix, &suffix].concat();
        let node = Node { flags: 0, prefix, suffix: &suffix, data: &[] };
        prop_assert_eq!(SoughtKey::new(&key, &header).compare(&node), whole.cmp(&key));
    }

    #[test]
    fn searching_agrees_with_a_sorted_vector(
        keys in proptest::collection::btree_set(
            proptest::collection::vec(0u8..4, 1..12), 1..60),
        probe in proptest::collection::vec(0u8..4, 0..12),
        prefix in proptest::collection::vec(0u8..4, 0..12),
        near in proptest::option::of(0_usize..64),
        reserved in 1_usize..8,
    ) {
        let mut bytes = vec![0; 4096];
        let mut page = PageMut::new(&mut bytes);
        page.format(page_flags::LEAF, ObjectId(1));
        page.set_external_header(&prefix).expect("room");
        page.reserve_tags(reserved);
        for (line, key) in keys.iter().enumerate() {
            let mut node = Vec::new();
            let flags = encode_node(&prefix, key, b"d", &mut node);
            page.insert(line, flags, &node).expect("room");
        }
        let keys: Vec<_> = keys.into_iter().collect();
        prop_assert_eq!(page.as_ref().search(&probe, near), keys.binary_search(&probe));
        for (line, key) in keys.iter().enumerate() {
            let mut found = Vec::new();
            prop_assert!(page.as_ref().key_into(line, &mut found));
            prop_assert_eq!(&found, key);
        }
        let greater = keys[..keys.len() - 1].partition_point(|key| *key <= probe);
        prop_assert_eq!(page.as_ref().child_line(&probe, &[], near), greater);
        let split = probe.len() / 2;
        let split = page.as_ref().child_line(&probe[..split], &probe[split..], near);
        prop_assert_eq!(split, greater);
    }
}

#[test]
fn repeated_keys_are_found_at_their_first_and_by_their_data() {
    let mut bytes = vec![0; 8192];
    let mut page = PageMut::new(&mut bytes);
    page.format(page_flags::LEAF | page_flags::NON_UNIQUE, ObjectId(1));
    for (line, (key, data)) in
        [("a", "3"), ("b", "1"), ("b", "2"), ("b", "4"), ("c", "0")].into_iter().enumerate()
    {
        let mut node = Vec::new();
        let flags = encode_node(&[], key.as_bytes(), data.as_bytes(), &mut node);
        page.insert(line, flags, &node).expect("room");
    }
    let page = page.as_ref();
    for near in [None, Some(0), Some(2), Some(5), Some(9)] {
        assert_eq!(page.search(b"b", near), Ok(1));
        assert_eq!(page.search_pair(b"b", b"2", near), Ok(2));
        assert_eq!(page.search_pair(b"b", b"3", near), Err(3));
        assert_eq!(page.search_pair(b"b", b"5", near), Err(4));
        assert_eq!(page.search(b"d", near), Err(5));
    }
}

#[test]
fn keys_are_compressed_only_where_that_saves_bytes() {
    let mut node = Vec::new();
    assert_eq!(encode_node(b"abX", b"abY", b"d", &mut node), 0);
    assert_eq!(node, b"\x03\0abYd");
    node.clear();
    assert_eq!(encode_node(b"abcX", b"abcY", b"d", &mut node), node_flags::COMPRESSED);
    assert_eq!(node, b"\x03\0\x01\0Yd");
}

#[test]
fn flags_lie_in_the_tag_on_small_pages_and_in_the_node_on_large_ones() {
    for (size, flagged_byte) in [(PageSize::KIB_8, 8192 - 8 + 3), (PageSize::KIB_16, 80 + 1)] {
        let mut bytes = vec![0; size.bytes()];
        let mut page = PageMut::new(&mut bytes);
        page.format(page_flags::LEAF, ObjectId(1));
        page.insert(0, node_flags::DELETED, b"\x01\0kd").expect("room");
        assert!(page.as_ref().node(0).expect("node").is_deleted());
        assert_eq!(bytes[flagged_byte], 0x40, "{size}");
        assert_eq!(PageRef::new(&bytes).node_bytes(0).as_deref(), Some(&b"\x01\0kd"[..]));
    }
}

#[test]
fn a_counter_in_a_node_counts() {
    let mut bytes = vec![0; 32768];
    let mut page = PageMut::new(&mut bytes);
    page.format(page_flags::LEAF, ObjectId(1));
    page.insert(0, 0, &[1, 0, b'k', 9, 1, 0, 0, 0]).expect("room");
    assert_eq!(page.add_u32(0, 1, 2), Ok(3));
    assert_eq!(page.add_u32(0, 1, -3), Ok(0));
    assert_eq!(page.add_u32(0, 2, 1), Err(PageError::Damaged { tag: 1 }));
    assert_eq!(page.as_ref().node(0).expect("node").data, [9, 0, 0, 0, 0]);
}

#[test]
fn the_flush_type_rotates_and_leaves_other_flags_alone() {
    let mut bytes = vec![0; 4096];
    let mut page = PageMut::new(&mut bytes);
    page.format(page_flags::LEAF, ObjectId(1));
    let seen: Vec<u8> = (0..4)
        .map(|_| {
            page.advance_flush_type();
            page.as_ref().flush_type()
        })
        .collect();
    assert_eq!(seen, [1, 2, 3, 1]);
    assert_eq!(page.as_ref().flags(), 0x2802 | 1 << 15);
    page.set_links(PageNumber(3), PageNumber(4));
    assert_eq!((page.as_ref().previous().0, page.as_ref().next().0), (3, 4));
}

#[test]
fn a_full_page_has_no_room_for_a_mark_and_none_is_missed() {
    for free in [3, 7, 8, 9] {
        let mut bytes = vec![0; 4096];
        let mut page = PageMut::new(&mut bytes);
        page.format(page_flags::LEAF, ObjectId(5));
        let data = PageSize::KIB_4.body_bytes() - 2 * 4 - free - 5;
        let mut node = b"\x03\0key".to_vec();
        node.resize(5 + data, 7);
        page.insert(0, 0, &node).expect("room");
        page.seal(PageNumber(9));
        let tags = 4096 - 8;
        assert_eq!(bytes[tags - free - 1], 7, "the node is whole");
        assert_eq!(bytes[tags - 3..tags] != [0; 3], free >= 8, "{free}");
        assert_ne!(crate::page::word_of_its_mark(&bytes, PageNumber(9)), Some(false));
        bytes[2_000] ^= 1;
        let is_seen = crate::page::word_of_its_mark(&bytes, PageNumber(9)) == Some(false);
        assert_eq!(is_seen, free >= 8);
    }
}
