//! The bytes of a small log with every kind of record: logs of old builds must stay readable, so
//! the bytes change only together with the version of the records.

use std::fmt::Write as _;

use device::{FileImage, VolumeImage};
use ese::log_file::SegmentSize;
use units::{Bytes, ObjectId, PageNumber};

use super::{World, identity, open_log, place, read_all, small_buffers_of};
use crate::edit::{ApplyRecord, PageEdit, PageEdits, TransactionId, Undo, UndoAction};
use crate::{Log, LogChain, LogReader, LogRecord};

const GOLDEN: &str = include_str!("golden/log.txt");
/// The same records in segments of 512 bytes.
const GOLDEN_512: &str = include_str!("golden/log_512.txt");

/// Message for a golden file that differs.
const ADVICE: &str = "the log's bytes have changed: old logs could not be replayed. If that is \
                      meant, give the records a new version and replace the files in golden";

fn edits() -> Vec<PageEdit> {
    let node = |bytes: &[u8]| bytes.to_vec();
    vec![
        PageEdit::Format { flags: 0x2802, objid: ObjectId(300) },
        PageEdit::External(node(&[0xA1; 16])),
        PageEdit::Links { previous: PageNumber(41), next: PageNumber(43) },
        PageEdit::Insert { line: 0, flags: 1, node: node(&[1, 0, 0xB1, 0xB2]) },
        PageEdit::Replace { line: 0, node: node(&[1, 0, 0xB1, 0xC2, 0xC3]) },
        PageEdit::Remove { line: 7, count: 2 },
        PageEdit::NodeFlags { line: 0, flags: 2 },
        PageEdit::PageFlags(0x2803),
        PageEdit::DeltaU32 { line: 0, offset: 4, delta: -1 },
    ]
}

fn undos() -> Vec<Undo> {
    let tree = ObjectId(300);
    let (key, data) = (b"a long key".to_vec(), b"data".to_vec());
    vec![
        Undo::InsertRow { tree, key: b"a long row".to_vec() },
        Undo::Insert { tree, key: key.clone(), data: data.clone() },
        Undo::FlagDelete { tree, key: key.clone(), data: Vec::new() },
        Undo::Revive { tree, key: key.clone(), data },
        Undo::Replace { tree, key, before: b"what it was".to_vec() },
        Undo::LongValueInsert { tree, long_value: 5 },
        Undo::LongValueRelease { tree, long_value: 6 },
    ]
}

fn apply(dbtime: u64, edits: Vec<PageEdit>, undo: UndoAction) -> LogRecord {
    LogRecord::Apply(ApplyRecord {
        transaction: TransactionId(9),
        dbtime,
        pages: vec![PageEdits { page: PageNumber(42), dbtime_before: dbtime - 200, edits }],
        undo,
    })
}

/// One of each kind of record; one is too long for the rest of its segment.
fn records() -> Vec<LogRecord> {
    let (database, transaction) = (identity().database.random, TransactionId(9));
    let long = vec![PageEdit::External(vec![0xEE; 4200])];
    vec![
        LogRecord::Attach { database, dbtime: 1000 },
        LogRecord::Begin { transaction },
        apply(1200, edits(), UndoAction::Push(undos())),
        apply(1400, long, UndoAction::Pop),
        apply(1600, Vec::new(), UndoAction::None),
        LogRecord::Commit { transaction },
        LogRecord::Rollback { transaction: TransactionId(10) },
        LogRecord::Extend { length: Bytes(12 << 20) },
        LogRecord::Detach { database, dbtime: 1600 },
    ]
}

/// Writes sixteen bytes a line, omitting lines that repeat the one above, as in `hexdump`.
fn dump_bytes(bytes: &[u8], out: &mut String) {
    let mut last: &[u8] = &[];
    for (line, bytes) in bytes.chunks(16).enumerate() {
        if bytes != last {
            write!(out, "{:06x}", line * 16).unwrap();
            for byte in bytes {
                write!(out, " {byte:02x}").unwrap();
            }
            out.push('\n');
        }
        last = bytes;
    }
}

