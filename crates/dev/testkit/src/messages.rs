//! Rows for the table of messages, which every test database contains. Their content follows from a
//! seed.

use std::path::Path;

use engine::Row;
use engine::bulk::RowSource;
use ese::header::read_copies;
use ese::key::long_long_key;
use ese::reader::{FileImage, Reader};
use ese::record::RecordRef;
use trial::commits;
use trial::messages::{RECEIVED_INDEX, TABLE, column};
use units::{Prng, Seed};

use crate::peers::{DigestBuilder, TableDigest};

/// Reads the table of messages from the database file at `path`, without the engine.
///
/// # Panics
/// If the file is no clean database with such a table.
pub fn stored(path: &Path) -> commits::Messages {
    let bytes = std::fs::read(path).expect("a readable file");
    let page_size = read_copies(&bytes).expect("a header").page_size;
    let mut reader = Reader::open(FileImage::new(&bytes, page_size)).expect("a database");
    let table = reader.table(TABLE).expect("the table").clone();
    let [key, version] =
        ["MessageId", "Version"].map(|name| table.definition.column_named(name).expect("a column"));
    let mut cursor = reader.rows(&table).expect("rows");
    let mut messages = commits::Messages::new();
    while let Some(entry) = cursor.next(reader.source()).expect("a sound page") {
        let record = RecordRef::parse(entry.data, page_size).expect("a record");
        let id = record.plain(key).expect("a key").try_into().expect("eight bytes");
        let count = record.plain(version).expect("a version").try_into().expect("four bytes");
        messages.insert(i64::from_le_bytes(id), u32::from_le_bytes(count));
    }
    messages
}

/// The value of every column of one message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MessageRow {
    /// Primary key.
    pub message_id: i64,
    /// Secondary key.
    pub received: i64,
    /// Number of the row's replacement.
    pub version: i32,
    /// Stored as the record's hash; here arbitrary bytes.
    pub hash: [u8; 16],
    /// Payload in the record, 1 to 255 bytes.
    pub short_pad: Vec<u8>,
    /// Payload in long values, outside the record.
    pub long_pad: Vec<u8>,
}

impl MessageRow {
    /// Makes a message with content determined by seed, key and version. Long pads have
    /// `long_bytes` bytes, each with its top bit set, because foreign readers mistake some lower
    /// first bytes of a chunk for compressed data.
    pub(crate) fn make(seed: Seed, message_id: i64, version: i32, long_bytes: usize) -> Self {
        let stream = seed.derive(message_id.cast_unsigned());
        let mut prng = Prng::new(stream.derive(u64::from(version.cast_unsigned())));
        let mut row = Self { message_id, received: message_id / 16, version, ..Self::default() };
        prng.fill(&mut row.hash);
        // libesedb shows an empty value as null.
        let short_bytes = usize::try_from(prng.below(255) + 1).expect("invariant: below 256");
        row.short_pad.resize(short_bytes, 0);
        prng.fill(&mut row.short_pad);
        row.long_pad.resize(long_bytes, 0);
        prng.fill(&mut row.long_pad);
        row.long_pad.iter_mut().for_each(|byte| *byte |= 0x80);
        row
    }

    /// Sets the columns of `row`, which is empty.
    pub(crate) fn set(&self, row: &mut Row) {
        row.set(column::MESSAGE_ID, &self.message_id.to_le_bytes())
            .set(column::OBJECT_ID, &1i32.to_le_bytes())
            .set(column::VERSION, &self.version.to_le_bytes())
            .set(column::RECEIVED, &self.received.to_le_bytes())
            .set(column::RECORD_HASH, &self.hash)
            .set(column::LONG_HASH, &self.hash)
            .set(column::SHORT_PAD, &self.short_pad)
            .set(column::LONG_PAD, &self.long_pad);
    }
}

/// Given rows, as input for a fill.
pub(crate) struct RowList {
    rows: std::vec::IntoIter<MessageRow>,
}

impl RowList {
    /// Rows in ascending key order.
    pub(crate) fn new(rows: impl Iterator<Item = MessageRow>) -> Self {
        Self { rows: rows.collect::<Vec<_>>().into_iter() }
    }
}

impl RowSource for RowList {
    fn fill(&mut self, row: &mut Row) -> bool {
        self.rows.next().map(|message| message.set(row)).is_some()
    }
}

/// The digest that a reader must compute for a table of exactly `rows`, in ascending key order.
pub(crate) fn digest_of(reader: &str, rows: impl IntoIterator<Item = MessageRow>) -> TableDigest {
    let mut records = DigestBuilder::default();
    let mut long_values = DigestBuilder::default();
    let mut index = DigestBuilder::default();
    let mut row = Row::new();
    for message in rows {
        row.clear();
        message.set(&mut row);
        for (id, value) in row.columns() {
            if id == column::LONG_PAD {
                long_values.field(id, Some(value));
            } else {
                records.field(id, Some(value));
            }
        }
        index.sized(&long_long_key(message.received));
        index.sized(&long_long_key(message.message_id));
        for builder in [&mut records, &mut long_values, &mut index] {
            builder.count += 1;
        }
    }
    TableDigest {
        reader: reader.to_owned(),
        table: TABLE.to_owned(),
        records: records.finish(),
        long_values: Some(long_values.finish()),
        indexes: std::iter::once((RECEIVED_INDEX.to_owned(), index.finish())).collect(),
    }
}
