//! One page of each layout, byte for byte: the bytes on disk change only on purpose.
//!
//! `PLIMSOLL_BLESS=1 cargo test -p ese --test golden_page` rewrites the file.

use std::fmt::Write as _;

use ese::page::{PageMut, PageSize, encode_node, node_flags, page_flags};
use units::{ObjectId, PageNumber};

const GOLDEN: &str = include_str!("golden/page.txt");

fn page(size: PageSize) -> Vec<u8> {
    let mut bytes = vec![0; size.bytes()];
    let mut page = PageMut::new(&mut bytes);
    page.format(page_flags::LEAF, ObjectId(8));
    page.set_dbtime(0x0102_0304);
    page.set_links(PageNumber(32), PageNumber(34));
    page.set_external_header(b"\x7F\x80\0\0").expect("room");
    let mut node = Vec::new();
    for (line, (key, data)) in
        [(&b"\x7F\x80\0\0\x01"[..], &b"one"[..]), (b"\x7F\x81", b"two")].into_iter().enumerate()
    {
        node.clear();
        let flags = encode_node(b"\x7F\x80\0\0", key, data, &mut node);
        page.insert(line, flags, &node).expect("room");
    }
    page.set_node_flags(1, node_flags::DELETED).expect("a node");
    page.advance_flush_type();
    page.seal(PageNumber(33));
    bytes
}

/// The lines of a page that are not zero.
fn dump(size: PageSize) -> String {
    let mut text = format!("{size}\n");
    for (index, line) in page(size).chunks(16).enumerate() {
        if line.iter().any(|&byte| byte != 0) {
            write!(text, "{:5}", index * 16).expect("strings take everything");
            for byte in line {
                write!(text, " {byte:02x}").expect("strings take everything");
            }
            text.push('\n');
        }
    }
    text
}

#[test]
#[expect(clippy::disallowed_methods, reason = "blessing writes the golden file")]
fn pages_are_byte_for_byte_as_documented() {
    let actual = dump(PageSize::KIB_4) + "\n" + &dump(PageSize::KIB_32);
    if std::env::var_os("PLIMSOLL_BLESS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/page.txt");
        std::fs::write(path, &actual).expect("a writable repository");
    } else {
        assert_eq!(actual, GOLDEN);
    }
}
