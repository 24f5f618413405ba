//! Values compressed by a method that is not decoded: named, and given as they are stored.

use ese::header::{PROBE_BYTES, read_copies};
use ese::long_value::LongValueKey;
use ese::page::{PageMut, PageRef, encode_node};
use ese::reader::{FileImage, Reader};
use serde_json::Value;
use units::PageNumber;

use crate::scene::{PAGE_BYTES, Scene};

const FILE: &str = "Plimsoll001.edb";

/// Puts `stored` in place of the first part of the `nth` value on the first leaf of long values.
fn store(scene: &Scene, nth: usize, stored: &[u8]) {
    let bytes = scene.read(FILE);
    let size = read_copies(&bytes[..PROBE_BYTES]).unwrap().page_size;
    let reader = Reader::open(FileImage::new(&bytes, size)).unwrap();
    let place = reader.table("Messages").unwrap().long_values.unwrap();
    let range = |page: PageNumber| {
        let start = (page.0 as usize + 1) * PAGE_BYTES;
        start..start + PAGE_BYTES
    };
    let leaf = PageRef::new(&bytes[range(place.root)]).child(0).unwrap();
    scene.change(FILE, |bytes| {
        let mut page = PageMut::new(&mut bytes[range(leaf)]);
        let is_first = |line: &usize| {
            let key = page.as_ref().node(*line).unwrap().key();
            matches!(LongValueKey::decode(&key), Some(LongValueKey::Chunk(_, 0)))
        };
        let count = page.as_ref().node_count();
        let line = (0..count).filter(is_first).nth(nth).unwrap();
        let mut node = Vec::new();
        let key = page.as_ref().node(line).unwrap().key();
        let flags = encode_node(b"", &key, stored, &mut node);
        page.replace(line, flags, &node).unwrap();
        page.seal(leaf);
    });
}

#[test]
fn values_of_an_unknown_compression_are_named_and_given_as_stored() {
    let scene = Scene::prepared("compressed");
    for (nth, method, name) in [(0, 5, "XPRESS9 (number 5)"), (1, 6, "XPRESS10 (number 6)")] {
        let stored = [method << 3, 0xDE, 0xAD, 0xBE, 0xEF];
        store(&scene, nth, &stored);
        let words = ["export", FILE, "--table", "Messages", "--format", "jsonl"];
        let ran = scene.run(words);
        // Nothing is damaged, and something stays unknown.
        ran.expect_code(2);
        let count = ["1 value was not decoded", "2 values were not decoded"][nth];
        ran.expect_err(&["Messages, column LongPad: compressed by XPRESS9", count]);
        let row: Value = serde_json::from_str(ran.out.lines().nth(nth).unwrap()).unwrap();
        let value = &row["LongPad"];
        let reason = value["incomplete"].as_str().unwrap();
        assert!(reason.contains(name), "{value}");
        let hexadecimal = format!("{:02x}deadbeef", method << 3);
        assert_eq!(value["chunks"][0]["stored"], hexadecimal, "{value}");
    }
    let csv = scene.run(["export", FILE, "--table", "Messages"]);
    assert_eq!(csv.out.matches("compressed by XPRESS").count(), 2);
}
