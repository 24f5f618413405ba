use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{Element, RecordBuilder, RecordError, RecordRef, Stored};
use crate::long_value::LongValueId;
use crate::page::PageSize;
use crate::schema::{ColumnDefinition, ColumnId, ColumnType, TableDefinition};

fn table() -> TableDefinition {
    let column = ColumnDefinition::new;
    TableDefinition::new(
        "T",
        vec![
            column(1, "MessageId", ColumnType::LongLong, 0),
            column(2, "ObjectId", ColumnType::Long, 0),
            column(3, "Flag", ColumnType::Bit, 0),
            column(128, "ShortPad", ColumnType::Binary, 200),
            column(129, "Name", ColumnType::Text, 255),
            column(256, "LongPad", ColumnType::LongBinary, 0),
            column(257, "Note", ColumnType::Text, 255),
        ],
        Vec::new(),
    )
}

const SEPARATED: &[u8] = &[0x34, 0x12, 0, 0];

fn build(values: &BTreeMap<u16, Vec<u8>>, size: PageSize) -> Result<Vec<u8>, RecordError> {
    let mut builder = RecordBuilder::new(&table(), size);
    // Leftovers of an earlier record must not show.
    builder.set(ColumnId(2), &[0xEE; 4])?;
    builder.set(ColumnId(129), b"leftover")?;
    builder.clear();
    for (&id, value) in values {
        builder.set(ColumnId(id), value)?;
    }
    let mut out = b"before".to_vec();
    builder.finish(&mut out)?;
    Ok(out.split_off(6))
}

#[test]
fn a_small_record_has_the_bytes_of_the_format() {
    let mut builder = RecordBuilder::new(&table(), PageSize::KIB_32);
    builder.set(ColumnId(1), &[1, 2, 3, 4, 5, 6, 7, 8]).expect("fixed");
    builder.set(ColumnId(3), &[0xFF]).expect("fixed");
    builder.set(ColumnId(129), b"ab").expect("variable");
    builder.set_separated(ColumnId(256), LongValueId(0x1234)).expect("tagged");
    builder.set(ColumnId(257), b"z").expect("tagged");
    let expected: &[u8] = &[
        3,
        129,
        18,
        0, // last fixed, last variable, end of fixed columns
        1,
        2,
        3,
        4,
        5,
        6,
        7,
        8,
        0,
        0,
        0,
        0,
        0xFF,        // columns 1, 2 (null) and 3
        0b1111_1010, // column 2 is null, and bits after column 3 are set
        0,
        0x80,
        2,
        0,
        b'a',
        b'b', // ends of 128 (null) and 129, data
        0,
        1,
        8,
        0,
        1,
        1,
        13,
        0, // columns 256 and 257 at 8 and 13
        5,
        0x34,
        0x12,
        0,
        0,
        0,
        b'z', // flags and value, twice
    ];
    let mut record = Vec::new();
    builder.finish(&mut record).expect("short enough");
    assert_eq!(record, expected);
    assert_eq!(RecordBuilder::new(&table(), PageSize::KIB_4).clone().finish(&mut record), Ok(()));
    assert_eq!(record[expected.len()..], [0, 127, 4, 0]);
}

#[test]
fn small_pages_mark_flags_in_the_offset() {
    let mut builder = RecordBuilder::new(&table(), PageSize::KIB_8);
    builder.set_separated(ColumnId(256), LongValueId(0x1234)).expect("tagged");
    builder.set(ColumnId(257), b"z").expect("tagged");
    let mut record = Vec::new();
    builder.finish(&mut record).expect("short enough");
    assert_eq!(record[4..], [0, 1, 8, 0x40, 1, 1, 13, 0, 5, 0x34, 0x12, 0, 0, b'z']);
}

