//! Tests that encoded applies survive a round trip and have the expected size, and that garbage is
//! refused.

use proptest::prelude::*;
use units::{ObjectId, PageNumber};

use ese::page::{PageError, PageMut, PageRef, node_flags, page_flags};

use super::{
    ApplyRecord, PageEdit, PageEdits, TransactionId, Undo, UndoAction, apply, apply_all, rebuild,
};
use crate::codec::Fields;

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..40)
}

fn edit() -> impl Strategy<Value = PageEdit> {
    prop_oneof![
        (any::<u32>(), any::<u32>())
            .prop_map(|(flags, objid)| PageEdit::Format { flags, objid: ObjectId(objid) }),
        bytes().prop_map(PageEdit::External),
        (any::<u32>(), any::<u32>()).prop_map(|(previous, next)| PageEdit::Links {
            previous: PageNumber(previous),
            next: PageNumber(next)
        }),
        (any::<u16>(), 0..16_u8, bytes()).prop_map(|(line, flags, node)| PageEdit::Insert {
            line,
            flags,
            node
        }),
        (any::<u16>(), bytes()).prop_map(|(line, node)| PageEdit::Replace { line, node }),
        any::<(u16, u16)>().prop_map(|(line, count)| PageEdit::Remove { line, count }),
        (any::<u16>(), 0..16_u8).prop_map(|(line, flags)| PageEdit::NodeFlags { line, flags }),
        any::<u32>().prop_map(PageEdit::PageFlags),
        any::<(u16, u16, i32)>().prop_map(|(line, offset, delta)| PageEdit::DeltaU32 {
            line,
            offset,
            delta
        }),
    ]
}

fn undo() -> impl Strategy<Value = Undo> {
    let tree = any::<u32>().prop_map(ObjectId);
    (tree, bytes(), bytes(), any::<u32>(), 0..7_u8).prop_map(
        |(tree, key, data, long_value, kind)| match kind {
            0 => Undo::Insert { tree, key, data },
            1 => Undo::FlagDelete { tree, key, data },
            2 => Undo::Replace { tree, key, before: data },
            3 => Undo::LongValueInsert { tree, long_value },
            4 => Undo::Revive { tree, key, data },
            5 => Undo::InsertRow { tree, key },
            _ => Undo::LongValueRelease { tree, long_value },
        },
    )
}

/// Any apply record of a few pages.
pub(crate) fn apply_record() -> impl Strategy<Value = ApplyRecord> {
    let action = prop_oneof![
        Just(UndoAction::None),
        Just(UndoAction::Pop),
        prop::collection::vec(undo(), 0..4).prop_map(UndoAction::Push)
    ];
    let page = (any::<u32>(), any::<u64>(), prop::collection::vec(edit(), 0..4)).prop_map(
        |(page, dbtime_before, edits)| PageEdits { page: PageNumber(page), dbtime_before, edits },
    );
    (any::<u32>(), any::<u64>(), prop::collection::vec(page, 0..4), action).prop_map(
        |(transaction, dbtime, pages, undo)| ApplyRecord {
            transaction: TransactionId(transaction),
            dbtime,
            pages,
            undo,
        },
    )
}

proptest! {
    #[test]
    fn applies_read_back_as_they_were(record in apply_record()) {
        let mut encoded = Vec::new();
        record.encode(&mut encoded);
        let mut fields = Fields::new(&encoded);
        prop_assert_eq!(ApplyRecord::decode(&mut fields), Ok(record));
        prop_assert!(fields.end().is_ok());
    }

    #[test]
    fn a_shortened_apply_is_refused(record in apply_record(), cut in any::<prop::sample::Index>()) {
        let mut encoded = Vec::new();
        record.encode(&mut encoded);
        let shortened = &encoded[..cut.index(encoded.len())];
        prop_assert!(ApplyRecord::decode(&mut Fields::new(shortened)).is_err());
    }

    #[test]
    fn garbage_never_panics(garbage in prop::collection::vec(0..12_u8, 0..200)) {
        let _ = ApplyRecord::decode(&mut Fields::new(&garbage));
    }
}

/// An apply of one page with the undo action `undo`.
fn one_page(edits: Vec<PageEdit>, undo: UndoAction) -> ApplyRecord {
    ApplyRecord {
        transaction: TransactionId(300),
        dbtime: 70_000,
        pages: vec![PageEdits { page: PageNumber(3), dbtime_before: 69_000, edits }],
        undo,
    }
}

fn encode(record: &ApplyRecord) -> Vec<u8> {
    let mut encoded = Vec::new();
    record.encode(&mut encoded);
    encoded
}

#[test]
fn a_node_operation_costs_less_than_in_ese() {
    let (key, data) = (vec![7; 9], vec![1; 240]);
    let node = [vec![9, 0], key.clone(), data].concat();
    let insert = PageEdit::Insert { line: 5, flags: 0, node: node.clone() };
    let tree = ObjectId(8);
    let undo = UndoAction::Push(vec![Undo::InsertRow { tree, key }]);
    // ESE: 44 bytes of node record and 6 of insert, before key and data.
    assert_eq!(encode(&one_page(vec![insert], undo)).len() - node.len(), 28);
}

