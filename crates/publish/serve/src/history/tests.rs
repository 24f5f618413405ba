use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use super::History;
use crate::runs::known::{JournalStamp, Known};
use crate::summary::{RunLine, Tone, VolumeIdentity};

type Runs = BTreeMap<String, (JournalStamp, Known)>;

/// A folder used by a single test; removed at its end.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A separate file for one test, in a folder that does not exist yet.
fn file(name: &str) -> (Scratch, PathBuf) {
    let folder = std::env::temp_dir().join(format!("plimsoll-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    let file = folder.join("below").join("history.sqlite");
    (Scratch(folder), file)
}

fn line() -> RunLine {
    let volume = |mount: &str| VolumeIdentity {
        machine: "mbx-01".to_owned(),
        mount: mount.to_owned(),
        model: "Shelf".to_owned(),
        size_bytes: 1 << 40,
    };
    RunLine {
        name: "array 'a\"".to_owned(),
        tags: vec!["rack-3".to_owned(), "x".to_owned()],
        machine: "mbx-01".to_owned(),
        test: "Performance".to_owned(),
        started_ns: Some(1_795_219_200_000_000_000),
        verdict: "Pass".to_owned(),
        tone: Tone::Pass,
        outcome: Some("pass".to_owned()),
        simulated: Some("nvme".to_owned()),
        is_cut_off: true,
        margin_percent: Some(-12.5),
        work: "Performance; target IOPS: 300".to_owned(),
        iops: Some(337.25),
        backup_mib_per_second: Some(412.5),
        read_ms: Some(8.5),
        sampled_reads: Some(verdict::SampledMean::of_numbers([8.4, 0.25, 11.5])),
        volumes: vec![volume("/mnt/a"), volume("/mnt/b")],
        ..RunLine::default()
    }
}

fn some() -> Runs {
    let stamp = |bytes| JournalStamp { bytes, changed_ns: Some(7), labelled_ns: Some(8) };
    [
        ("a".to_owned(), (stamp(1), Known::Summary(Arc::new(line())))),
        ("b".to_owned(), (stamp(2), Known::Unreadable("no journal".to_owned()))),
    ]
    .into()
}

/// The state after a start of the server.
fn found(file: &std::path::Path) -> Runs {
    let (_, past) = History::open(file).unwrap();
    past.into_iter().map(|(id, run)| (id, (run.stamp, run.known))).collect()
}

#[test]
fn what_is_kept_is_found_again_and_what_is_gone_is_not() {
    let (_scratch, file) = file("kept");
    let (mut history, past) = History::open(&file).unwrap();
    assert!(past.is_empty());
    let mut runs = some();
    history.keep(&runs).unwrap();
    assert_eq!(found(&file), runs);
    runs.remove("b");
    runs.get_mut("a").unwrap().0.bytes = 9;
    history.keep(&runs).unwrap();
    assert_eq!(found(&file), runs);
}

#[test]
fn a_file_that_is_damaged_or_of_another_release_is_made_anew() {
    let (_scratch, file) = file("damaged");
    let keep = || History::open(&file).unwrap().0.keep(&some()).unwrap();
    keep();
    assert_eq!(found(&file).len(), 2);
    let whole = fs::read(&file).unwrap();
    let mut torn = whole.clone();
    torn[4096..8192].fill(0x5a);
    let spoilt = [b"no database".to_vec(), torn, whole[..5000].to_vec(), Vec::new()];
    for bytes in spoilt {
        fs::write(&file, bytes).unwrap();
        assert_eq!(found(&file), Runs::new());
        keep();
        assert_eq!(found(&file), some());
    }
    let connection = rusqlite::Connection::open(&file).unwrap();
    connection.execute("UPDATE made_by SET layout = 'of another release'", []).unwrap();
    assert_eq!(found(&file), Runs::new());
}

#[test]
fn where_no_file_can_be_made_the_reason_names_it() {
    let (_scratch, file) = file("refused");
    fs::create_dir_all(file.parent().unwrap().parent().unwrap()).unwrap();
    fs::write(file.parent().unwrap(), b"a file in place of the folder").unwrap();
    let why = History::open(&file).err().unwrap();
    assert!(why.contains("history.sqlite"), "{why}");
}

#[cfg(unix)]
#[test]
fn only_the_owner_reads_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let (_scratch, file) = file("private");
    History::open(&file).unwrap();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}
