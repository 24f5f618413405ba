//! Databases whose checksums are right and whose content contradicts itself, and databases with
//! flipped bits: `verify` and `export` name the place, exit with 1, and `export` keeps the rest.

use std::ops::Range;

use ese::header::{PROBE_BYTES, read_copies};
use ese::page::{PageMut, PageSize};
use ese::reader::{FileImage, Reader, SalvageStep};
use testkit::samples;
use units::PageNumber;

use crate::samples::unpack;
use crate::scene::{PAGE_BYTES, Ran, Scene};

const FILE: &str = "Plimsoll001.edb";
const SAMPLE: &str = "sample.edb";

/// A row of a database: its page, its line there, and where its record is in the file.
struct Row {
    page: u32,
    line: usize,
    record: Range<usize>,
}

fn page_start(page: u32) -> usize {
    (page as usize + 1) * PAGE_BYTES
}

/// The rows of a table, in order.
fn rows(file: &[u8], table: &str) -> Vec<Row> {
    let mut reader = Reader::open(FileImage::new(file, PageSize::KIB_32)).unwrap();
    let table = reader.table(table).unwrap().clone();
    let mut walk = reader.salvaged_rows(&table);
    let mut rows = Vec::new();
    while let Some(SalvageStep::Entry(entry)) = walk.next(reader.source()).unwrap() {
        let (page, line) = (entry.page.0, entry.line);
        let image = &file[page_start(page)..page_start(page) + PAGE_BYTES];
        let at = image.windows(entry.data.len()).position(|window| window == entry.data).unwrap();
        let start = page_start(page) + at;
        rows.push(Row { page, line, record: start..start + entry.data.len() });
    }
    rows
}

/// Makes the checksum of a page right again.
fn seal(file: &mut [u8], page: u32) {
    PageMut::new(&mut file[page_start(page)..][..PAGE_BYTES]).seal(PageNumber(page));
}

fn export(scene: &Scene, file: &str, table: &str) -> Ran {
    scene.run(["export", file, "--table", table, "--format", "jsonl"])
}

/// Lines of `now` that are not those of `before`, in a table with as many rows.
fn changed<'r>(before: &Ran, now: &'r Ran) -> Vec<&'r str> {
    assert_eq!(before.out.lines().count(), now.out.lines().count());
    let pairs = before.out.lines().zip(now.out.lines());
    pairs.filter(|(before, now)| before != now).map(|(_, now)| now).collect()
}

/// A sample in a separate folder; `None` if there are no samples.
fn sample(name: &str) -> Option<Scene> {
    let packed = samples::find(&format!("engine/{name}.edb.gz"))?;
    let scene = Scene::new("broken");
    unpack(&packed, &scene);
    let copies = read_copies(&scene.read(SAMPLE)[..PROBE_BYTES]).unwrap();
    assert!(copies.page_size.bytes() <= PAGE_BYTES);
    Some(scene)
}

#[test]
fn damaged_tags_of_a_record_cost_its_tagged_columns_only() {
    let scene = Scene::prepared("broken-tags");
    let sound = export(&scene, FILE, "Messages");
    let mut file = scene.read(FILE);
    let rows = rows(&file, "Messages");
    // The last value of a record with one tagged column is the number of its long value.
    let is_separated = |row: &&Row| file[row.record.end - 9..row.record.end - 5] == [0, 1, 4, 0];
    let row = rows.iter().find(is_separated).unwrap();
    file[row.record.end - 7] = 5;
    seal(&mut file, row.page);
    scene.write(FILE, &file);
    let ran = export(&scene, FILE, "Messages");
    ran.expect_code(1);
    let place = format!("Messages, page {}, line {}, MessageId ", row.page, row.line);
    ran.expect_err(&[&place, ", column LongPad: ", "has a bad offset"]);
    let changed = changed(&sound, &ran);
    assert!(matches!(changed[..], [row] if row.contains("\"LongPad\":{\"incomplete\":")));
    scene
        .run(["verify", FILE])
        .expect_code(1)
        .expect_out(&[&format!("Messages, page {}, key ", row.page), "has a bad offset"]);
}

#[test]
fn tagged_columns_out_of_order_are_named() {
    let (Some(scene), Some(sound)) = (sample("broken/ddl16_22"), sample("ddl16")) else {
        return;
    };
    let ran = export(&scene, SAMPLE, "Renamed");
    ran.expect_code(1);
    ran.expect_err(&["Renamed, page 160, line ", "is out of order"]);
    let sound = export(&sound, SAMPLE, "Renamed");
    let changed = changed(&sound, &ran);
    assert!(
        matches!(changed[..], [row] if row.contains("\"c08\":{\"incomplete\":")),
        "{changed:?}"
    );
    let verified = scene.run(["verify", SAMPLE]);
    verified.expect_code(1).expect_out(&["Renamed, page 160, key ", "is out of order"]);
}

#[test]
fn a_record_without_sense_costs_one_row() {
    let (Some(scene), Some(sound)) = (sample("broken/ddl16_3"), sample("ddl16")) else {
        return;
    };
    let verified = scene.run(["verify", SAMPLE]);
    verified.expect_code(1).expect_out(&[", page 193, key ", "last variable column"]);
    let found = verified.unfolded();
    let line = found.lines().find(|line| line.contains(", page 193, key ")).unwrap();
    let table = line.split(", page 193").next().unwrap().rsplit(": ").next().unwrap();
    let ran = export(&scene, SAMPLE, table);
    ran.expect_code(1);
    ran.expect_err(&[&format!("{table}, page 193, line "), "the row is skipped"]);
    let left = export(&sound, SAMPLE, table).out.lines().count() - 1;
    assert_eq!(ran.out.lines().count(), left);
}

