//! Catalogs that are damaged or not shadowed, and indexes that hold some rows only.

use super::world::{SIZE, World, definition, record};
use super::{examine, problems};
use crate::record::RecordRef;
use crate::schema::{ColumnId, IndexCondition};
use crate::verify::Notice;
use crate::verify::index::{Expected, expected_key};

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
    let mut table = definition();
    let condition =
        |is_null| IndexCondition { column: ColumnId(256), is_null, is_inherited: false };
    let mut expected = |id, is_null| {
        table.indexes[1].conditions = vec![condition(is_null)];
        let record = record(id);
        let record = RecordRef::parse(&record, SIZE).expect("a record");
        expected_key(&table, &table.indexes[1], record)
    };
    // Row 5 alone has a body.
    assert!(matches!(expected(5, false), Expected::Key(_)));
    assert!(matches!(expected(4, true), Expected::Key(_)));
    assert_eq!(expected(5, true), Expected::Nothing);
    assert_eq!(expected(4, false), Expected::Nothing);
}
