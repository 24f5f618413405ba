//! What `check` reads, on which storage, and how it says what it found.

use std::fs::{self, File};

use ese::header::{PROBE_BYTES, read_copies};
use ese::page::{PageMut, page_flags};
use ese::reader::{FileImage, Reader};
use testkit::samples::databases;
use units::{ObjectId, PageNumber};

use crate::mount::Mount;
use crate::samples::unpack;
use crate::scene::{PAGE_BYTES, Ran, Scene};

const FILE: &str = "Plimsoll001.edb";
/// Columns of the smallest terminal that everyone has.
const COLUMNS: usize = 80;

fn answer(ran: &Ran) -> serde_json::Value {
    serde_json::from_str(&ran.out).unwrap()
}

#[test]
fn where_unbuffered_reads_are_refused_the_cache_serves_and_is_named() {
    let scene = Scene::prepared("buffered");
    let unbuffered = scene.run(["check", "--json", FILE]);
    assert_eq!(answer(&unbuffered)["files"][0]["unbuffered"], true);
    // The kernel refuses the flag on the one and lets it pass on the other, where it means nothing.
    for kind in ["ramfs", "tmpfs"] {
        let Some(mount) = Mount::of(&scene, kind, &["-t", kind, "none"]) else {
            continue;
        };
        let file = mount.0.join(FILE).display().to_string();
        fs::copy(scene.path(FILE), &file).unwrap();
        scene
            .run(["check", &file])
            .expect_code(0)
            .expect_out(&["read through the operating system's cache"]);
        let ran = scene.run(["check", "--json", &file]);
        assert_eq!(answer(&ran)["files"][0]["unbuffered"], false, "{kind}");
        for verb in ["verify", "header", "schema", "space", "export"] {
            scene.run([verb, &file]).expect_code(0);
        }
        scene.run(["dump", &file, "--page", "4"]).expect_code(0);
    }
}

fn lengthen(scene: &Scene, length: u64) {
    let file = File::options().write(true).open(scene.path(FILE)).unwrap();
    file.set_len(length).unwrap();
}

#[test]
fn a_terabyte_behind_the_database_is_skipped_and_named() {
    let scene = Scene::prepared("foreign-space");
    lengthen(&scene, 1 << 40);
    let ran = scene.run(["check", FILE]);
    ran.expect_code(0).expect_out(&["no part of the database", "not read: ", "--foreign"]);
    let checked = answer(&scene.run(["check", "--json", FILE]));
    let pages = (1_u64 << 40) / PAGE_BYTES as u64 - 2;
    let [seen, skipped] =
        ["seen_pages", "skipped_pages"].map(|name| checked["files"][0][name].as_u64().unwrap());
    assert!(seen + skipped == pages && seen < 5_000, "{checked}");
    scene
        .run(["verify", FILE])
        .expect_code(0)
        .expect_err(&["are past the last one that the database owns"]);
    lengthen(&scene, 256 << 20);
    let some = answer(&scene.run(["check", "--json", FILE]));
    assert!(some["files"][0]["skipped_pages"].as_u64().unwrap() > 1_000, "{some}");
    let all = answer(&scene.run(["check", "--json", "--foreign", FILE]));
    let pages = (256_u64 << 20) / PAGE_BYTES as u64 - 2;
    assert_eq!(
        (&all["files"][0]["seen_pages"], &all["files"][0]["skipped_pages"]),
        (&pages.into(), &0.into())
    );
}

/// A page that was freed keeps its links, and engines do not always mark it as empty.
#[test]
fn links_of_pages_that_are_not_in_use_are_no_alarm() {
    let scene = Scene::prepared("stale-links");
    fs::remove_file(scene.path("Plimsoll001.jfm")).unwrap();
    let bytes = scene.read(FILE);
    let size = read_copies(&bytes[..PROBE_BYTES]).unwrap().page_size;
    let mut reader = Reader::open(FileImage::new(&bytes, size)).unwrap();
    let available = reader.database_space().unwrap().available;
    let extent = available.extents().iter().find(|extent| extent.pages > 1);
    let freed = extent.unwrap().first();
    let never_written = PageNumber(freed.0 + 1);
    let object = reader.table("Messages").unwrap().place.object;
    scene.change(FILE, |bytes| {
        let start = (freed.0 as usize + 1) * PAGE_BYTES;
        leaf(&mut bytes[start..start + PAGE_BYTES], object, never_written).seal(freed);
    });
    scene.run(["check", FILE]).expect_code(0);
    scene.run(["verify", FILE]).expect_code(0);
}

/// A leaf with one row before the leaf `next`.
fn leaf(bytes: &mut [u8], object: ObjectId, next: PageNumber) -> PageMut<'_> {
    bytes.fill(0);
    let mut page = PageMut::new(bytes);
    page.format(page_flags::ALWAYS | page_flags::LEAF, object);
    page.set_links(PageNumber::NONE, next);
    let mut node = Vec::new();
    let flags = ese::page::encode_node(b"", b"key", b"some data", &mut node);
    page.insert(0, flags, &node).unwrap();
    page
}

/// The answer begins with the file's name and fits.
fn expect_narrow(ran: &Ran, file: &str) {
    assert!(ran.out.starts_with(file), "{}", ran.out);
    for line in ran.out.lines() {
        assert!(line.chars().count() <= COLUMNS, "{line}\nin:\n{}", ran.out);
    }
}

#[test]
fn answers_begin_with_the_file_and_fit_into_80_columns() {
    let scene = Scene::prepared("narrow");
    for words in [vec!["check", FILE], vec!["verify", FILE], vec!["schema", FILE]] {
        let ran = scene.run(&words);
        ran.expect_code(0);
        expect_narrow(&ran, FILE);
    }
    scene.change(FILE, |bytes| {
        bytes[PAGE_BYTES + 700] ^= 0x20;
        bytes[60 * PAGE_BYTES..61 * PAGE_BYTES].fill(0);
        bytes[70 * PAGE_BYTES + 9_000] ^= 3;
    });
    for verb in ["check", "verify"] {
        let ran = scene.run([verb, FILE]);
        ran.expect_code(1);
        expect_narrow(&ran, FILE);
    }
    for packed in databases() {
        let scene = Scene::new("narrow-sample");
        unpack(&packed, &scene);
        for verb in ["check", "verify", "schema"] {
            expect_narrow(&scene.run([verb, "sample.edb"]), "sample.edb");
        }
    }
}
