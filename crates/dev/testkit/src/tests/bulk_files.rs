//! Files that the bulk load makes, read by independent readers and by our own.

use super::messages::Messages;
use crate::pages;
use crate::peers::{LongValues, PythonReader, PythonReaders, read_with_libesedb};
use crate::world::World;
use engine::bulk::{Amount, BulkOptions, BulkSummary, load};
use ese::header::DatabaseState;
use ese::page::PageSize;
use ese::{LogTime, Signature};
use trial::messages::{TABLE, definition};
use units::{Bytes, Seed};

const FILE: &str = "mail.edb";

/// Rows of the catalog, its shadow and the list of objects.
const SYSTEM_ROWS: u64 = 166;

fn fill(options: BulkOptions, messages: Messages) -> (World, BulkSummary) {
    let world = World::new();
    let (runtime, volume) = (world.runtime(), world.volume());
    let summary = world.run(async move {
        let mut source = messages;
        load(&runtime, &volume, FILE, &options, &mut source, |_| {}).await
    });
    (world, summary.expect("a fill in memory succeeds"))
}

fn options(page_size: PageSize, rows: u64) -> BulkOptions {
    let signature = Signature::new(7, LogTime::from_unix_millis(1_600_000_000_000));
    BulkOptions {
        page_size,
        amount: Amount::Rows(rows),
        ..BulkOptions::new(definition(), signature)
    }
}

#[test]
fn every_page_of_every_size_is_good() {
    for size in PageSize::ALL {
        for rows in [0, 1, 5, 3_000] {
            let messages = Messages::new(Seed(3), rows, 5_000);
            let (world, summary) = fill(options(size, rows), messages);
            let (copies, initialised) =
                pages::all_good(&world.image().files[FILE]).expect("every page is good");
            let report = pages::examine(&world.bytes(FILE)).expect("every tree is whole");
            assert_eq!((report.rows, report.long_values), (rows + SYSTEM_ROWS, rows));
            assert_eq!(copies.page_size, size);
            assert_eq!(copies.header.state, DatabaseState::CleanShutdown);
            assert_eq!((summary.rows, summary.long_values), (rows, rows));
            assert_eq!(initialised as u64, summary.pages_written, "{size}, {rows} rows");
        }
    }
}

#[test]
fn a_file_of_a_given_length_is_as_long_as_that_and_nearly_full() {
    let length = Bytes::from_mib(48);
    let options = BulkOptions {
        amount: Amount::File(length),
        reserve: Bytes::from_mib(4),
        ..options(PageSize::KIB_32, 0)
    };
    let (world, summary) = fill(options, Messages::new(Seed(4), u64::MAX, 4_000));
    assert_eq!((summary.bytes, world.bytes(FILE).len() as u64), (length, length.0));
    let written = summary.pages_written * 32_768;
    assert!(written > Bytes::from_mib(36).0, "only {} written", Bytes(written));
    assert!(written < Bytes::from_mib(44).0, "{} written", Bytes(written));
}

#[test]
fn libesedb_sees_every_row() {
    for (size, rows, long_values) in [
        (PageSize::KIB_4, 20_000, LongValues::Skip),
        (PageSize::KIB_4, 200, LongValues::Follow),
        (PageSize::KIB_32, 20_000, LongValues::Skip),
        (PageSize::KIB_32, 500, LongValues::Follow),
    ] {
        let messages = Messages::new(Seed(5), rows, if rows > 1_000 { 100 } else { 9_000 });
        let (world, _) = fill(options(size, rows), messages.clone());
        let file = exported(&world, "libesedb", size);
        let seen = read_with_libesedb(&file, TABLE, long_values).expect("libesedb reads it");
        assert_eq!(messages.digest().differences(&seen), Vec::<String>::new());
    }
}

#[test]
fn dissect_and_impacket_see_every_row() {
    let Some(python) = PythonReaders::from_environment("dissect_and_impacket_see_every_row") else {
        return;
    };
    for size in PageSize::ALL {
        for rows in [0, 1_500] {
            let messages = Messages::new(Seed(6), rows, 9_000);
            let (world, _) = fill(options(size, rows), messages.clone());
            let file = exported(&world, "python", size);
            for reader in [PythonReader::Dissect, PythonReader::Impacket] {
                let seen = python.read(reader, &file, TABLE).expect("it reads it");
                let differences = messages.clone().digest().differences(&seen);
                assert_eq!(differences, Vec::<String>::new(), "{size}, {rows} rows");
            }
        }
    }
}

fn exported(world: &World, reader: &str, size: PageSize) -> std::path::PathBuf {
    let name = format!("bulk-{reader}-{}", size.bytes());
    let folder = scratch().join(name);
    std::fs::create_dir_all(&folder).expect("the target folder is writable");
    world.export(FILE, &folder)
}

/// The scratch folder of the build, which cargo names only to tests outside a library.
fn scratch() -> std::path::PathBuf {
    let program = std::env::current_exe().expect("a running program has a path");
    let target = program.ancestors().nth(3).expect("programs of tests are in target/PROFILE/deps");
    target.join("tmp")
}
