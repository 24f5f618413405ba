//! libiscsi's tests of targets, on ours and on tgt's.

use std::collections::BTreeSet;

use testkit::tgt::Tgt;

use super::initiators::{TARGET, serve};
use super::{peer, scene};
use crate::scene::Scene;

/// Bytes of the disk that tgt serves: as many as ours has.
const BYTES: u64 = super::VOLUME_BYTES;

/// Tests that ran, that failed, and the names of those.
struct Tally {
    ran: u32,
    failed: u32,
    names: BTreeSet<String>,
}

impl Tally {
    /// Reads the output of iscsi-test-cu, whose exit status is 0 even if tests fail.
    fn of(text: &str) -> Self {
        let (mut suite, mut test, mut names) = ("", "", BTreeSet::new());
        for line in text.lines().map(str::trim) {
            if let Some(name) = line.strip_prefix("Suite: ") {
                suite = name;
            } else if let Some(name) = line.strip_prefix("Test: ") {
                test = name.split(' ').next().unwrap_or_default();
            } else if line.starts_with("FAILED") {
                names.insert(format!("{suite}.{test}"));
            }
        }
        let summary = text.lines().find(|line| line.trim_start().starts_with("tests"));
        let words = summary.unwrap_or_else(|| panic!("{text}")).split_whitespace();
        let numbers: Vec<u32> = words.filter_map(|word| word.parse().ok()).collect();
        Self { ran: numbers[1], failed: numbers[3], names }
    }
}

fn judged(scene: &Scene, who: &str, lun: &str) -> Option<Tally> {
    let tally = Tally::of(&peer(scene, &["iscsi-test-cu", "-d", "-V", lun])?.out);
    let names: Vec<&str> = tally.names.iter().map(String::as_str).collect();
    eprintln!("{who}: {} of {} tests fail: {}", tally.failed, tally.ran, names.join(", "));
    Some(tally)
}

/// A minute and a half; `cargo xtask prove iscsi` runs it.
#[test]
#[ignore = "takes minutes; cargo xtask prove iscsi"]
fn libiscsi_finds_no_more_faults_than_in_tgt() {
    let scene = scene("cache-iscsi-suite");
    let (served, portal) = serve(&scene, &[]);
    let ours = judged(&scene, "plimsoll", &format!("{portal}/{TARGET}/0"));
    assert_eq!(served.stop(), 0);
    let (Some(ours), Some(target)) = (ours, Tgt::start(&scene.folder)) else {
        return;
    };
    target.add_lun(1, BYTES);
    let tgt = judged(&scene, "tgt", &target.address(None, 1)).expect("it ran before");
    assert!(ours.ran == tgt.ran && ours.failed <= tgt.failed, "more failures than tgt");
}

#[test]
fn failing_tests_are_counted_and_named() {
    let text = "Suite: Read10\n  Test: Simple ...\n passed\n  Test: 0blocks ...\nFAILED\n\nSuite: \
                Inquiry\n  Test: All ...FAILED\nRun Summary: Type Total Ran\n  tests 7 6 5 1 0\n";
    let tally = Tally::of(text);
    assert_eq!((tally.ran, tally.failed), (6, 1));
    assert_eq!(tally.names.into_iter().collect::<Vec<_>>(), ["Read10.0blocks"]);
}
