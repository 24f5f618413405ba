//! Damage does not end the work: everything readable is printed, skipped parts are named, and the
//! exit status is 1.

use std::collections::BTreeSet;

use ese::catalog::CatalogTable;
use ese::header::{PROBE_BYTES, read_copies};
use ese::page::{PageRef, PageSize};
use ese::reader::{FileImage, Reader, SalvageStep};
use testkit::samples::databases;

use crate::samples::unpack;
use crate::scene::{Ran, Scene};

const OWN: &str = "Plimsoll001.edb";

/// A database in memory.
struct File {
    bytes: Vec<u8>,
    size: PageSize,
}

impl File {
    fn read(scene: &Scene, name: &str) -> Self {
        let bytes = scene.read(name);
        let copies = read_copies(&bytes[..bytes.len().min(PROBE_BYTES)]).unwrap();
        let size = copies.page_size;
        Self { bytes, size }
    }

    fn reader(&self) -> Reader<FileImage<'_>> {
        Reader::open(FileImage::new(&self.bytes, self.size)).unwrap()
    }

    fn table(&self, name: &str) -> CatalogTable {
        self.reader().table(name).unwrap().clone()
    }

    fn page(&self, number: u32) -> PageRef<'_> {
        let start = (number as usize + 1) * self.size.bytes();
        PageRef::new(&self.bytes[start..start + self.size.bytes()])
    }

    /// The page of every row of a table, in order.
    fn pages_of_rows(&self, table: &CatalogTable) -> Vec<u32> {
        let mut reader = self.reader();
        let mut walk = reader.salvaged_rows(table);
        let mut pages = Vec::new();
        while let Ok(Some(step)) = walk.next(reader.source()) {
            if let SalvageStep::Entry(entry) = step {
                pages.push(entry.page.0);
            }
        }
        pages
    }

    /// The same with two bits of some pages flipped, which no checksum puts right.
    fn with_damage(&self, pages: &[u32]) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        for &page in pages {
            let start = (page as usize + 1) * self.size.bytes();
            bytes[start + 301] ^= 1;
            bytes[start + 307] ^= 1;
        }
        bytes
    }

    /// The table with the most leaves.
    fn largest_table(&self) -> CatalogTable {
        let tables = self.reader().tables().to_vec();
        let leaves = |table: &CatalogTable| {
            let pages: BTreeSet<u32> = self.pages_of_rows(table).into_iter().collect();
            pages.len()
        };
        tables.into_iter().max_by_key(leaves).unwrap()
    }
}

fn export(scene: &Scene, file: &str, table: &str) -> Ran {
    scene.run(["export", file, "--table", table, "--format", "jsonl"])
}

fn lines(ran: &Ran) -> Vec<&str> {
    ran.out.lines().collect()
}

/// Damages a leaf in the middle of a table: the rows of all others come out.
fn lose_a_leaf(scene: &Scene, name: &str, table: &str) {
    let file = File::read(scene, name);
    let sound = export(scene, name, table);
    sound.expect_code(0);
    let pages = file.pages_of_rows(&file.table(table));
    assert_eq!(lines(&sound).len(), pages.len());
    let lost = pages[pages.len() / 2];
    scene.write(name, &file.with_damage(&[lost]));
    let ran = export(scene, name, table);
    ran.expect_code(1);
    let rows = lines(&sound).into_iter().zip(&pages);
    let left: Vec<&str> = rows.filter(|(_, page)| **page != lost).map(|(row, _)| row).collect();
    assert!(left.len() < pages.len() && lines(&ran) == left, "{name} {table}");
    let named = format!("{table}: page {lost} is damaged; its rows are skipped");
    ran.expect_err(&[name, &named, "rows are lost"]);
    scene.write(name, &file.bytes);
}

/// Damages an internal page: the leaves below it are found without it, and all rows come out.
fn lose_a_branch(scene: &Scene, name: &str, table: &str, page: u32) {
    let file = File::read(scene, name);
    assert!(!file.page(page).is_leaf());
    let sound = export(scene, name, table);
    sound.expect_code(0);
    scene.write(name, &file.with_damage(&[page]));
    let ran = export(scene, name, table);
    ran.expect_code(1);
    assert!(lines(&ran) == lines(&sound), "{name} {table} {page}");
    ran.expect_err(&[&format!("{table}: page {page} is damaged; an internal page; ")]);
    scene.write(name, &file.bytes);
}

