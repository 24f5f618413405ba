//! The independent readers must agree with each other on files of real engines before they judge
//! our files.

use std::path::{Path, PathBuf};

use testkit::peers::{LongValues, PythonReader, PythonReaders, read_with_libesedb};
use testkit::samples;

/// Unpacks the sample database `name`; if it is missing, reports that the test is skipped and
/// returns `None`.
fn unpacked(name: &str) -> Option<PathBuf> {
    let packed = samples::find(&format!("{name}.gz"))?;
    let bytes = samples::unpacked(&packed).expect("gzip");
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&file, bytes).expect("the target folder is writable");
    Some(file)
}

#[test]
fn three_readers_see_the_same_records() {
    let Some(python) = PythonReaders::from_environment("three_readers_see_the_same_records") else {
        return;
    };
    // Tables without null fixed columns (impacket reads those as zeros) and without text.
    let cases = [
        ("basic.edb", "MSysObjids", 7),
        ("basic.edb", "MSysLocales", 7),
        ("sf_test.edb", "MSysObjids", 8),
        ("sf_decompress_test.edb", "MSysObjids", 7),
    ];
    for (name, table, rows) in cases {
        let Some(file) = unpacked(name) else {
            continue;
        };
        let ours = read_with_libesedb(&file, table, LongValues::Follow).expect("libesedb opens it");
        assert_eq!(ours.records.count, rows, "{name} {table}");
        for reader in [PythonReader::Dissect, PythonReader::Impacket] {
            let theirs = python.read(reader, &file, table).expect("it opens it");
            assert_eq!(ours.differences(&theirs), Vec::<String>::new(), "{name}");
        }
    }
}
