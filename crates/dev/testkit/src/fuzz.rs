//! Fuzzing targets: every decoder of bytes from outside.
//!
//! The fuzzing package under `fuzz/` runs them until its time is up; the tests run them once for
//! every file of the corpus, so a finding stays found on every machine.

use ese::flush_map::FlushMap;
use ese::header::read_copies;
use ese::page::{PageMut, PageRef, PageSize};
use ese::record::RecordRef;
use units::ObjectId;

#[cfg(test)]
mod tests;

/// A decoder of bytes from outside.
#[derive(Clone, Copy, Debug)]
pub enum Decoder {
    /// A page of a database.
    Page,
    /// A record of a table.
    Record,
    /// A record of a log of this project.
    LogRecord,
    /// The two headers of a database file.
    Header,
    /// A flush map.
    FlushMap,
    /// A plan.
    Plan,
    /// The description of an array.
    Array,
    /// The journal of a run.
    Journal,
    /// A published result of Jetstress.
    Jetstress,
    /// The bytes that an iSCSI target sends.
    Iscsi,
}

impl Decoder {
    /// Decodes `data` in every way in which it is read; must return for any bytes.
    pub fn run(self, data: &[u8]) {
        match self {
            Self::Page => page(data),
            Self::Record => record(data),
            Self::LogRecord => log_record(data),
            Self::Header => header(data),
            Self::FlushMap => flush_map(data),
            Self::Plan => plan(data),
            Self::Array => array(data),
            Self::Journal => journal(data),
            Self::Jetstress => jetstress(data),
            Self::Iscsi => iscsi(data),
        }
    }
}

/// Walks a page in every way in which it is read, then changes it in every way that redo does.
fn page(data: &[u8]) {
    let Some((&script, body)) = data.split_first() else {
        return;
    };
    let sizes = PageSize::ALL;
    let size = sizes[usize::from(script) % sizes.len()];
    let mut bytes = vec![0; size.bytes()];
    let given = body.len().min(bytes.len());
    bytes[..given].copy_from_slice(&body[..given]);
    walk(PageRef::new(&bytes));
    change(&mut bytes, script);
    walk(PageRef::new(&bytes));
}

fn walk(page: PageRef<'_>) {
    let mut key = Vec::new();
    for line in 0..page.node_count() {
        if page.key_into(line, &mut key) {
            let _ = page.search(&key, Some(key.len()));
            let _ = page.search_pair(&key, &key, Some(usize::MAX));
            let _ = page.child_line(&key, &[], None);
        }
        let _ = page.child(line);
    }
    let _ = page.is_uninitialised();
    let _ = page.external_header();
}

fn change(bytes: &mut [u8], script: u8) {
    let line = usize::from(script >> 4);
    let mut page = PageMut::new(bytes);
    let _ = page.insert(line, script & 7, &[2, 0, 7, 7, 9, 9, 9, 9, 9]);
    let _ = page.set_node_flags(line, 2);
    let _ = page.add_u32(line, 0, 1);
    let _ = page.replace_bytes(line, &[1, 0, 7, 9]);
    let _ = page.remove(line, 1);
    let _ = page.set_external_header(&[script; 16]);
    let _ = page.reorganise();
    if script.is_multiple_of(16) {
        page.format(0, ObjectId(1));
    }
}

/// Reads a record as one of either page class, column by column.
fn record(data: &[u8]) {
    for size in PageSize::ALL {
        let Ok(record) = RecordRef::parse(data, size) else {
            continue;
        };
        let _ = record.tagged_fields();
    }
}

/// Decodes a log record; a valid one must encode to the same bytes again.
fn log_record(data: &[u8]) {
    if let Some(again) = wal::encoded_again(data) {
        assert_eq!(again, data, "a decoded record encodes to the bytes it came from");
    }
}

/// Finds the two headers of a database file.
fn header(data: &[u8]) {
    let _ = read_copies(data);
}

/// Decodes a flush map.
fn flush_map(data: &[u8]) {
    let _ = FlushMap::decode(data);
}

/// Reads a plan; its errors must be printable.
fn plan(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Err(complaints) = plan::Plan::parse("fuzz.toml", &text) {
        let _ = complaints.to_string();
    }
}

/// Reads the description of an array; its errors must be printable, and an accepted description
/// must survive a round trip.
fn array(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match simdisk::ArrayDescription::parse("fuzz.toml", &text, &[]) {
        Ok(array) => {
            let again = simdisk::ArrayDescription::parse("again.toml", &array.text(), &[]);
            assert_eq!(again.as_ref(), Ok(&array), "a description reads back as it was");
        }
        Err(complaint) => drop(complaint.to_string()),
    }
}

/// Reads a published result; its errors must be printable, and its figures must not be below zero.
fn jetstress(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match jetstress::parse_result(&text, "Performance_2011_4_21_10_10_1.html") {
        Ok(read) => assert!(read.result.transactional_iops().is_none_or(|iops| iops >= 0.0)),
        Err(complaint) => drop(complaint.to_string()),
    }
}

/// Parses the bytes that an iSCSI target sends.
fn iscsi(data: &[u8]) {
    device_net::read_foreign(data);
}

/// Reads a run's journal.
fn journal(data: &[u8]) {
    let _ = record::RunRecord::load(data);
}