#[test]
fn a_lost_leaf_costs_its_own_rows_only() {
    let scene = Scene::prepared("lost-leaf");
    lose_a_leaf(&scene, OWN, "Messages");
    for packed in databases() {
        let scene = Scene::new("lost-leaf-sample");
        unpack(&packed, &scene);
        let file = File::read(&scene, "sample.edb");
        let table = file.largest_table();
        if file.page(table.place.root.0).is_leaf() {
            continue;
        }
        lose_a_leaf(&scene, "sample.edb", &table.definition.name);
    }
}

#[test]
fn rows_below_a_lost_internal_page_are_found_without_it() {
    let scene = Scene::prepared("lost-branch");
    let root = File::read(&scene, OWN).table("Messages").place.root.0;
    lose_a_branch(&scene, OWN, "Messages", root);
    for packed in databases() {
        let scene = Scene::new("lost-branch-sample");
        unpack(&packed, &scene);
        let file = File::read(&scene, "sample.edb");
        let table = file.largest_table();
        let (name, root) = (table.definition.name.as_str(), table.place.root.0);
        if file.page(root).is_leaf() {
            continue;
        }
        lose_a_branch(&scene, "sample.edb", name, root);
        // Trees of three levels have internal pages below the root.
        let below = file.page(root).child(0).unwrap().0;
        if !file.page(below).is_leaf() {
            lose_a_branch(&scene, "sample.edb", name, below);
        }
    }
}

#[test]
fn a_leaf_that_is_lost_below_a_lost_internal_page_is_named() {
    let scene = Scene::prepared("lost-both");
    let file = File::read(&scene, OWN);
    let table = file.table("Messages");
    let pages = file.pages_of_rows(&table);
    let lost = pages[pages.len() / 2];
    scene.write(OWN, &file.with_damage(&[table.place.root.0, lost]));
    let ran = export(&scene, OWN, "Messages");
    ran.expect_code(1);
    let left = pages.iter().filter(|page| **page != lost).count();
    assert_eq!(lines(&ran).len(), left);
    ran.expect_err(&[&format!("page {lost} is damaged"), "an internal page"]);
}

#[test]
fn a_lost_page_of_long_values_costs_the_values_on_it() {
    let scene = Scene::prepared("lost-long");
    let file = File::read(&scene, OWN);
    let sound = export(&scene, OWN, "Messages");
    let root = file.table("Messages").long_values.unwrap().root.0;
    let leaf = file.page(root).child(1).unwrap().0;
    assert!(file.page(leaf).is_leaf());
    scene.write(OWN, &file.with_damage(&[leaf]));
    let ran = export(&scene, OWN, "Messages");
    ran.expect_code(1);
    ran.expect_err(&[&format!("column LongPad: page {leaf} is damaged")]);
    assert_eq!(lines(&ran).len(), lines(&sound).len());
    let pairs = lines(&ran).into_iter().zip(lines(&sound));
    let changed: Vec<&str> = pairs.filter(|(a, b)| a != b).map(|(a, _)| a).collect();
    assert!(!changed.is_empty() && changed.len() < 100, "{}", changed.len());
    for row in &changed {
        assert!(row.contains("\"LongPad\":{\"incomplete\":"), "{row}");
        let row: serde_json::Value = serde_json::from_str(row).unwrap();
        let named = format!(", MessageId {}, column LongPad: page {leaf}", row["MessageId"]);
        ran.expect_err(&[&named]);
    }
    let sum = format!("Messages: {} values of exported rows are lost or not whole", changed.len());
    ran.expect_err(&[&sum]);
    // The root of that tree: every value is found without it.
    scene.write(OWN, &file.with_damage(&[root]));
    let ran = export(&scene, OWN, "Messages");
    assert_eq!(lines(&ran).len(), lines(&sound).len());
    ran.expect_code(1);
}

