//! Damaged logs: whatever the bytes are, choosing, reading and replaying them ends, never panics,
//! and stays within its memory and the copy. A flipped bit is named by file and segment.

use ese::header::{DatabaseHeader, HeaderCopies, read_copies};
use ese::reader::FileImage;
use ese::verify::verify;
use eselog::{Gap, LogChain, LogFile, LogMember, LogReplay, LogSet, ReplaySummary};
use testkit::forged_log::SEGMENT;
use testkit::log_mutants::{Files, at_most, is_log, mutate};
use units::{Prng, Seed};

use crate::logs::crash;
use crate::memory::MemoryStore;

/// Default number of mutants; `PLIMSOLL_MUTANTS` overrides it.
const USUAL: u64 = 60;
/// Memory that no replay needs.
const MOST_MEMORY_KIB: u64 = 512 << 10;

fn count() -> u64 {
    let stated = std::env::var("PLIMSOLL_MUTANTS").ok();
    stated.and_then(|text| text.parse().ok()).unwrap_or(USUAL)
}

/// The members that a command would find.
fn members(files: &Files) -> Vec<LogMember> {
    let logs = files.iter().filter(|(name, _)| is_log(name));
    let read = logs.filter_map(|(name, bytes)| {
        let file = LogFile::open(bytes).ok()?;
        Some(LogMember::of(name.clone(), &file))
    });
    read.collect()
}

/// Everything that `recover --lossy` does between reading and writing files.
fn recovered(files: &Files, database: &[u8], copies: &HeaderCopies) -> (Vec<u8>, ReplaySummary) {
    let header = &copies.header;
    let set = LogSet::of_stream(members(files), Some(header.log_signature));
    let chain = LogChain::of(&set, header);
    let store = MemoryStore::new(database.to_vec(), copies.page_size);
    let mut replay = LogReplay::new(store, header, 8 << 20);
    'files: for (_, name) in &chain.files {
        let file = LogFile::open(&files[name]).expect("it was a member");
        replay.enter(file.facts());
        for record in file.records(&file.survey()) {
            let Ok(record) = record else {
                break 'files;
            };
            let Ok(()) = replay.apply(&record);
        }
    }
    let Ok(()) = replay.undo();
    let Ok((store, summary)) = replay.finish();
    (store.bytes, summary)
}

/// Peak resident memory of this process.
fn peak_memory_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.trim().split(' ').next()?.parse().ok());
    number.unwrap_or_default()
}

#[test]
fn mutants_of_logs_are_replayed_without_a_panic() {
    let Some(files) = crash("crashs16") else {
        return;
    };
    let database = &files["crashs16.edb"];
    let copies = read_copies(database).expect("a header");
    let mut random = Prng::new(Seed(2_620));
    let (mut shorter, mut behind) = (0, 0);
    let whole = recovered(&files, database, &copies).1.records;
    for mutant in 0..count() {
        let mut files = files.clone();
        mutate(&mut files, &mut random);
        let (bytes, summary) = recovered(&files, database, &copies);
        shorter += u64::from(summary.records < whole);
        behind += u64::from(!summary.behind.is_empty());
        if mutant % 16 == 0 {
            let header = DatabaseHeader { dbtime: summary.dbtime, ..copies.header.clone() };
            let Ok(_) = verify(FileImage::new(&bytes, copies.page_size), &header);
        }
    }
    assert!(
        shorter > count() / 5 && behind > count() / 10,
        "of {} mutants only {shorter} were replayed in part, and {behind} left pages behind",
        count()
    );
    assert!(peak_memory_kib() < MOST_MEMORY_KIB, "{} KiB", peak_memory_kib());
}

#[test]
fn a_flipped_bit_is_named_by_file_and_segment() {
    let Some(files) = crash("crashs16") else {
        return;
    };
    let mut random = Prng::new(Seed(2_622));
    for _ in 0..count() {
        let name = ["edb00000001.log", "edb00000002.log", "edb.log"][at_most(3, &mut random)];
        let mut bytes = files[name].clone();
        let (at, bit) = (at_most(bytes.len(), &mut random), random.below(8));
        bytes[at] ^= 1 << bit;
        let segment = at / SEGMENT;
        let Ok(file) = LogFile::open(&bytes) else {
            assert_eq!(segment, 0, "{name} byte {at}: only a header makes a file unreadable");
            continue;
        };
        let survey = file.survey();
        let flipped = survey.flipped_bits.iter().map(|(segment, _)| *segment);
        let faults = survey.faults.iter().map(|fault| fault.segment);
        let named: Vec<u16> = flipped.chain(faults).chain(survey.torn).collect();
        assert_eq!(named, [u16::try_from(segment).expect("small")], "{name} byte {at} bit {bit}");
        let mut files = files.clone();
        files.insert(name.to_owned(), bytes);
        let set = LogSet::of(members(&files));
        let is_other =
            |gap: &&Gap| !matches!(gap, Gap::Damaged { name: found, .. } if found == name);
        assert_eq!(
            set.gaps().iter().filter(is_other).count(),
            0,
            "{name} byte {at} bit {bit}: {:?}",
            set.gaps()
        );
    }
}

#[test]
fn mutants_of_headers_are_refused_or_read() {
    let Some(files) = crash("crashs16") else {
        return;
    };
    let mut random = Prng::new(Seed(2_621));
    for _ in 0..count() {
        let mut bytes = files["edb.log"].clone();
        let at = usize::try_from(random.below(SEGMENT as u64)).expect("small");
        bytes[at] ^= 1 << random.below(8);
        assert!(LogFile::open(&bytes).is_err(), "byte {at}");
    }
}
