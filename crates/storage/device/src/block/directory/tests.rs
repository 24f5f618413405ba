use std::collections::BTreeMap;

use super::{Directory, PlacedFile, UnitRange};
use crate::block::UNIT;
use crate::block::directory::DATA_BEGIN;

fn entry(length: u64, extents: &[(u32, u32)]) -> PlacedFile {
    let extents = extents.iter().map(|&(first, count)| UnitRange { first, count });
    PlacedFile { length, extents: extents.collect() }
}

fn directory(files: &[(&str, PlacedFile)]) -> Directory {
    let files = files.iter().map(|(name, entry)| ((*name).to_owned(), entry.clone()));
    Directory { sequence: 9, files: files.collect::<BTreeMap<_, _>>() }
}

#[test]
fn bytes_give_the_directory_back_and_no_flipped_bit_passes() {
    let files = [("a", entry(5, &[(0, 1)])), ("log/E00.plg", entry(3 * UNIT, &[(7, 2), (2, 1)]))];
    let directory = directory(&files);
    let bytes = directory.encode(&[1; 16]).unwrap();
    assert_eq!(Directory::decode(&bytes, &[1; 16], 9).as_ref(), Some(&directory));
    assert_eq!(Directory::decode(&bytes, &[2; 16], 9), None, "another volume");
    let used = Directory::used_bytes(&bytes).unwrap();
    for bit in 0..used * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(Directory::decode(&flipped, &[1; 16], 9), None, "bit {bit}");
        assert_eq!(Directory::decode(&bytes[..bit / 8], &[1; 16], 9), None, "cut at {bit}");
    }
}

/// The bytes of docs/format-volume.md.
#[test]
fn the_layout_stays_as_it_is() {
    let bytes = directory(&[("ab", entry(0x0102, &[(3, 1)]))]).encode(&[0xEE; 16]).unwrap();
    let hex = |range: std::ops::Range<usize>| {
        bytes[range].iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
    };
    assert_eq!(hex(0..8), "504c494d53444952", "magic");
    assert_eq!(hex(8..16), "2af1b4aa0581b1fb", "checksum");
    assert_eq!(hex(16..32), "ee".repeat(16), "identity");
    assert_eq!(hex(32..48), "09000000000000004700000001000000", "sequence, bytes, files");
    assert_eq!(hex(48..59), "0261620201000000000000", "name, length");
    assert_eq!(hex(59..71), "010000000300000001000000", "extents");
    assert_eq!((hex(71..72), bytes.len()), ("00".to_owned(), 4_096));
}

#[test]
fn a_directory_that_makes_no_sense_is_not_believed() {
    for (why, files) in [
        ("beyond the volume", vec![("a", entry(1, &[(8, 2)]))]),
        ("two owners", vec![("a", entry(1, &[(0, 2)])), ("b", entry(1, &[(1, 1)]))]),
        ("the same extent twice", vec![("a", entry(1, &[(3, 1), (3, 1)]))]),
        ("no room for its length", vec![("a", entry(UNIT + 1, &[(0, 1)]))]),
        ("an empty extent", vec![("a", entry(0, &[(0, 0)]))]),
        ("no name", vec![("", entry(0, &[]))]),
    ] {
        let bytes = directory(&files).encode(&[1; 16]).unwrap();
        assert_eq!(Directory::decode(&bytes, &[1; 16], 9), None, "{why}");
    }
}

#[test]
fn bytes_of_a_file_are_found_across_its_extents() {
    let mut file = entry(3 * UNIT, &[(7, 1), (2, 2)]);
    let at = |unit: u64| DATA_BEGIN + unit * UNIT;
    assert_eq!(file.pieces(512..1_024), [(at(7) + 512, 0..512)]);
    let across = [(at(8) - 512, 0..512), (at(2), 512..1_536)];
    assert_eq!(file.pieces(UNIT - 512..UNIT + 1_024), across);
    file.append(vec![UnitRange { first: 4, count: 3 }, UnitRange { first: 0, count: 1 }]);
    assert_eq!(file, entry(3 * UNIT, &[(7, 1), (2, 5), (0, 1)]));
    file.cut(2);
    assert_eq!(file, entry(3 * UNIT, &[(7, 1), (2, 1)]));
}
