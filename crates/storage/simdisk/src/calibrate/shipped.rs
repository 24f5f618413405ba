//! Checks built-in arrays against a golden file: the eleven loads on each. After an intended
//! change, renew it with `GOLDEN=renew cargo test -p simdisk shipped`, and read the diff before
//! committing it.

use std::fmt::Write as _;
use std::path::Path;

use super::loads::PROBE_LOADS;
use super::replay::mean_latency;
use crate::description::ArrayDescription;

const GOLDEN: &str = include_str!("../../golden/arrays.txt");

/// Range of the loads in bytes: much larger than any cache.
const SPAN: u64 = 200 << 30;

fn table() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../arrays");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder of arrays")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    let mut table = String::new();
    for path in paths {
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("a description");
        let array = ArrayDescription::parse(&name, &text, &[]).expect("a description");
        let model = array.model(&name).expect("an array");
        for load in PROBE_LOADS {
            let microseconds = mean_latency(&model, load, SPAN.min(model.capacity())) / 1e3;
            let load = load.to_string();
            writeln!(table, "{name:<24} {load:<42} {microseconds:>9.1} us").expect("a text");
        }
    }
    table
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a golden file is renewed by the test that reads it")]
fn arrays_that_come_with_the_program_answer_as_before() {
    let table = table();
    if std::env::var_os("GOLDEN").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/arrays.txt");
        std::fs::write(path, table).expect("the golden file can be written");
        return;
    }
    for (golden, actual) in GOLDEN.lines().zip(table.lines()) {
        assert_eq!(golden, actual);
    }
    assert_eq!(GOLDEN.len(), table.len(), "one is longer than the other");
}
