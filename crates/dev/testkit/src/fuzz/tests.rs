//! Runs every decoder on every file of its corpus and on mutations, for failures that random bytes
//! alone find quickly.

use std::fs;
use std::path::PathBuf;

use units::{Prng, Seed};

use super::Decoder;

/// One decoder and its name, which is also the name of its corpus folder.
struct Target {
    /// Folder under `fuzz/corpus`, and name of the fuzzing binary.
    name: &'static str,
    decoder: Decoder,
}

/// Every decoder that is fuzzed.
const TARGETS: [Target; 10] = [
    Target { name: "page", decoder: Decoder::Page },
    Target { name: "record", decoder: Decoder::Record },
    Target { name: "log_record", decoder: Decoder::LogRecord },
    Target { name: "header", decoder: Decoder::Header },
    Target { name: "flush_map", decoder: Decoder::FlushMap },
    Target { name: "plan", decoder: Decoder::Plan },
    Target { name: "array", decoder: Decoder::Array },
    Target { name: "journal", decoder: Decoder::Journal },
    Target { name: "jetstress", decoder: Decoder::Jetstress },
    Target { name: "iscsi", decoder: Decoder::Iscsi },
];

fn corpus(target: &Target) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.join("../../../fuzz/corpus").join(target.name)
}

#[test]
fn every_corpus_file_is_survived() {
    for target in &TARGETS {
        let folder = corpus(target);
        let files = fs::read_dir(&folder).unwrap_or_else(|error| {
            panic!("{}: {error}; each target has a corpus", folder.display())
        });
        let mut seen = 0;
        for file in files {
            let path = file.expect("a folder that lists can be read").path();
            target.decoder.run(&fs::read(&path).expect("corpus files can be read"));
            seen += 1;
        }
        assert!(seen > 0, "the corpus of {} is empty", target.name);
    }
}

#[test]
fn mutated_corpus_files_are_survived() {
    let mut prng = Prng::new(Seed(20));
    for target in &TARGETS {
        for file in fs::read_dir(corpus(target)).expect("each target has a corpus") {
            let path = file.expect("a folder that lists can be read").path();
            let original = fs::read(&path).expect("corpus files can be read");
            for _ in 0..200 {
                target.decoder.run(&mutated(&original, &mut prng));
            }
        }
    }
}

/// A copy with a few bytes changed and, in one case out of four, its end cut off.
fn mutated(original: &[u8], prng: &mut Prng) -> Vec<u8> {
    let mut bytes = original.to_vec();
    for _ in 0..=prng.below(4) {
        if !bytes.is_empty() {
            let at = usize::try_from(prng.below(bytes.len() as u64)).expect("an index");
            bytes[at] = prng.next_u64().to_le_bytes()[0];
        }
    }
    if prng.percent(25) {
        let keep = usize::try_from(prng.below(bytes.len() as u64 + 1)).expect("a length");
        bytes.truncate(keep);
    }
    bytes
}

/// Keeps the corpus useful: mutations of rejected inputs find little.
#[test]
fn log_records_of_the_corpus_are_records() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/log_record");
    for file in fs::read_dir(folder).expect("each target has a corpus") {
        let path = file.expect("a folder that lists can be read").path();
        let bytes = fs::read(&path).expect("corpus files can be read");
        assert!(wal::encoded_again(&bytes).is_some(), "{}", path.display());
    }
}
