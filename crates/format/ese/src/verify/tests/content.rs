//! Records, chunks of long values and flags that contradict themselves.

use super::world::{LONG_VALUE, primary_key, record};
use super::{after, found, node};
use crate::long_value::LongValueRoot;
use crate::page::page_flags;
use crate::reader::ReadError;
use crate::record::RecordError;
use crate::verify::Problem;

/// Bytes of the first chunk of the long value, which has 10,000.
const FIRST_CHUNK: u32 = 8150;

#[test]
fn a_last_variable_column_below_them_all_is_named() {
    let changed = after(31, |page| {
        let mut record = record(1);
        record[1] = 0x7E;
        page.replace(1, 0, &node(&primary_key(1), &record)).expect("same size");
    });
    let error = RecordError::Damaged { part: "last variable column" };
    let problem = Problem::Unreadable(ReadError::Record { error });
    assert_eq!(changed, [found("T", 31, problem)]);
}

#[test]
fn a_leaf_is_no_parent_of_leaves() {
    let changed = after(32, |page| {
        page.set_flags(page.as_ref().flags() | page_flags::PARENT_OF_LEAF);
    });
    assert!(matches!(changed[..], [(_, 32, Problem::WrongFlags { .. })]), "{changed:?}");
}

/// The findings if the second chunk of the long value, 1,850 bytes 0x80, is stored like this.
fn with_second_chunk(stored: &[u8]) -> Vec<(String, u32, Problem)> {
    after(37, |page| {
        page.replace(2, 0, &node(&LONG_VALUE.chunk_key(FIRST_CHUNK), stored)).expect("room");
    })
}

#[test]
fn chunks_unpack_to_the_bytes_of_their_place() {
    // LZ4: a byte, then 1,849 copies of it.
    let packed = [7 << 3, 58, 7, 0x1F, 0x80, 1, 0, 255, 255, 255, 255, 255, 255, 255, 45];
    assert_eq!(with_second_chunk(&packed), []);
    let (id, offset) = (LONG_VALUE, FIRST_CHUNK);
    let wrong = [found("T/long values", 37, Problem::LongValueChunk { id, offset })];
    assert_eq!(with_second_chunk(&[0x0D, 0x61, 0x31]), wrong, "two bytes");
    assert_eq!(with_second_chunk(&[11 << 3, 1, 2]), wrong, "no method");
    assert_eq!(with_second_chunk(&[3 << 3, 9, 0, 0, 0, 0, 0x80, 1, 0]), wrong, "no Xpress");
    // Xpress9 is not decoded, so there is nothing to report.
    assert_eq!(with_second_chunk(&[5 << 3, 1, 2]), []);
}

#[test]
fn chunks_that_an_application_has_encrypted_are_not_unpacked() {
    let encrypted = after(37, |page| {
        let root = LongValueRoot { references: 1, bytes: 10_000 };
        let data = [&root.encode()[..], &[1]].concat();
        page.replace(0, 0, &node(&LONG_VALUE.root_key(), &data)).expect("room");
        let key = LONG_VALUE.chunk_key(FIRST_CHUNK);
        page.replace(2, 0, &node(&key, &[11 << 3, 1, 2])).expect("room");
    });
    assert_eq!(encrypted, []);
}
