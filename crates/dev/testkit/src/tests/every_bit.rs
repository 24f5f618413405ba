//! Any single flipped bit of a page is located: tries every bit of pages of each kind and size with
//! the code of `check`.

use std::collections::BTreeMap;

use super::messages::Messages;
use crate::world::World;
use engine::bulk::{Amount, BulkOptions, load};
use ese::page::{PageRef, PageSize, page_flags};
use ese::page_state::PageDamage;
use ese::{LogTime, Signature};
use integrity::{Damage, Tally};
use trial::messages::definition;
use units::{PageNumber, Seed};

const FILE: &str = "mail.edb";

/// Bytes of a database of this page size, with branch pages in its trees.
fn database(page_size: PageSize) -> Vec<u8> {
    let world = World::new();
    let (runtime, volume) = (world.runtime(), world.volume());
    let signature = Signature::new(7, LogTime::from_unix_millis(1_600_000_000_000));
    let options = BulkOptions {
        page_size,
        amount: Amount::Rows(1_000),
        ..BulkOptions::new(definition(), signature)
    };
    let filled = world.run(async move {
        let mut source = Messages::new(Seed(3), 1_000, 5_000);
        load(&runtime, &volume, FILE, &options, &mut source, |_| {}).await
    });
    filled.expect("a fill in memory succeeds");
    world.bytes(FILE)
}

/// The page flags that affect the layout.
fn kind(page: PageRef<'_>) -> Option<u32> {
    const KINDS: u32 = page_flags::ROOT
        | page_flags::LEAF
        | page_flags::SPACE_TREE
        | page_flags::INDEX
        | page_flags::LONG_VALUE;
    (!page.is_uninitialised()).then(|| page.flags() & KINDS)
}

/// The first page of each kind, with its number.
fn one_of_each_kind(file: &[u8], size: PageSize) -> BTreeMap<u32, (PageNumber, &[u8])> {
    let mut found = BTreeMap::new();
    let pages = file.chunks(size.bytes()).skip(2);
    for (number, bytes) in (1..).map(PageNumber).zip(pages) {
        if let Some(kind) = kind(PageRef::new(bytes)) {
            found.entry(kind).or_insert((number, bytes));
        }
    }
    found
}

/// The verdict of `check` on one page of a file with `pages` pages.
fn judged(bytes: &[u8], size: PageSize, number: PageNumber, pages: u32) -> Option<Damage> {
    let mut tally = Tally::new(pages, None, None);
    tally.judge(bytes, size, number);
    tally.findings.pop().map(|finding| finding.damage)
}

/// Flips every bit of a page, one at a time; returns how often the page was taken for another page
/// of the file.
fn flip_every_bit(page: &[u8], size: PageSize, number: PageNumber, pages: u32) -> u32 {
    let mut bytes = page.to_vec();
    let mut ambiguous = 0;
    for bit in 0..size.bytes_u32() * 8 {
        let (at, mask) = (bit as usize / 8, 1 << (bit % 8));
        bytes[at] ^= mask;
        match judged(&bytes, size, number, pages) {
            Some(Damage::Page(PageDamage::FlippedBit { bits })) => {
                assert_eq!(bits, [bit], "page {number}");
            }
            Some(Damage::Page(
                PageDamage::FlippedZero { bit: found } | PageDamage::FlippedChecksum { bit: found },
            )) => {
                assert_eq!(found, bit, "page {number}");
            }
            // The number of a small page is stored only in its checksum.
            Some(Damage::Page(PageDamage::WrongNumber { really }))
                if size.is_small() && bit < 32 =>
            {
                assert_eq!(really.0 ^ number.0, 1 << bit, "page {number}");
                assert!(really.0 <= pages, "page {number}");
                ambiguous += 1;
            }
            other => panic!("page {number} of {size}, bit {bit}: {other:?}"),
        }
        bytes[at] ^= mask;
    }
    assert_eq!(judged(&bytes, size, number, pages), None);
    ambiguous
}

/// Tries every bit of one page for each of `most` kinds.
fn try_page_size(size: PageSize, most: usize) {
    let file = database(size);
    let pages = u32::try_from(file.len() / size.bytes() - 2).expect("a small file");
    let unwritten = flip_every_bit(&vec![0; size.bytes()], size, PageNumber(pages), pages);
    assert_eq!(unwritten, 0);
    let kinds = one_of_each_kind(&file, size);
    assert!(kinds.len() > 6, "trees, leaves and branches: {kinds:?}");
    for (number, bytes) in kinds.into_values().take(most) {
        let ambiguous = flip_every_bit(bytes, size, number, pages);
        // At most as many as the page numbers in the file have bits.
        let number_bits = if size.is_small() { pages.ilog2() + 1 } else { 0 };
        assert!(ambiguous <= number_bits, "{ambiguous} bits of page {number}");
    }
}

#[test]
fn every_bit_of_pages_of_4_kib_is_located() {
    try_page_size(PageSize::KIB_4, usize::MAX);
}

#[test]
fn every_bit_of_pages_of_8_kib_is_located() {
    try_page_size(PageSize::KIB_8, 2);
}

#[test]
fn every_bit_of_a_page_of_16_kib_is_located() {
    try_page_size(PageSize::KIB_16, 1);
}

#[test]
fn every_bit_of_a_page_of_32_kib_is_located() {
    try_page_size(PageSize::KIB_32, 1);
}

#[test]
#[ignore = "takes minutes: cargo xtask prove exhaustive"]
fn every_bit_of_every_kind_of_page_is_located() {
    for size in [PageSize::KIB_8, PageSize::KIB_16, PageSize::KIB_32] {
        try_page_size(size, usize::MAX);
    }
}