#[test]
fn values_that_do_not_fit_their_column_are_refused() {
    let mut builder = RecordBuilder::new(&table(), PageSize::KIB_32);
    let wrong = |column, bytes, expected| {
        Err(RecordError::WrongSize { column: ColumnId(column), bytes, expected })
    };
    assert_eq!(builder.set(ColumnId(2), &[0; 3]), wrong(2, 3, 4));
    assert_eq!(builder.set(ColumnId(128), &[0; 201]), wrong(128, 201, 200));
    for id in [0, 4, 130, 300] {
        let refused = Err(RecordError::NoColumn { column: ColumnId(id) });
        assert_eq!(builder.set(ColumnId(id), &[0]), refused);
    }
    builder.set(ColumnId(256), &vec![1; 40_000]).expect("judged when finished");
    let mut out = vec![1];
    assert!(matches!(builder.finish(&mut out), Err(RecordError::TooLong { .. })));
    assert_eq!(out, [1]);
}

#[test]
fn several_values_are_read_in_order() {
    let definition = table();
    let column = definition.column_named("LongPad").expect("a column");
    // Three values after flags 0x09: "ab", one stored separately, "".
    let record =
        [&[0, 127, 4, 0, 0, 1, 4, 0, 0x09, 6, 0, 8, 0x80, 12, 0, b'a', b'b'][..], SEPARATED]
            .concat();
    let stored = RecordRef::parse(&record, PageSize::KIB_16).and_then(|r| r.column(column));
    let apart = Element::Separated(LongValueId(0x1234));
    let expected = vec![Element::Plain(b"ab"), apart, Element::Plain(b"")];
    assert_eq!(stored, Ok(Stored::Many(expected)));
    // Two values, the first compressed.
    let record = [0, 127, 4, 0, 0, 1, 4, 0, 0x13, 2, 8, 9, b'c'];
    let stored = RecordRef::parse(&record, PageSize::KIB_16).and_then(|r| r.column(column));
    let expected = vec![Element::Compressed(&[8, 9]), Element::Plain(b"c")];
    assert_eq!(stored, Ok(Stored::Many(expected)));
}

fn values() -> impl Strategy<Value = BTreeMap<u16, Vec<u8>>> {
    let bytes = |range| proptest::collection::vec(any::<u8>(), range);
    (
        proptest::option::of(bytes(8..=8)),
        proptest::option::of(bytes(4..=4)),
        proptest::option::of(bytes(1..=1)),
        proptest::option::of(bytes(0..=200)),
        proptest::option::of(bytes(0..=255)),
        proptest::option::of(bytes(0..=900)),
        proptest::option::of(bytes(0..=200)),
    )
        .prop_map(|(a, b, c, d, e, f, g)| {
            let ids = [1, 2, 3, 128, 129, 256, 257];
            let values = ids.into_iter().zip([a, b, c, d, e, f, g]);
            values.filter_map(|(id, value)| Some((id, value?))).collect()
        })
}

proptest! {
    #[test]
    fn what_was_set_is_read_back(
        values in values(),
        size in proptest::sample::select(PageSize::ALL.to_vec()),
    ) {
        let record = build(&values, size).expect("fits");
        let parsed = RecordRef::parse(&record, size).expect("a record");
        for column in &table().columns {
            let stored = parsed.column(column).expect("undamaged");
            match values.get(&column.id.0) {
                Some(value) => prop_assert_eq!(stored, Stored::One(Element::Plain(value))),
                None => prop_assert!(matches!(stored, Stored::Null | Stored::Absent)),
            }
        }
        let ids: Vec<_> =
            parsed.tagged_fields().expect("undamaged").iter().map(|f| f.column.0).collect();
        prop_assert!(ids.iter().all(|id| values.contains_key(id)));
    }

    #[test]
    fn no_bytes_make_reading_panic(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..200),
        size in proptest::sample::select(PageSize::ALL.to_vec()),
        end in 4u8..60,
    ) {
        if bytes.len() > 4 {
            bytes[2..4].copy_from_slice(&[end, 0]);
            bytes[1] = bytes[1] % 16 + 127;
        }
        if let Ok(record) = RecordRef::parse(&bytes, size) {
            for column in &table().columns {
                let _ = record.column(column);
            }
            let _ = record.tagged_fields();
        }
    }
}

