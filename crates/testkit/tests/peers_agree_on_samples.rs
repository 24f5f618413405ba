//! The peers agree with each other on files that real engines wrote: before they judge our files,
//! they are judged themselves.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::peers::{LongValues, PythonReader, PythonReaders, read_with_libesedb};

/// A folder of uncompressed samples, or none with a message where the samples are absent.
fn samples() -> Option<PathBuf> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples");
    let folder = std::env::var_os("PLIMSOLL_SAMPLES").map_or(shared, PathBuf::from);
    if folder.join("basic.edb.gz").exists() {
        return Some(folder);
    }
    let _ = writeln!(
        std::io::stderr(),
        "skipped: no samples in {}; set PLIMSOLL_SAMPLES",
        folder.display()
    );
    None
}

fn unpacked(folder: &Path, name: &str) -> PathBuf {
    let output = Command::new("gzip")
        .arg("-dc")
        .arg(folder.join(name).with_extension("edb.gz"))
        .output()
        .expect("gzip runs");
    assert!(output.status.success(), "{name} is not a gzip file");
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&file, output.stdout).expect("the target folder is writable");
    file
}

#[test]
fn three_readers_see_the_same_records() {
    let Some(samples) = samples() else { return };
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
        let file = unpacked(&samples, name);
        let ours = read_with_libesedb(&file, table, LongValues::Follow).expect("libesedb opens it");
        assert_eq!(ours.records.count, rows, "{name} {table}");
        for reader in [PythonReader::Dissect, PythonReader::Impacket] {
            let theirs = python.read(reader, &file, table).expect("it opens it");
            assert_eq!(ours.differences(&theirs), Vec::<String>::new(), "{name}");
        }
    }
}
