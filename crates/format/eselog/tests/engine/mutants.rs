//! Damaged logs: whatever the bytes are, reading and replaying them ends and never panics.

use ese::header::read_copies;
use eselog::{LogFile, LogReplay};
use units::{Prng, Seed};

use crate::forge::{SEGMENT, seal};
use crate::logs::crash;
use crate::memory::MemoryStore;

/// Mutants of a usual run; `PLIMSOLL_MUTANTS` states another number.
const USUAL: u64 = 60;

fn count() -> u64 {
    let stated = std::env::var("PLIMSOLL_MUTANTS").ok();
    stated.and_then(|text| text.parse().ok()).unwrap_or(USUAL)
}

/// Changes a few bytes; of every second mutant, the segments are sealed again, so that the damage
/// gets past the checksums.
fn mutate(bytes: &mut [u8], generation: u32, is_sealed: bool, random: &mut Prng) {
    for _ in 0..=random.below(6) {
        let segment = 1 + random.below(120);
        let at = segment * SEGMENT as u64 + 40 + random.below(SEGMENT as u64 - 40);
        let at = usize::try_from(at).expect("within the file");
        bytes[at] = match random.below(4) {
            0 => 0xFF,
            1 => bytes[at] ^ 1 << random.below(8),
            2 => bytes[at].wrapping_add(1),
            _ => random.below(256).to_le_bytes()[0],
        };
        if is_sealed {
            seal(bytes, generation, usize::try_from(segment).expect("small"));
        }
    }
}

#[test]
fn mutants_of_logs_are_read_and_replayed_without_a_panic() {
    let Some(files) = crash("crashs16") else {
        return;
    };
    let database = &files["crashs16.edb"];
    let copies = read_copies(database).expect("a header");
    let mut random = Prng::new(Seed(2_620));
    let (mut behind, mut bad) = (0, 0);
    for mutant in 0..count() {
        let (name, generation) =
            if mutant % 2 == 0 { ("edb.log", 3) } else { ("edb00000002.log", 2) };
        let mut bytes = files[name].clone();
        mutate(&mut bytes, generation, mutant % 4 < 2, &mut random);
        let log = LogFile::open(&bytes).expect("its header is sound");
        let survey = log.survey();
        let store = MemoryStore { bytes: database.clone(), size: copies.page_size };
        let mut replay = LogReplay::new(store, &copies.header, 8 << 20);
        for record in log.records(&survey) {
            match record {
                Ok(record) => {
                    let Ok(()) = replay.apply(&record);
                }
                Err(_) => bad += 1,
            }
        }
        let Ok(()) = replay.undo();
        let Ok((_, summary)) = replay.finish();
        behind += summary.behind.len();
    }
    assert!(behind + bad > 0, "no mutant was noticed");
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