/// A table and its template may use the same number for two columns.
#[test]
fn a_template_s_column_is_told_from_one_of_the_table() {
    let [low, high] = 0x8008_u16.to_le_bytes();
    let record = [0, 127, 4, 0, 0, 1, low, high, 0, 1, 9, 0, b'a', b'b'];
    let record = RecordRef::parse(&record, PageSize::KIB_4).expect("a record");
    let own = ColumnDefinition::new(256, "Own", ColumnType::Text, 0);
    let mut inherited = own.clone();
    inherited.is_inherited = true;
    inherited.flags = crate::schema::column_flags::TEMPLATE;
    assert_eq!(record.plain(&inherited), Some(&b"a"[..]));
    assert_eq!(record.plain(&own), Some(&b"b"[..]));
}

/// A record with three tagged columns on a page of 16 KiB: columns and offsets, followed by the
/// values.
fn tagged(tags: [(u16, u16); 3]) -> Vec<u8> {
    let mut record = vec![0, 127, 4, 0];
    for (column, offset) in tags {
        record.extend_from_slice(&column.to_le_bytes());
        record.extend_from_slice(&offset.to_le_bytes());
    }
    // Flags and a letter, three times.
    record.extend_from_slice(&[0, b'a', 0, b'b', 0, b'c']);
    record
}

/// The values of the columns 256 to 258, or the error.
fn tagged_values(record: &[u8]) -> Result<Vec<Stored<'_>>, RecordError> {
    let record = RecordRef::parse(record, PageSize::KIB_16)?;
    let column = |id| ColumnDefinition::new(id, "C", ColumnType::Text, 0);
    (256..259).map(|id| record.column(&column(id))).collect()
}

#[test]
fn tagged_columns_are_in_order_or_damaged() {
    let sound = tagged([(256, 12), (257, 14), (258, 16)]);
    let expected = [b"a", b"b", b"c"].map(|value| Stored::One(Element::Plain(&value[..])));
    assert_eq!(tagged_values(&sound), Ok(expected.to_vec()));
    let swapped = tagged([(257, 12), (256, 14), (258, 16)]);
    let out_of_order = |column| Err(RecordError::TagOrder { column: ColumnId(column) });
    assert_eq!(tagged_values(&swapped), out_of_order(256));
    assert_eq!(tagged_values(&tagged([(256, 12), (257, 14), (257, 16)])), out_of_order(257));
    // A template column after one of the table.
    assert_eq!(tagged_values(&tagged([(256, 12), (257, 0x800E), (258, 16)])), out_of_order(257));
    let fields = RecordRef::parse(&swapped, PageSize::KIB_16).and_then(|r| r.tagged_fields());
    assert_eq!(fields, Err(RecordError::TagOrder { column: ColumnId(256) }));
}

#[test]
fn offsets_of_tagged_columns_ascend_within_the_record() {
    let misplaced = |column| Err(RecordError::TagOffset { column: ColumnId(column) });
    assert_eq!(tagged_values(&tagged([(256, 12), (257, 16), (258, 14)])), misplaced(258));
    assert_eq!(tagged_values(&tagged([(256, 12), (257, 14), (258, 19)])), misplaced(258));
    // The first offset is the size of the array.
    for first in [0, 3, 10, 13, 20] {
        let record = tagged([(256, first), (257, 14), (258, 16)]);
        assert_eq!(tagged_values(&record), misplaced(256), "{first}");
    }
}

#[test]
fn fixed_columns_are_read_where_tagged_ones_are_damaged() {
    let mut column = ColumnDefinition::new(1, "Flag", ColumnType::Bit, 0);
    column.record_offset = 4;
    let record = [&[1, 127, 6, 0, 0xFF, 0xFE][..], &tagged([(257, 12), (256, 14), (258, 16)])[4..]];
    let record = record.concat();
    let record = RecordRef::parse(&record, PageSize::KIB_16).expect("a record");
    assert_eq!(record.column(&column), Ok(Stored::One(Element::Plain(&[0xFF]))));
}

#[test]
fn several_values_without_a_value_are_damaged() {
    let definition = table();
    let column = definition.column_named("LongPad").expect("a column");
    for first in [0, 1, 3] {
        let record = [0, 127, 4, 0, 0, 1, 4, 0, 0x09, first, 0, b'a', b'b'];
        let stored = RecordRef::parse(&record, PageSize::KIB_16).and_then(|r| r.column(column));
        assert!(matches!(stored, Err(RecordError::Damaged { .. })), "{first}: {stored:?}");
    }
}
