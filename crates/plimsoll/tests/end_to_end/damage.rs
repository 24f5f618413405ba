//! Every kind of damage is named for what it is, with page and file; exit status 1; the file is
//! only read.

use crate::scene::{PAGE_BYTES, Ran, Scene};

const FILE: &str = "Plimsoll001.edb";

/// Where a page of the file begins.
const fn at(page: usize) -> usize {
    (page + 1) * PAGE_BYTES
}

/// Checks a prepared database after `change`.
fn check(name: &str, change: impl FnOnce(&mut Vec<u8>)) -> Ran {
    let scene = Scene::prepared(name);
    scene.change(FILE, change);
    let before = scene.read(FILE);
    let ran = scene.run(["check", FILE, "Plimsoll002.edb"]);
    assert!(scene.read(FILE) == before, "check writes nothing");
    ran
}

#[test]
fn sound_databases_pass() {
    check("sound", |_| {})
        .expect_code(0)
        .expect_out(&["Plimsoll001.edb", "Plimsoll002.edb"]);
}

#[test]
fn one_flipped_bit_is_located() {
    for (page, byte, bit) in [(40, 9_000, 3), (41, 100, 7), (200, PAGE_BYTES - 1, 0)] {
        check("one-bit", |bytes| bytes[at(page) + byte] ^= 1 << bit)
            .expect_code(1)
            .expect_out(&[&format!(
                "{FILE}: page {page}: one bit flipped at byte {byte} bit {bit}"
            )]);
    }
}

#[test]
fn two_flipped_bits_are_beyond_repair() {
    check("two-bits", |bytes| {
        bytes[at(40) + 9_000] ^= 1;
        bytes[at(40) + 9_001] ^= 1;
    })
    .expect_code(1)
    .expect_out(&[&format!("{FILE}: page 40: damaged beyond repair")]);
}

#[test]
fn swapped_pages_name_each_other() {
    check("swapped", |bytes| {
        let (first, second) = bytes.split_at_mut(at(60));
        first[at(50)..at(51)].swap_with_slice(&mut second[..PAGE_BYTES]);
    })
    .expect_code(1)
    .expect_out(&[
        &format!("{FILE}: page 50: holds page 60, and page 60 holds this one: swapped"),
        &format!("{FILE}: page 60: holds page 50, and page 50 holds this one: swapped"),
    ]);
}

#[test]
fn a_misdirected_write_is_named() {
    check("misdirected", |bytes| {
        bytes.copy_within(at(50)..at(51), at(60));
    })
    .expect_code(1)
    .expect_out(&[&format!(
        "{FILE}: page 60: holds page 50: a write went to the wrong place"
    )]);
}

#[test]
fn a_wiped_page_is_told_from_one_never_written() {
    check("wiped", |bytes| bytes[at(70)..at(71)].fill(0))
        .expect_code(1)
        .expect_out(&[&format!(
            "{FILE}: page 70: all zeros, but a tree points to it"
        )]);
}

#[test]
fn truncated_files_are_named() {
    check("cut-in-page", |bytes| bytes.truncate(at(100) + 5_000))
        .expect_code(1)
        .expect_out(&[&format!("{FILE}: truncated: the file ends inside page 100")]);
    check("cut-at-page", |bytes| bytes.truncate(at(101)))
        .expect_code(1)
        .expect_out(&[&format!(
            "{FILE}: truncated: the file ends with page 100, the database owns"
        )]);
}

#[test]
fn damaged_headers_are_named() {
    check("first-header", |bytes| bytes[..100].fill(0))
        .expect_code(1)
        .expect_out(&[&format!("{FILE}: the first copy of the header is damaged")]);
    check("second-header", |bytes| {
        bytes[PAGE_BYTES..PAGE_BYTES + 700].fill(0);
    })
    .expect_code(1)
    .expect_out(&[&format!("{FILE}: the second copy of the header is damaged")]);
    check("both-headers", |bytes| bytes[..2 * PAGE_BYTES].fill(0))
        .expect_code(1)
        .expect_out(&[&format!("{FILE}: both copies of the header are damaged")]);
    check("cut-in-header", |bytes| bytes.truncate(3_000))
        .expect_code(1)
        .expect_out(&[&format!("{FILE}: both copies of the header are damaged")]);
}

#[test]
fn programs_read_the_same_findings() {
    let scene = Scene::prepared("check-json");
    scene.change(FILE, |bytes| bytes[at(40) + 9_000] ^= 8);
    let ran = scene.run(["check", "--json", FILE]);
    ran.expect_code(1);
    let answer: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(answer[0]["bad"], 1);
    assert_eq!(answer[0]["correctable"], 1);
    assert_eq!(answer[0]["findings"][0]["page"], 40);
    assert_eq!(answer[0]["findings"][0]["kind"], "flipped_bit");
}