#[test]
fn space_and_verify_go_on_behind_damage() {
    let scene = Scene::prepared("lost-space");
    let file = File::read(&scene, OWN);
    let answer = |ran: &Ran| -> serde_json::Value { serde_json::from_str(&ran.out).unwrap() };
    let sound = answer(&scene.run(["space", "--json", OWN]));
    // Page 3: the available extents of the database.
    scene.write(OWN, &file.with_damage(&[3]));
    let ran = scene.run(["space", "--json", OWN]);
    ran.expect_code(1);
    ran.expect_err(&[OWN, "the database: page 3 is damaged"]);
    let after = answer(&ran);
    assert_eq!(after["trees"][0]["skipped"][0], "page 3 is damaged");
    for tree in 1..sound["trees"].as_array().unwrap().len() {
        assert_eq!(after["trees"][tree], sound["trees"][tree]);
    }
    scene.run(["space", OWN]).expect_code(1).expect_out(&["Messages"]);
    export(&scene, OWN, "Messages").expect_code(0);
    let table = file.table("Messages");
    let leaf = file.pages_of_rows(&table)[0];
    for lost in [1, 2, 3, table.place.root.0, leaf] {
        scene.write(OWN, &file.with_damage(&[lost]));
        let ran = scene.run(["verify", OWN]);
        ran.expect_code(1);
        let named = format!("page {lost}: page {lost} is damaged");
        let count = ran.out.matches(&named).count();
        assert_eq!(count, 1, "{}", ran.out);
        assert!(!ran.err.contains("leaked"), "{}", ran.err);
        // The rest was examined, and nothing else is wrong.
        let trees = ["1 problem;", "2 problems;", "3 problems;"];
        let is_counted = trees.iter().any(|count| ran.out.contains(count));
        assert!(is_counted, "{lost}: {}", ran.out);
    }
    scene.write(OWN, &file.with_damage(&[leaf]));
    let ran = scene.run(["verify", OWN]);
    ran.expect_err(&["Messages: about ", " rows were skipped"]);
}

#[test]
fn pages_that_a_cut_takes_are_named_as_ranges() {
    let scene = Scene::prepared("cut");
    let file = File::read(&scene, OWN);
    let pages = file.pages_of_rows(&file.table("Messages"));
    let leaves: BTreeSet<u32> = pages.iter().copied().collect();
    // Half of the leaves lie behind the cut.
    let last = *leaves.iter().nth(leaves.len() / 2).unwrap();
    let cut = (last as usize + 2) * file.size.bytes();
    scene.write(OWN, &file.bytes[..cut]);
    let ran = export(&scene, OWN, "Messages");
    ran.expect_code(1);
    let left = pages.iter().filter(|page| **page <= last).count();
    assert_eq!(lines(&ran).len(), left);
    let named: Vec<&str> =
        ran.err.lines().filter(|line| line.contains("past the end of the file")).collect();
    assert!((1..=4).contains(&named.len()), "{}", ran.err);
    assert!(named.iter().any(|line| line.contains("pages ") && line.contains('-')), "{named:?}");
    // `check` says that it was cut, whatever else is damaged.
    let whole = File { bytes: file.bytes[..cut].to_vec(), size: file.size };
    let roots = ["MSysObjects", "MSysObjectsShadow", "Messages"];
    let roots = roots.map(|name| file.table(name).place.root.0);
    let both = [&[1, 2, 3][..], &roots].concat();
    for damaged in [&[][..], &[1], &[2], &[1, 2, 3], &roots, &both] {
        scene.write(OWN, &whole.with_damage(damaged));
        let ran = scene.run(["check", OWN]);
        ran.expect_code(1).expect_out(&[&format!("truncated: the file ends with page {last}")]);
    }
}

#[test]
fn tables_are_found_where_both_copies_of_the_catalog_are_damaged() {
    let scene = Scene::prepared("lost-catalog");
    let file = File::read(&scene, OWN);
    let sound = export(&scene, OWN, "Messages");
    // The root of the first copy; the second one is whole.
    scene.write(OWN, &file.with_damage(&[4]));
    let ran = export(&scene, OWN, "Messages");
    ran.expect_code(1);
    ran.expect_err(&["the catalog is damaged", "its copy, MSysObjectsShadow, is used"]);
    assert!(lines(&ran) == lines(&sound));
    for packed in databases() {
        let scene = Scene::new("lost-catalogs");
        unpack(&packed, &scene);
        let file = File::read(&scene, "sample.edb");
        let names =
            |file: &Ran| -> BTreeSet<String> { file.out.lines().map(str::to_owned).collect() };
        let sound = names(&scene.run(["export", "sample.edb"]));
        let roots = ["MSysObjects", "MSysObjectsShadow"].map(|name| file.table(name));
        let roots = roots.map(|table| table.place.root.0);
        scene.write("sample.edb", &file.with_damage(&roots));
        let ran = scene.run(["export", "sample.edb"]);
        if file.page(roots[0]).is_leaf() && file.page(roots[1]).is_leaf() {
            continue;
        }
        ran.expect_code(1);
        ran.expect_err(&["both copies of the catalog are damaged"]);
        assert_eq!(names(&ran), sound, "{packed:?}");
    }
}
