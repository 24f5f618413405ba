//! Databases of real engines, whole and damaged.

use std::io::Cursor;

use ese::page::PageMut;
use plimsoll_ese::{CatalogCopy, Database, State, Value};
use testkit::samples::{databases, unpacked};
use units::{PageNumber, Prng, Seed};

/// Total number of damaged copies.
const MUTANTS: usize = 2_000;

fn open(bytes: Vec<u8>) -> Option<Database> {
    Database::from_image(Cursor::new(bytes)).ok()
}

/// Counts rows and damage of all tables.
fn read_all(database: &mut Database) -> (u64, u64) {
    let (mut rows, mut damage) = (0, 0);
    for table in database.tables().to_vec() {
        for row in database.rows(&table).with_deleted() {
            match row {
                Ok(row) => {
                    let values = row.fields().flat_map(|(_, values)| values);
                    damage += values.filter(|value| matches!(value, Value::Incomplete(_))).count();
                    rows += 1;
                }
                Err(_) => damage += 1,
            }
        }
    }
    (rows, damage as u64)
}

#[test]
fn every_row_of_real_databases_is_read() {
    for packed in databases() {
        let name = packed.display();
        let mut database = open(unpacked(&packed).unwrap()).expect("a database");
        assert_eq!(database.header().state, State::Clean, "{name}");
        assert_eq!(database.catalog_copy(), CatalogCopy::First, "{name}");
        let found = database.verify();
        assert_eq!((found.problems, found.findings.len()), (0, 0), "{name}: {found:?}");
        let (rows, damage) = read_all(&mut database);
        assert!(rows >= found.rows && found.rows > 0, "{name}: {rows} rows, {}", found.rows);
        assert_eq!(damage, 0, "{name}");
        let (trees, lost) = database.space();
        assert!(lost.is_empty() && trees[0].table.is_empty(), "{name}: {lost:?}");
        let owned = trees[0].owned_pages;
        assert!(trees.iter().all(|tree| tree.owned_pages <= owned), "{name}");
    }
}

#[test]
fn chosen_columns_are_those_of_the_whole_row() {
    for packed in databases() {
        let mut database = open(unpacked(&packed).unwrap()).expect("a database");
        let table = database.tables().last().cloned().expect("a table");
        let Some(column) = table.columns().last().map(|column| column.name().to_owned()) else {
            continue;
        };
        let whole: Vec<_> = database.rows(&table).map(|row| row.unwrap()).collect();
        let chosen: Vec<_> =
            database.rows(&table).only(&[&column]).map(|row| row.unwrap()).collect();
        assert_eq!(whole.len(), chosen.len());
        for (whole, chosen) in whole.iter().zip(&chosen) {
            assert_eq!(whole.values(&column), chosen.values(&column));
            assert_eq!(chosen.fields().count(), 1);
        }
    }
}

#[test]
fn a_damaged_page_is_named_and_the_rest_is_read() {
    for packed in databases() {
        let mut bytes = unpacked(&packed).unwrap();
        let mut sound = open(bytes.clone()).expect("a database");
        let table = sound.tables().last().cloned().expect("a table");
        let Some(page) = sound.rows(&table).next().map(|row| row.unwrap().page) else {
            continue;
        };
        let page_bytes = sound.header().page_bytes;
        let start = (page as usize + 1) * page_bytes;
        bytes[start + page_bytes / 2..start + page_bytes].fill(0xA5);
        let mut damaged = open(bytes).expect("a database");
        let pages: Vec<_> =
            damaged.rows(&table).filter_map(Result::err).map(|damage| damage.page).collect();
        assert!(pages.contains(&Some(page)), "{}: {pages:?}, not {page}", packed.display());
        assert!(damaged.verify().findings.iter().any(|finding| finding.page == Some(page)));
    }
}

#[test]
fn a_flipped_bit_is_turned_back_and_its_page_named() {
    for packed in databases() {
        let mut bytes = unpacked(&packed).unwrap();
        let mut sound = open(bytes.clone()).expect("a database");
        let table = sound.tables().last().cloned().expect("a table");
        let Some(row) = sound.rows(&table).next().map(|row| row.unwrap()) else {
            continue;
        };
        let page_bytes = sound.header().page_bytes;
        bytes[(row.page as usize + 1) * page_bytes + page_bytes / 2] ^= 0x10;
        let mut flipped = open(bytes).expect("a database");
        assert_eq!(flipped.rows(&table).next(), Some(Ok(row.clone())));
        assert_eq!(flipped.corrected_pages(), [row.page]);
    }
}

#[test]
fn mutants_never_panic() {
    let small = databases().into_iter().map(|packed| unpacked(&packed).unwrap());
    let small: Vec<_> = small.filter(|bytes| bytes.len() <= 2 << 20).collect();
    let mut random = Prng::new(Seed(77));
    for mutant in 0..MUTANTS {
        let Some(of) = small.get(mutant % small.len().max(1)) else {
            return;
        };
        let mut bytes = of.clone();
        for _ in 0..=random.below(4) {
            mutate(&mut bytes, &mut random);
        }
        if let Some(mut database) = open(bytes) {
            read_all(&mut database);
            if mutant % 10 == 0 {
                database.verify();
                database.space();
            }
        }
    }
}

/// Damages a page and seals it again, so that more than its checksum is tried; now and then cuts
/// the file.
fn mutate(bytes: &mut Vec<u8>, random: &mut Prng) {
    const PAGE_BYTES: usize = 8192;
    if random.below(20) == 0 {
        bytes.truncate(below(random, bytes.len()));
        return;
    }
    let pages = bytes.len() / PAGE_BYTES;
    if pages < 4 {
        return;
    }
    let number = 2 + below(random, pages - 2);
    let page = &mut bytes[number * PAGE_BYTES..(number + 1) * PAGE_BYTES];
    for _ in 0..=random.below(3) {
        let near_an_end = if random.below(2) == 0 { 64 } else { PAGE_BYTES };
        let mut at = below(random, near_an_end);
        if random.below(2) == 0 {
            at = PAGE_BYTES - 1 - at;
        }
        [page[at], ..] = random.below(256).to_le_bytes();
    }
    let number = u32::try_from(number).expect("a small file");
    PageMut::new(page).seal(PageNumber(number - 1));
}

fn below(random: &mut Prng, end: usize) -> usize {
    usize::try_from(random.below(end as u64)).expect("below a length in memory")
}