#[test]
fn applies_keep_their_bytes() {
    let edits = vec![
        PageEdit::NodeFlags { line: 200, flags: node_flags::DELETED },
        PageEdit::DeltaU32 { line: 1, offset: 0, delta: -1 },
    ];
    let undo = |object, key: &[u8], data: &[u8]| Undo::FlagDelete {
        tree: ObjectId(object),
        key: key.to_vec(),
        data: data.to_vec(),
    };
    let push = UndoAction::Push(vec![undo(9, b"index", b"key-1"), undo(8, b"key-1", b"")]);
    let encoded = encode(&one_page(edits, push));
    let expected = [
        &[0xAC, 2, 0xF0, 0xA2, 4, 4][..],
        &[0x12, 9, 0, 5],
        b"index",
        &[0, 5],
        b"key-1",
        &[0x02, 8, 5, 0],
        &[1, 3, 0xE8, 7, 2, 0x27, 0xC8, 1, 9, 1, 0, 1],
    ];
    assert_eq!(encoded, expected.concat());
}

#[test]
fn a_second_spelling_of_an_apply_is_refused() {
    let spelled = |undo: &[u8]| {
        let bytes = [&[1, 2][..], undo, &[0]].concat();
        ApplyRecord::decode(&mut Fields::new(&bytes)).is_ok()
    };
    assert!(spelled(&[3, 0x11, 8, 0, 1, b'a', 1, 1, b'b']));
    assert!(!spelled(&[3, 0x11, 8, 0, 1, b'a', 0, 2, b'a', b'b']), "more is shared");
    assert!(!spelled(&[3, 0x11, 8, 0, 1, b'a', 2, 0]), "less is there");
    assert!(!spelled(&[3, 0x11, 8, 0, 1, b'a', 0, 0]), "data, and none");
    assert!(!spelled(&[3, 0x17, 8, 0, 1, b'a', 1, 0]), "a row's undo has no data");
    assert!(!spelled(&[3, 0x14, 8, 1]), "a long value has no flags");
}

const LEAF: u32 = page_flags::LEAF | page_flags::ALWAYS;

fn leaf(bytes: &mut [u8]) -> PageMut<'_> {
    let mut page = PageMut::new(bytes);
    let edits = [
        PageEdit::Format { flags: LEAF, objid: ObjectId(8) },
        PageEdit::Links { previous: PageNumber(4), next: PageNumber(6) },
        PageEdit::Insert { line: 0, flags: 0, node: vec![1, 0, b'a', 5, 0, 0, 0] },
        PageEdit::Insert { line: 1, flags: node_flags::DELETED, node: vec![1, 0, b'b', 9] },
    ];
    apply_all(&mut page, &edits, 77).expect("the edits fit an empty page");
    page
}

#[test]
fn every_edit_changes_what_it_names() {
    let mut bytes = vec![0; 8192];
    let mut page = leaf(&mut bytes);
    let edits = [
        PageEdit::External(b"pre".to_vec()),
        PageEdit::DeltaU32 { line: 0, offset: 0, delta: -2 },
        PageEdit::NodeFlags { line: 0, flags: node_flags::VERSIONED },
        PageEdit::Replace { line: 1, node: vec![1, 0, b'b', 1, 2, 3] },
        PageEdit::Insert { line: 2, flags: 0, node: vec![1, 0, b'c', 4] },
        PageEdit::Remove { line: 2, count: 1 },
        PageEdit::PageFlags(LEAF | page_flags::INDEX),
    ];
    apply_all(&mut page, &edits, 78).expect("the edits fit");
    let page = PageRef::new(&bytes);
    assert_eq!((page.dbtime(), page.object()), (78, ObjectId(8)));
    assert_eq!((page.previous(), page.next()), (PageNumber(4), PageNumber(6)));
    assert_eq!(page.external_header(), b"pre");
    assert_eq!(page.flags(), LEAF | page_flags::INDEX);
    let nodes: Vec<_> = page.nodes().map(|node| (node.flags, node.key(), node.data)).collect();
    let expected: [(u8, Vec<u8>, &[u8]); 2] = [
        (node_flags::VERSIONED, b"a".to_vec(), &[3, 0, 0, 0]),
        (node_flags::DELETED, b"b".to_vec(), &[1, 2, 3]),
    ];
    assert_eq!(nodes, expected);
}

#[test]
fn the_write_rotation_is_no_edit_s_business() {
    let mut bytes = vec![0; 4096];
    let mut page = leaf(&mut bytes);
    page.advance_flush_type();
    page.advance_flush_type();
    for edit in [
        PageEdit::PageFlags(LEAF | page_flags::FLUSH_TYPE),
        PageEdit::Format { flags: LEAF | page_flags::FLUSH_TYPE, objid: ObjectId(8) },
    ] {
        apply(&mut page, &edit).expect("flags always fit");
        assert_eq!(page.as_ref().flush_type(), 2);
    }
}

#[test]
fn an_impossible_edit_is_refused() {
    let mut bytes = vec![0; 4096];
    let mut page = leaf(&mut bytes);
    let missing = PageEdit::Remove { line: 1, count: 2 };
    assert_eq!(apply(&mut page, &missing), Err(PageError::NoLine { line: 1, nodes: 2 }));
}

#[test]
fn rebuilt_pages_hold_what_the_page_held() {
    for size in [4096, 32768] {
        let mut bytes = vec![0; size];
        leaf(&mut bytes);
        let edits = rebuild(PageRef::new(&bytes));
        let mut torn = vec![0xA5; size];
        apply_all(&mut PageMut::new(&mut torn), &edits, 77).expect("the edits fit");
        let rotation = page_flags::FLUSH_TYPE;
        let flags = PageRef::new(&torn).flags() & !rotation;
        PageMut::new(&mut torn).set_flags(flags);
        assert_eq!(torn, bytes);
    }
}
