//! Crashes at many instants: a log cut anywhere, replayed onto a file without a single page, gives
//! a database in which everything agrees.

use std::collections::BTreeMap;

use ese::Lgpos;
use ese::header::{DatabaseHeader, DatabaseState, read_copies};
use ese::page::PageSize;
use ese::reader::FileImage;
use ese::verify::{Report, verify};
use eselog::{LogFile, LogReplay, ReplaySummary};
use units::{Generation, PageNumber};

use crate::logs::{crash, logs};
use crate::memory::MemoryStore;

/// Default number of instants per set; `PLIMSOLL_INSTANTS` overrides it.
const USUAL: usize = 40;

/// Records before the first instant: they make the catalog.
const FIRST: usize = 600;

fn instants() -> usize {
    let stated = std::env::var("PLIMSOLL_INSTANTS").ok();
    stated.and_then(|text| text.parse().ok()).unwrap_or(USUAL)
}

/// The file that results from replaying the first `records` records onto an empty one.
fn cut_after(
    records: usize,
    files: &BTreeMap<String, Vec<u8>>,
    header: &DatabaseHeader,
    size: PageSize,
) -> (Vec<u8>, ReplaySummary) {
    let headers = usize::try_from(size.file_offset(PageNumber(1))).expect("small");
    let store = MemoryStore::new(vec![0; headers], size);
    let mut logs: Vec<LogFile<'_>> = logs(files).into_iter().map(|(_, log)| log).collect();
    logs.sort_by_key(LogFile::generation);
    let mut replay = LogReplay::new(store, header, 64 << 20);
    let mut left = records;
    for log in &logs {
        let survey = log.survey();
        for record in log.records(&survey).take(left) {
            left -= 1;
            let Ok(()) = replay.apply(&record.expect("a record"));
        }
    }
    let Ok(()) = replay.undo();
    let Ok((store, summary)) = replay.finish();
    (store.bytes, summary)
}

fn records(files: &BTreeMap<String, Vec<u8>>) -> usize {
    logs(files).iter().map(|(_, log)| log.records(&log.survey()).count()).sum()
}

fn examined(bytes: &[u8], header: &DatabaseHeader, summary: &ReplaySummary) -> Report {
    let header = DatabaseHeader {
        state: DatabaseState::CleanShutdown,
        generation_min_required: Generation(0),
        generation_max_required: Generation(0),
        dbtime: summary.dbtime,
        last_object: summary.last_object,
        ..header.clone()
    };
    let size = header.page_size().expect("a page size");
    let Ok(report) = verify(FileImage::new(bytes, size), &header);
    report
}

#[test]
fn a_crash_at_any_instant_leaves_a_database_in_which_everything_agrees() {
    for name in ["crashs16", "crash08"] {
        let Some(files) = crash(name) else {
            return;
        };
        let copies = read_copies(&files[&format!("{name}.edb")]).expect("a header");
        // The header before the first write of the file.
        let header = DatabaseHeader { dbtime: 0, last_resize_at: Lgpos::NONE, ..copies.header };
        let all = records(&files);
        for instant in 0..instants() {
            let cut = FIRST + (all - FIRST) * (instant + 1) / instants();
            let (bytes, summary) = cut_after(cut, &files, &header, copies.page_size);
            assert!(summary.behind.is_empty(), "{name} after {cut}: {:?}", summary.behind);
            let report = examined(&bytes, &header, &summary);
            let found: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
            assert_eq!(found, [""; 0], "{name} after {cut} records");
        }
    }
}
