//! Catalogs that are damaged or not shadowed, and indexes that hold some rows only.

use units::ObjectId;

use super::world::{SIZE, World, record, table};
use super::{examine, problems};
use crate::record::RecordRef;
use crate::schema::{ColumnDefinition, ColumnId, ColumnType, IndexCondition, column_flags};
use crate::verify::index::{Expected, expected_key};
use crate::verify::{Notice, Problem};

#[test]
fn a_damaged_catalog_is_named_and_its_copy_used() {
    let mut world = World::new();
    world.change(4, |page| {
        page.remove(0, page.as_ref().node_count()).expect("nodes");
    });
    let report = examine(&world);
    assert!(!report.is_clean());
    assert_eq!(report.notices, [Notice::ShadowCatalog]);
    assert_eq!(report.index_entries, 10, "its tables are compared");
}

#[test]
fn copies_of_a_catalog_that_is_not_shadowed_may_differ() {
    let mut world = World::new();
    world.change(24, |page| page.remove(0, 1).expect("a node"));
    assert_eq!(problems(&world).len(), 1);
    world.header.header_flags = 1;
    assert_eq!(problems(&world), []);
}

#[test]
fn a_conditional_index_holds_the_rows_that_meet_its_conditions() {
    let mut table = table();
    let condition =
        |is_null| IndexCondition { column: ColumnId(256), is_null, is_inherited: false };
    let mut expected = |id, is_null| {
        table.definition.indexes[1].conditions = vec![condition(is_null)];
        let record = record(id);
        let record = RecordRef::parse(&record, SIZE).expect("a record");
        expected_key(&table, &table.definition.indexes[1], record)
    };
    // Row 5 alone has a body.
    assert!(matches!(expected(5, false), Expected::Key(_)));
    assert!(matches!(expected(4, true), Expected::Key(_)));
    assert_eq!(expected(5, true), Expected::Nothing);
    assert_eq!(expected(4, false), Expected::Nothing);
}

#[test]
fn an_index_may_have_a_column_of_the_template() {
    let mut table = table();
    let mut column = ColumnDefinition::new(256, "Inherited", ColumnType::Long, 0);
    (column.is_inherited, column.flags) = (true, column_flags::TEMPLATE);
    table.inherited = vec![column];
    let index = &mut table.definition.indexes[1];
    index.segments[0].column = ColumnId(256);
    index.segments[0].is_inherited = true;
    let index = index.clone();
    // Column 256 of the template, then that of the table: a long value, stored separately.
    let record = [0, 127, 4, 0, 0, 1, 8, 0x80, 0, 1, 13, 0, 0, 7, 0, 0, 0, 5, 1, 0, 0, 0];
    let record = RecordRef::parse(&record, SIZE).expect("a record");
    let key = vec![0x7F, 0x80, 0, 0, 7];
    assert_eq!(expected_key(&table, &index, record), Expected::Key(key));
}

/// Rows that the table of objects must have for the catalog of [`World`].
const LISTED: [[u32; 3]; 6] = [[2, 2, 1], [3, 3, 1], [6, 6, 1], [8, 8, 1], [9, 8, 3], [10, 8, 4]];

#[test]
fn the_table_of_objects_lists_what_the_catalog_has() {
    let unlisted = |object| (29, Problem::UnlistedObject { object: ObjectId(object) });
    let stray = |object| (29, Problem::StrayObject { object: ObjectId(object) });
    assert_eq!(problems(&World::with_objects(&LISTED)), []);
    for missing in 0..LISTED.len() {
        let mut listed = LISTED.to_vec();
        let [object, ..] = listed.remove(missing);
        assert_eq!(problems(&World::with_objects(&listed)), [unlisted(object)]);
    }
    let more = [&LISTED[..], &[[11, 8, 3]]].concat();
    assert_eq!(problems(&World::with_objects(&more)), [stray(11)]);
    let mut other = LISTED;
    other[4] = [9, 6, 3];
    assert_eq!(problems(&World::with_objects(&other)), [stray(9), unlisted(9)]);
}