/// The decoded records, then the bytes of the file and of the checkpoint.
fn dump(size: SegmentSize) -> String {
    let world = World::of(&VolumeImage::default());
    let (found, end) = world.run(move |runtime, folder| async move {
        let log = Log::create(&runtime, folder.clone(), identity(), small_buffers_of(size));
        let log = log.await.unwrap();
        for record in &records() {
            log.append(record).unwrap();
        }
        log.flush_to(log.tip()).await.unwrap();
        log.advance_checkpoint(log.durable()).await.unwrap();
        log.close().await.unwrap();
        let chain = LogChain::find(&folder).await.unwrap().unwrap();
        let mut reader = LogReader::open(chain, place(1, 1, 0)).await.unwrap();
        let mut found = Vec::new();
        while let Some(record) = reader.next().await.unwrap() {
            found.push(record);
        }
        (found, size.offset(reader.end().last_segment + 1))
    });
    let read: Vec<_> = found.iter().map(|(_, record)| record.clone()).collect();
    assert_eq!(read, records());
    let mut out = String::new();
    for (span, record) in found {
        let mut text = format!("{record:?}");
        // A long run of one byte carries no information.
        text = text.replace(&"238, ".repeat(4199), "");
        writeln!(out, "{} {text}", span.start).unwrap();
    }
    let files = world.memory.image().files;
    let end = usize::try_from(end).unwrap();
    for (name, length) in [("E00.plg", end), ("E00.pck", 8192)] {
        let bytes = files[name].to_vec();
        writeln!(out, "\n{name}").unwrap();
        dump_bytes(&bytes[..length], &mut out);
    }
    out
}

fn require_same(found: &str, golden: &str) {
    let differs = found.lines().zip(golden.lines()).find(|(now, then)| now != then);
    assert_eq!(differs, None, "{ADVICE}");
    assert_eq!(found.lines().count(), golden.lines().count(), "{ADVICE}");
}

#[test]
fn the_bytes_of_a_log_are_those_of_the_golden_file() {
    require_same(&dump(SegmentSize::Bytes4096), GOLDEN);
    require_same(&dump(SegmentSize::Bytes512), GOLDEN_512);
}

/// The bytes of a file as written by [`dump_bytes`], padded with zeros to `length` bytes.
fn undump(golden: &str, file: &str, length: usize) -> Vec<u8> {
    let lines = golden.lines().skip_while(|line| *line != file).skip(1);
    let mut bytes: Vec<u8> = Vec::new();
    for line in lines.take_while(|line| !line.is_empty()) {
        let (at, values) = line.split_once(' ').unwrap();
        let at = usize::from_str_radix(at, 16).unwrap();
        let last = bytes.last_chunk::<16>().copied().unwrap_or_default();
        while bytes.len() < at {
            bytes.extend(last);
        }
        let values = values.split(' ').map(|byte| u8::from_str_radix(byte, 16));
        bytes.extend(values.map(Result::unwrap));
    }
    bytes.resize(length, 0);
    bytes
}

/// Earlier builds wrote only logs with segments of 4 KiB.
#[test]
fn a_log_that_an_earlier_build_wrote_is_read_and_gone_on_with() {
    let mut image = VolumeImage::default();
    for (file, length) in [("E00.plg", 1 << 20), ("E00.pck", 8192)] {
        let bytes = undump(GOLDEN, file, length);
        image.files.insert(file.to_owned(), FileImage::of(&bytes));
    }
    let world = World::of(&image);
    let found = world.run(|_, folder| read_all(folder, place(1, 1, 0)));
    assert_eq!(found, Ok(records()));
    let more = LogRecord::Begin { transaction: TransactionId(77) };
    let added = more.clone();
    let found = world.run(|runtime, folder| async move {
        let settings = small_buffers_of(SegmentSize::Bytes512);
        let log = open_log(&runtime, folder.clone(), identity(), settings);
        let log = log.await.unwrap();
        log.append(&added).unwrap();
        log.flush_to(log.tip()).await.unwrap();
        log.close().await.unwrap();
        read_all(folder, place(1, 1, 0)).await
    });
    assert_eq!(found, Ok([records(), vec![more]].concat()));
}
