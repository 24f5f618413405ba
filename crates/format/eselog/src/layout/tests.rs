//! Consistency of the table: no field lies outside its record or overlaps another.

use super::{FieldKind, layout_of, record_bytes, table::TABLE};

#[test]
fn types_are_in_order_and_found() {
    assert!(TABLE.is_sorted_by(|one, other| one.kind < other.kind));
    for layout in TABLE {
        assert_eq!(layout_of(layout.kind).map(|found| found.name), Some(layout.name));
    }
    assert!(layout_of(102).is_none() && layout_of(41).is_none());
}

#[test]
fn fields_fill_their_record_without_overlapping() {
    for layout in TABLE {
        let mut end = 1;
        for field in layout.fields() {
            assert!(field.at >= end, "{}: {} overlaps", layout.name, field.field.name());
            end = field.at + field.kind.bytes();
        }
        assert!(end <= layout.fixed, "{}: {end} of {} bytes", layout.name, layout.fixed);
    }
}

#[test]
fn sizes_are_those_that_the_engine_asserts() {
    // Stated as static assertions in the engine's source.
    for (kind, bytes) in [(37, 54), (93, 58)] {
        assert_eq!(layout_of(kind).map(|layout| layout.fixed), Some(bytes));
    }
    assert_eq!(FieldKind::Signature.bytes(), 28);
}

#[test]
fn lengths_of_parts_add_up() {
    let mut insert = vec![0; 50];
    insert[0] = 29;
    (insert[44], insert[46], insert[48]) = (3, 2, 4);
    let layout = layout_of(29).expect("a known type");
    assert_eq!(record_bytes(layout, &insert), Some(59));
    assert_eq!(record_bytes(layout, &insert[..49]), None);
}

#[test]
fn a_replace_keeps_its_difference_flag_out_of_its_length() {
    let mut replace = vec![0; 50];
    (replace[0], replace[44], replace[45]) = (34, 7, 0x80);
    let layout = layout_of(34).expect("a known type");
    assert_eq!(record_bytes(layout, &replace), Some(57));
}

#[test]
fn an_ignorable_record_states_its_own_length() {
    let mut extend = vec![0; 10];
    (extend[0], extend[1]) = (68, 5);
    let layout = layout_of(68).expect("a known type");
    assert_eq!(record_bytes(layout, &extend), Some(10));
    extend[1] = 9;
    assert_eq!(record_bytes(layout, &extend), Some(14));
}
