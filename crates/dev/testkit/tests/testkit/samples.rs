//! Databases that real engines wrote: everything in them must be read without a finding. If there
//! are none, these tests say so and pass.

use std::path::Path;
use std::sync::OnceLock;

use ese::checksum::{PageVerdict, verify as verify_page};
use ese::header::{DatabaseHeader, PROBE_BYTES, read_copies};
use ese::page::{PageRef, PageSize};
use ese::page_check;
use ese::reader::{Cursor, FieldValue, FileImage, Reader};
use ese::value::Value;
use ese::verify::verify;
use testkit::samples;
use units::PageNumber;

struct Sample {
    name: String,
    bytes: Vec<u8>,
    page_size: PageSize,
    header: DatabaseHeader,
}

impl Sample {
    fn reader(&self) -> Reader<FileImage<'_>> {
        Reader::open(FileImage::new(&self.bytes, self.page_size))
            .unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }
}

fn unpack(packed: &Path) -> Sample {
    let bytes = samples::unpacked(packed).expect("gzip");
    let copies = read_copies(&bytes[..bytes.len().min(PROBE_BYTES)]).expect("a header");
    let name = packed.file_stem().expect("a name");
    Sample {
        name: name.to_string_lossy().into_owned(),
        bytes,
        page_size: copies.page_size,
        header: copies.header,
    }
}

/// Unpacked once for all tests.
fn all() -> &'static [Sample] {
    static SAMPLES: OnceLock<Vec<Sample>> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        let packed = samples::databases();
        packed.iter().map(|packed| unpack(packed)).collect()
    })
}

fn sample(name: &str) -> Option<&'static Sample> {
    all().iter().find(|sample| sample.name == name)
}

#[test]
fn every_header_is_read_and_written_back_unchanged() {
    for sample in all() {
        let copies =
            read_copies(&sample.bytes[..sample.bytes.len().min(PROBE_BYTES)]).expect("good");
        assert_eq!(copies.header.format_version, 0x620, "{}", sample.name);
        let page = &sample.bytes[..sample.page_size.bytes()];
        let mut written = page.to_vec();
        copies.header.encode_over(&mut written);
        assert!(written == page, "{}: header bytes", sample.name);
    }
}

#[test]
fn no_page_of_the_owned_space_is_damaged() {
    for sample in all() {
        let owned = sample.reader().database_space().expect("space trees").owned;
        let pages = sample.bytes.chunks(sample.page_size.bytes()).skip(2);
        let numbered = (1..).map(PageNumber).zip(pages);
        let mut good = 0;
        for (number, page) in numbered.filter(|(number, _)| owned.contains(*number)) {
            match verify_page(page, number) {
                PageVerdict::Uninitialised => {}
                PageVerdict::Good => {
                    let checked = page_check::check(PageRef::new(page), number);
                    assert_eq!(checked, Ok(()), "{}: page {number}", sample.name);
                    good += 1;
                }
                damage => panic!("{}: page {number}: {damage:?}", sample.name),
            }
        }
        assert!(good > 15, "{}: {good}", sample.name);
    }
}

#[test]
fn every_value_of_every_table_is_read() {
    for sample in all() {
        let mut reader = sample.reader();
        let (mut rows, mut values) = (0, 0);
        for table in reader.tables().to_vec() {
            let mut cursor = reader.rows(&table).expect("a table");
            while let Some(entry) = cursor.next(reader.source()).expect("a readable table") {
                rows += 1;
                for column in &table.definition.columns {
                    let read = reader.column_values(&table, entry.data, column);
                    let name = (&sample.name, &table.definition.name, &column.name);
                    values += read.unwrap_or_else(|error| panic!("{name:?}: {error}")).len();
                }
            }
        }
        assert!(rows > 50 && values > rows * 5, "{}: {rows} rows, {values} values", sample.name);
    }
}

#[test]
fn both_copies_of_the_catalog_agree() {
    for sample in all() {
        let image = FileImage::new(&sample.bytes, sample.page_size);
        let shadow = Reader::open_shadow(image).expect("a second catalog");
        assert_eq!(shadow.tables(), sample.reader().tables(), "{}", sample.name);
    }
}

#[test]
fn indexes_have_as_many_entries_as_their_walk_finds_in_order() {
    for sample in all() {
        let mut reader = sample.reader();
        for table in reader.tables().to_vec() {
            for (index, place) in table.secondaries() {
                let mut cursor = Cursor::first(reader.source(), place.root).expect("an index");
                let mut before: Option<(Vec<u8>, Vec<u8>)> = None;
                while let Some(entry) = cursor.next(reader.source()).expect("a readable index") {
                    let pair = (entry.key.to_vec(), entry.data.to_vec());
                    assert!(before.is_none_or(|before| before < pair), "{}", index.name);
                    before = Some(pair);
                }
            }
        }
    }
}

