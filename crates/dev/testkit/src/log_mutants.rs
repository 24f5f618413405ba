//! Damages sets of log files: bytes, fields, whole segments, headers and lengths. Half of the
//! damage comes with recomputed checksums, so that they do not reveal it.

use std::collections::BTreeMap;
use std::path::Path;

use units::Prng;

use crate::forged_log::{SEGMENT, seal, seal_header};

/// Files of a set, by name.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Replaces one byte.
fn change(byte: &mut u8, random: &mut Prng) {
    *byte = match random.below(5) {
        0 => 0xFF,
        1 => *byte ^ 1 << random.below(8),
        2 => byte.wrapping_add(1),
        3 => 0,
        _ => random.below(256).to_le_bytes()[0],
    };
}

/// Changes up to six bytes anywhere in the file. If `is_sealed`, their segments get new checksums,
/// so that these do not reveal the damage.
fn change_records(bytes: &mut [u8], generation: u32, is_sealed: bool, random: &mut Prng) {
    for _ in 0..=random.below(6) {
        let segment = at_most(255, random);
        let byte = segment * SEGMENT + at_most(SEGMENT, random);
        if let Some(byte) = bytes.get_mut(byte) {
            change(byte, random);
        }
        if is_sealed && (segment + 1) * SEGMENT <= bytes.len() && segment > 0 {
            seal(bytes, generation, segment);
        }
    }
}

/// Changes bytes of the first record in a segment: its type, session, page and times.
fn change_fields(bytes: &mut [u8], generation: u32, random: &mut Prng) {
    let segment = 1 + at_most(253, random);
    for _ in 0..=random.below(4) {
        change(&mut bytes[segment * SEGMENT + 40 + at_most(64, random)], random);
    }
    seal(bytes, generation, segment);
}

fn change_header(bytes: &mut [u8], random: &mut Prng) {
    change(&mut bytes[4 + at_most(720, random)], random);
    if random.below(2) == 0 {
        seal_header(bytes);
    }
}

fn exchange_segments(bytes: &mut [u8], generation: u32, random: &mut Prng) {
    let (one, other) = (1 + at_most(253, random), 1 + at_most(253, random));
    let copied = bytes[one * SEGMENT..(one + 1) * SEGMENT].to_vec();
    bytes[other * SEGMENT..(other + 1) * SEGMENT].copy_from_slice(&copied);
    if random.below(2) == 0 {
        seal(bytes, generation, other);
    }
}

/// A number below `most`.
pub fn at_most(most: usize, random: &mut Prng) -> usize {
    usize::try_from(random.below(most as u64)).expect("small")
}

/// Damages one file of a set, and returns its name.
pub fn mutate(files: &mut Files, random: &mut Prng) -> String {
    let names: Vec<String> = files.keys().filter(|name| is_log(name)).cloned().collect();
    let name = names[at_most(names.len(), random)].clone();
    let bytes = files.get_mut(&name).expect("a file");
    let stated: [u8; 4] = bytes[4..8].try_into().expect("a generation");
    let generation = u32::from_le_bytes(stated);
    match random.below(8) {
        0 | 1 => change_records(bytes, generation, true, random),
        2 => change_records(bytes, generation, false, random),
        3 | 4 => change_fields(bytes, generation, random),
        5 => change_header(bytes, random),
        6 => exchange_segments(bytes, generation, random),
        _ => bytes.truncate(at_most(256 * SEGMENT, random)),
    }
    name
}

/// Whether a file's name is that of a log.
pub fn is_log(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending == "log")
}
