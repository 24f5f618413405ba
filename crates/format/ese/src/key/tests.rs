use proptest::prelude::*;

use super::{KeyError, append_segment, index_key};
use crate::schema::{
    CODE_PAGE_UNICODE, ColumnDefinition, ColumnId, ColumnType, IndexDefinition, KeySegment,
    TableDefinition, index_flags,
};

fn segment(kind: ColumnType, value: &[u8]) -> Vec<u8> {
    let mut key = Vec::new();
    // Variable, so that binary values are grouped.
    append_segment(&ColumnDefinition::new(128, "C", kind, 255), Some(value), 0, false, &mut key)
        .expect("a value of the type");
    key
}

#[test]
fn a_message_identifier_is_nine_bytes() {
    let key = segment(ColumnType::LongLong, &5i64.to_le_bytes());
    assert_eq!(key, [0x7F, 0x80, 0, 0, 0, 0, 0, 0, 5]);
}

#[test]
fn binary_is_cut_into_counted_groups() {
    assert_eq!(segment(ColumnType::Binary, b"abc"), b"\x7Fabc\0\0\0\0\0\x03");
    assert_eq!(segment(ColumnType::Binary, b"abcdefgh"), b"\x7Fabcdefgh\x08");
    assert_eq!(segment(ColumnType::Binary, b"abcdefghi"), b"\x7Fabcdefgh\x09i\0\0\0\0\0\0\0\x01");
}

#[test]
fn text_is_upper_case_and_ended() {
    assert_eq!(segment(ColumnType::Text, b"aZ9"), b"\x7FAZ9\0");
}

#[test]
fn null_empty_and_descending_have_their_own_first_bytes() {
    let column = ColumnDefinition::new(128, "C", ColumnType::Binary, 255);
    let make = |value, flags, descending| {
        let mut key = Vec::new();
        append_segment(&column, value, flags, descending, &mut key).expect("a value");
        key
    };
    assert_eq!(make(None, 0, false), [0x00]);
    assert_eq!(make(None, index_flags::NULLS_HIGH, false), [0xC0]);
    assert_eq!(make(Some(&[]), 0, false), [0x40]);
    assert_eq!(make(None, 0, true), [0xFF]);
    assert_eq!(make(Some(&[1]), 0, true), [0x80, 0xFE, 255, 255, 255, 255, 255, 255, 255, 0xFE]);
}

#[test]
fn guids_are_ordered_by_their_last_group_first() {
    let guid: [u8; 16] = std::array::from_fn(|index| u8::try_from(index).expect("below 16"));
    let expected = [0x7F, 10, 11, 12, 13, 14, 15, 8, 9, 6, 7, 4, 5, 0, 1, 2, 3];
    assert_eq!(segment(ColumnType::Guid, &guid), expected);
}

#[test]
fn unicode_text_and_wrong_sizes_are_refused() {
    let mut text = ColumnDefinition::new(128, "Name", ColumnType::Text, 255);
    text.code_page = CODE_PAGE_UNICODE;
    let refused = append_segment(&text, Some(b"a\0"), 0, false, &mut Vec::new());
    assert_eq!(refused, Err(KeyError::UnicodeText { column: "Name".into() }));
    let long = ColumnDefinition::new(1, "L", ColumnType::Long, 0);
    let refused = append_segment(&long, Some(&[1, 2]), 0, false, &mut Vec::new());
    assert_eq!(refused, Err(KeyError::WrongSize { column: "L".into(), bytes: 2 }));
}

#[test]
fn keys_join_segments_and_end_at_their_limit() {
    let columns = vec![
        ColumnDefinition::new(1, "A", ColumnType::Short, 0),
        ColumnDefinition::new(128, "B", ColumnType::Binary, 255),
    ];
    let mut index = IndexDefinition::new("I", 0, &[1, 128]);
    index.segments[0] =
        KeySegment { column: ColumnId(1), is_descending: true, is_inherited: false };
    let table = TableDefinition::new("T", columns, vec![]);
    let long = [7; 255];
    let value = |id: ColumnId| {
        if id.0 == 1 { Some(&[1u8, 0][..]) } else { Some(&long[..]) }
    };
    let mut key = vec![9];
    index_key(&table, &index, value, &mut key).expect("columns of the table");
    assert_eq!((key.len(), &key[..4]), (255, &[0x80, 0x7F, 0xFE, 0x7F][..]));
}

proptest! {
    #[test]
    fn signed_numbers_keep_their_order(a in any::<i64>(), b in any::<i64>()) {
        let key = |n: i64| segment(ColumnType::LongLong, &n.to_le_bytes());
        prop_assert_eq!(key(a).cmp(&key(b)), a.cmp(&b));
    }

    #[test]
    fn floats_keep_their_order(a in -1e9f64..1e9, b in -1e9f64..1e9) {
        let key = |n: f64| segment(ColumnType::Double, &n.to_le_bytes());
        prop_assert_eq!(Some(key(a).cmp(&key(b))), a.partial_cmp(&b));
    }

    #[test]
    fn binary_keeps_its_order(
        a in proptest::collection::vec(0u8..3, 1..30),
        b in proptest::collection::vec(0u8..3, 1..30),
    ) {
        let key = |value: &[u8]| segment(ColumnType::Binary, value);
        prop_assert_eq!(key(&a).cmp(&key(&b)), a.cmp(&b));
    }
}