#[test]
fn space_of_a_tree_lies_within_the_database() {
    for sample in all() {
        let report = sample.reader().space_report().expect("space trees");
        let database = report[0].owned.clone();
        for tree in &report {
            let name = (&sample.name, &tree.table, &tree.index);
            assert!(tree.owned.contains(tree.root), "{name:?}");
            for extent in tree.available.extents() {
                assert!(tree.owned.contains(extent.first()), "{name:?}: {extent:?}");
                assert!(tree.owned.contains(extent.last), "{name:?}: {extent:?}");
            }
            assert!(database.contains(tree.root), "{name:?}");
        }
    }
}

/// Text of all columns of a table, row by row.
fn text_of(sample: &Sample, table: &str) -> Vec<Vec<String>> {
    let mut reader = sample.reader();
    let table = reader.table(table).expect("a table of the sample").clone();
    let mut cursor = reader.rows(&table).expect("a table");
    let mut rows = Vec::new();
    while let Some(entry) = cursor.next(reader.source()).expect("a readable table") {
        let mut row = Vec::new();
        for column in &table.definition.columns {
            let values = reader.column_values(&table, entry.data, column).expect("readable");
            let text = values.iter().map(|value| match value {
                FieldValue::Bytes(bytes) => Value::decode(column, bytes).to_string(),
                FieldValue::Encrypted(_) => "(encrypted)".to_owned(),
            });
            row.push(text.collect::<Vec<_>>().join("|"));
        }
        rows.push(row);
    }
    rows
}

#[test]
fn values_of_every_type_are_those_that_were_stored() {
    let Some(basic) = sample("basic.edb") else {
        return;
    };
    let rows = text_of(basic, "basic");
    let expected = "1 false 213 -1337 -13371337 1337133713371337 1 13371337.13371337 \
                    1999-03-01T00:00:00.000Z 13371337 -13371337 \
                    3f360af1-6766-46dc-9af2-0dacf295c2a1 1337";
    assert_eq!(rows[0].join(" "), expected);
    // A missing value is null: the second row ends after its ninth column.
    assert_eq!(rows[1][8..], ["1337-06-09T00:00:00.000Z", "", "", "", ""]);
}

#[test]
fn the_catalog_reads_itself() {
    let Some(basic) = sample("basic.edb") else {
        return;
    };
    let rows = text_of(basic, "MSysObjects");
    // The first row describes a table: table 2, type 1, object 2, root 4, density 80.
    assert_eq!(rows[0][..5], ["2", "1", "2", "4", "80"]);
    assert_eq!(rows[0][12], "MSysObjects");
}

#[test]
fn compressed_values_are_unpacked() {
    let Some(compressed) = sample("sf_decompress_test.edb") else {
        return;
    };
    for (number, row) in text_of(compressed, "test_table").iter().enumerate() {
        let text = format!("Record {number:10}");
        let hex = Value::Binary(text.clone().into_bytes()).to_string();
        assert_eq!(row[..], [text.clone(), text.clone(), hex, text]);
    }
}

#[test]
fn several_values_of_a_column_come_in_order() {
    let Some(multi) = sample("multi.edb") else {
        return;
    };
    let rows = text_of(multi, "multi");
    assert_eq!(rows[0][1..4], ["false|true", "0|127|255", "0|-32767|32767"]);
    assert!(rows[1].contains(&"Tiny ASCII 1|Tiny ASCII 2".to_owned()), "{:?}", rows[1]);
}

#[test]
fn defaults_stand_in_for_what_a_row_does_not_say() {
    let Some(defaults) = sample("default.edb") else {
        return;
    };
    let rows = text_of(defaults, "default");
    assert_eq!(rows[0][..5], ["1", "true", "69", "4660", "305419896"]);
    assert!(rows[0].contains(&"Short default ASCII".to_owned()));
}

#[test]
fn every_database_agrees_with_itself() {
    for sample in all() {
        let Ok(report) = verify(FileImage::new(&sample.bytes, sample.page_size), &sample.header);
        assert_eq!(report.findings, [], "{}", sample.name);
        // Every owned page is in use or available; pages past the owned ones belong to no tree.
        let space = sample.reader().database_space().unwrap();
        let pages = space.owned.pages();
        assert_eq!(report.pages_reached + report.pages_available, pages, "{}", sample.name);
        assert!(report.index_entries > 80, "{}: {report:?}", sample.name);
    }
}