#[test]
fn a_tag_that_is_too_long_costs_its_own_row() {
    let scene = Scene::prepared("broken-page");
    let sound = export(&scene, FILE, "Messages");
    let mut file = scene.read(FILE);
    let rows = rows(&file, "Messages");
    let (index, row) = rows.iter().enumerate().find(|(_, row)| row.line == 1).unwrap();
    let tag = page_start(row.page) + PAGE_BYTES - 4 * (row.line + 2);
    let bytes = u16::from_le_bytes([file[tag], file[tag + 1]]) + 8;
    file[tag..tag + 2].copy_from_slice(&bytes.to_le_bytes());
    seal(&mut file, row.page);
    scene.write(FILE, &file);
    let ran = export(&scene, FILE, "Messages");
    ran.expect_code(1);
    ran.expect_err(&[
        &format!("Messages: page {} is damaged: used and free bytes add up to", row.page),
        &format!("the node at line {} of page {} cannot be read", row.line, row.page),
    ]);
    let mut left: Vec<&str> = sound.out.lines().collect();
    left.remove(index);
    assert!(ran.out.lines().eq(left));
    for verb in ["check", "verify"] {
        let named = format!("page {}: ", row.page);
        scene.run([verb, FILE]).expect_code(1).expect_out(&[&named, "used and free bytes"]);
    }
}

#[test]
fn rows_of_a_page_that_contradicts_itself_are_not_garbage() {
    let Some(scene) = sample("broken/types32s103_29") else {
        return;
    };
    let ran = export(&scene, SAMPLE, "AllTypes");
    ran.expect_code(1);
    ran.expect_err(&[
        "AllTypes: page 43 is damaged: used and free bytes add up to",
        "the node at line 23 of page 43 cannot be read; skipped",
    ]);
    // Rows 1 to 300 but for the damaged one.
    let id = |line: &str| line["{\"Id\":".len()..].split(',').next().unwrap().parse().unwrap();
    let ids: Vec<u32> = ran.out.lines().map(id).collect();
    assert!(ids.iter().copied().eq((1..=300).filter(|id| *id != 53)), "{ids:?}");
}

#[test]
fn indexes_of_derived_tables_are_compared() {
    let Some(scene) = sample("ddl16") else {
        return;
    };
    let ran = scene.run(["verify", SAMPLE]);
    ran.expect_code(0);
    assert!(!ran.err.contains("Derived"), "{}", ran.err);
    let (mut file, size) = (scene.read(SAMPLE), PageSize::KIB_16);
    let reader = Reader::open(FileImage::new(&file, size)).unwrap();
    let root = reader.table("Derived00").unwrap().secondaries().next().unwrap().1.root;
    let start = usize::try_from(size.file_offset(root)).unwrap();
    let mut page = PageMut::new(&mut file[start..][..size.bytes()]);
    assert!(page.as_ref().is_leaf());
    page.remove(0, 1).unwrap();
    page.seal(root);
    scene.write(SAMPLE, &file);
    let ran = scene.run(["verify", SAMPLE]);
    ran.expect_code(1);
    ran.expect_out(&[
        "Derived00/TIdx, page ",
        "the index lacks the entry of this row",
        "1 problem;",
    ]);
}

#[test]
fn a_chunk_that_does_not_unpack_is_named() {
    let Some(scene) = sample("broken/types04s13_59") else {
        return;
    };
    let verified = scene.run(["verify", SAMPLE]);
    verified.expect_code(1).expect_out(&["AllTypes/long values, page 53, key "]);
    verified.expect_out(&["does not unpack", "1 problem;"]);
    verified.expect_err(&["restore or reseed this copy", "--all -o DIR"]);
    let ran = export(&scene, SAMPLE, "AllTypes");
    ran.expect_code(1);
    ran.expect_err(&["column LongMulti: ", "1 parts of the value are left"]);
    assert_eq!(ran.out.matches("\"incomplete\"").count(), 1);
}

#[test]
fn a_flipped_bit_is_named_where_it_is_corrected() {
    let scene = Scene::prepared("broken-flip");
    let sound = export(&scene, FILE, "Messages");
    let mut file = scene.read(FILE);
    let page = rows(&file, "Messages")[0].page;
    // A page of rows and one of the catalog; the third byte is in the checksum itself.
    for (page, byte) in [(page, 9_000), (4, 20_000), (page, 2)] {
        file[page_start(page) + byte] ^= 4;
        scene.write(FILE, &file);
        let named = format!("page {page}: one bit flipped at byte {byte} bit 2");
        let ran = export(&scene, FILE, "Messages");
        ran.expect_code(1);
        ran.expect_err(&[FILE, &named, "read as corrected"]);
        assert!(ran.out == sound.out);
        // These two read no rows.
        for verb in ["schema", "space"] {
            let ran = scene.run([verb, FILE]);
            ran.expect_code(i32::from(page == 4));
            assert_eq!(ran.err.contains(&named), page == 4, "{}", ran.err);
        }
        let verified = scene.run(["verify", FILE]);
        verified.expect_code(1).expect_out(&[&named, "1 problem;"]);
        let verified = scene.run(["verify", "--json", FILE]);
        verified.expect_code(1);
        let answer: serde_json::Value = serde_json::from_str(&verified.out).unwrap();
        assert_eq!(answer["problems"], 1);
        file[page_start(page) + byte] ^= 4;
    }
}
