use units::{ObjectId, PageNumber};

use super::{CatalogRow, CatalogTable, RowKind, TreePlace, assemble, rows_of};
use crate::page::PageSize;
use crate::schema::{ColumnDefinition, ColumnType, IndexDefinition, TableDefinition};

fn place(object: u32, root: u32) -> TreePlace {
    TreePlace { object: ObjectId(object), root: PageNumber(root) }
}

fn messages() -> CatalogTable {
    let columns = vec![
        ColumnDefinition::new(1, "MessageId", ColumnType::LongLong, 0).not_null(),
        ColumnDefinition::new(4, "Received", ColumnType::LongLong, 0),
        ColumnDefinition::new(128, "ShortPad", ColumnType::Binary, 255),
        ColumnDefinition::new(256, "LongPad", ColumnType::LongBinary, 0),
    ];
    let mut received = IndexDefinition::secondary("ReceivedIndex", &[4, 1]);
    received.segments[1].is_descending = true;
    received.longest_key_bytes = 500;
    let indexes = vec![IndexDefinition::primary("MessageIdIndex", &[1]), received];
    let definition = TableDefinition::new("Messages", columns, indexes);
    CatalogTable::new(definition, place(8, 31), vec![place(9, 40)], Some(place(10, 50)))
}

#[test]
fn a_table_survives_its_rows_on_every_page_size() {
    for size in PageSize::ALL {
        let table = messages();
        let rows = rows_of(&table).into_iter().map(|row| {
            let mut record = Vec::new();
            row.encode(size, &mut record).expect("a short row");
            let read = CatalogRow::decode(&record, size).expect("undamaged").expect("a known kind");
            assert_eq!(read, row);
            read
        });
        assert_eq!(assemble(rows), [table]);
    }
}

#[test]
fn rows_carry_the_constants_of_real_files() {
    let rows = rows_of(&messages());
    let kinds: Vec<_> = rows.iter().map(|row| row.kind.number()).collect();
    assert_eq!(kinds, [1, 2, 2, 2, 2, 3, 3, 4]);
    let table = &rows[0];
    assert_eq!((table.id, table.root().0, table.space_usage), (8, 31, 80));
    assert_eq!((table.root_flag, table.pages_or_locale), (true, 1));
    let primary = &rows[5];
    assert_eq!((primary.id, primary.root().0, primary.flags), (8, 31, 0x1002F));
    assert_eq!(
        (primary.lc_map_flags, &primary.key_columns[..]),
        (Some(0x30401), &[0, 0, 1, 0][..])
    );
    assert_eq!(rows[6].key_columns, [0, 0, 4, 0, 0x40, 0, 1, 0]);
    let long_values = &rows[7];
    assert_eq!((long_values.name.as_str(), long_values.space_usage), ("LV", 100));
}

#[test]
fn keys_follow_the_catalog_indexes() {
    let rows = rows_of(&messages());
    let keys = rows[0].keys().expect("ASCII names");
    let id = [0x7F, 0x80, 0, 0, 8, 0x7F, 0x80, 1, 0x7F, 0x80, 0, 0, 8];
    assert_eq!(keys[0].as_deref(), Some(&id[..]));
    let name = [&id[..8], b"\x7FMESSAGES\0"].concat();
    assert_eq!(keys[1], Some(name));
    assert_eq!(keys[2].as_deref(), Some(&b"\x7F\xFF\x7FMESSAGES\0"[..]));
    assert_eq!(rows[1].keys().expect("ASCII names")[2], None);
}

#[test]
fn old_indexes_store_short_segments() {
    let mut row = CatalogRow::new(ObjectId(8), RowKind::Index, 9, "I");
    row.key_columns = vec![4, 0, 0xFF, 0xFF];
    let table = CatalogRow::new(ObjectId(8), RowKind::Table, 8, "T");
    let tables = assemble([table, row]);
    let segments = &tables[0].definition.indexes[0].segments;
    let read: Vec<_> = segments.iter().map(|s| (s.column.0, s.is_descending)).collect();
    assert_eq!(read, [(4, false), (1, true)]);
}

#[test]
fn a_table_has_the_columns_of_its_template_first() {
    let table = |object, name: &str, column: &str| {
        let columns = vec![ColumnDefinition::new(256, column, ColumnType::Long, 0)];
        let definition = TableDefinition::new(name, columns, Vec::new());
        rows_of(&CatalogTable::new(definition, place(object, object), Vec::new(), None))
    };
    let rows = [
        table(8, "Base", "A"),
        table(9, "Middle", "B"),
        table(10, "Top", "C"),
        table(11, "Circle", "D"),
    ];
    let mut rows = rows.concat();
    for row in rows.iter_mut().filter(|row| row.kind == RowKind::Table) {
        row.template = match row.name.as_str() {
            "Middle" => Some("Base".to_owned()),
            "Top" => Some("Middle".to_owned()),
            "Circle" => Some("Circle".to_owned()),
            _ => None,
        };
    }
    let tables = assemble(rows);
    let top: Vec<(&str, bool)> =
        tables[2].columns().map(|column| (column.name.as_str(), column.is_inherited)).collect();
    assert_eq!(top, [("A", true), ("B", true), ("C", false)]);
    assert!(tables[3].columns().count() < 100);
}
