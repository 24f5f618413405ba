//! How messages are stored in a table: the columns, and conversion between messages and rows.

use engine::Row;
use ese::page::PageSize;
use ese::record::{RecordError, RecordRef};
use ese::schema::{ColumnDefinition, ColumnType, IndexDefinition, TableDefinition};
use workload::{Message, Pads, Record};

use column::{
    LONG_HASH, LONG_PAD, MESSAGE_ID, OBJECT_ID, RECEIVED, RECORD_HASH, SHORT_PAD, VERSION,
};

/// Name of the one user table.
pub const TABLE: &str = "Messages";
/// Name of its secondary index.
pub const RECEIVED_INDEX: &str = "ReceivedIndex";

/// Column numbers of the table.
pub mod column {
    /// Primary key, ascending with insertion.
    pub const MESSAGE_ID: u16 = 1;
    /// Number of the database.
    pub const OBJECT_ID: u16 = 2;
    /// Counts replacements.
    pub const VERSION: u16 = 3;
    /// Secondary key, shared by neighbours.
    pub const RECEIVED: u16 = 4;
    /// Hash of the record.
    pub const RECORD_HASH: u16 = 5;
    /// Hash of the long value.
    pub const LONG_HASH: u16 = 6;
    /// Payload in the record.
    pub const SHORT_PAD: u16 = 128;
    /// Payload kept apart.
    pub const LONG_PAD: u16 = 256;
}

/// The table that holds the messages of a database.
pub fn definition() -> TableDefinition {
    let column = ColumnDefinition::new;
    TableDefinition::new(
        TABLE,
        vec![
            column(MESSAGE_ID, "MessageId", ColumnType::LongLong, 0).not_null(),
            column(OBJECT_ID, "ObjectId", ColumnType::Long, 0),
            column(VERSION, "Version", ColumnType::Long, 0),
            column(RECEIVED, "Received", ColumnType::LongLong, 0),
            column(RECORD_HASH, "RecordHash", ColumnType::Guid, 0),
            column(LONG_HASH, "LongHash", ColumnType::Guid, 0),
            // Any short pad that a plan allows, whatever this plan asks for.
            column(SHORT_PAD, "ShortPad", ColumnType::Binary, 0),
            column(LONG_PAD, "LongPad", ColumnType::LongBinary, 0),
        ],
        vec![
            IndexDefinition::primary("MessageIndex", &[MESSAGE_ID]),
            IndexDefinition::secondary(RECEIVED_INDEX, &[RECEIVED]),
        ],
    )
}

/// Fills `row` from `message`.
pub(crate) fn fill_row(row: &mut Row, message: &Message, pads: &Pads) {
    row.clear();
    row.set(MESSAGE_ID, &message.message_id.to_le_bytes())
        .set(OBJECT_ID, &message.object.to_le_bytes())
        .set(VERSION, &message.version.to_le_bytes())
        .set(RECEIVED, &message.received.to_le_bytes())
        .set(RECORD_HASH, &message.record_hash)
        .set(LONG_HASH, &message.long_hash)
        .set(SHORT_PAD, &pads.short)
        .set(LONG_PAD, &pads.long);
}

/// Reads records of the table back into messages.
pub(crate) struct Decoder {
    table: TableDefinition,
    page_size: PageSize,
}

impl Decoder {
    /// A decoder for records on pages of `page_size`.
    pub(crate) fn new(page_size: PageSize) -> Self {
        Self { table: definition(), page_size }
    }

    /// The message in `record`, without its long pad.
    pub(crate) fn decode<'a>(&self, record: &'a [u8]) -> Result<Record<'a>, RecordError> {
        let reference = RecordRef::parse(record, self.page_size)?;
        let message = Message {
            message_id: i64::from_le_bytes(self.array(&reference, MESSAGE_ID)?),
            object: u32::from_le_bytes(self.array(&reference, OBJECT_ID)?),
            version: u32::from_le_bytes(self.array(&reference, VERSION)?),
            received: i64::from_le_bytes(self.array(&reference, RECEIVED)?),
            record_hash: self.array(&reference, RECORD_HASH)?,
            long_hash: self.array(&reference, LONG_HASH)?,
        };
        Ok(Record::new(&message, self.plain(&reference, SHORT_PAD)?))
    }

    fn array<const N: usize>(
        &self,
        record: &RecordRef<'_>,
        column: u16,
    ) -> Result<[u8; N], RecordError> {
        let bytes = self.plain(record, column)?;
        let wrong = RecordError::WrongSize {
            column: self.column(column).id,
            bytes: bytes.len(),
            expected: N,
        };
        bytes.try_into().map_err(|_| wrong)
    }

    fn plain<'a>(&self, record: &RecordRef<'a>, column: u16) -> Result<&'a [u8], RecordError> {
        let found = record.plain(self.column(column));
        found.ok_or(RecordError::Damaged { part: "message columns" })
    }

    fn column(&self, id: u16) -> &ColumnDefinition {
        let column = self.table.column(ese::schema::ColumnId(id));
        column.expect("invariant: a column of the definition")
    }
}

#[cfg(test)]
mod tests {
    use ese::key::{index_key, long_long_key, long_long_value};
    use ese::long_value::LongValueId;
    use ese::page::PageSize;
    use ese::record::RecordBuilder;
    use ese::schema::ColumnId;
    use plan::Plan;
    use proptest::prelude::*;
    use units::Seed;
    use workload::{Content, Pads};

    use super::column::{LONG_PAD, MESSAGE_ID};
    use super::{Decoder, definition, fill_row};

    proptest! {
        #[test]
        fn keys_are_those_of_the_format(id: i64) {
            let table = definition();
            let stored = id.to_le_bytes();
            let mut key = Vec::new();
            let value = |column| (column == ColumnId(MESSAGE_ID)).then_some(&stored[..]);
            index_key(&table, &table.indexes[0], value, &mut key).unwrap();
            prop_assert_eq!(&key, &long_long_key(id));
            prop_assert_eq!(long_long_value(&key), Some(id));
            prop_assert_eq!(long_long_value(&key[1..]), None);
        }

        /// The engine's stored form of a row decodes to the original message.
        #[test]
        fn a_row_comes_back_as_its_message(id in 1_i64..1 << 40, version in 1_u32..100) {
            let text = "[databases]\nfolders = [\"/a\"]\nsize = \"1GiB\"\n";
            let workload = Plan::parse("test", text).unwrap().workload;
            let mut pads = Pads::default();
            let message = Content::new(Seed(3), 5, &workload).message(id, version, &mut pads);
            let mut row = engine::Row::new();
            fill_row(&mut row, &message, &pads);

            let page_size = PageSize::KIB_32;
            let mut builder = RecordBuilder::new(&definition(), page_size);
            for (column, value) in row.columns() {
                if column == LONG_PAD {
                    builder.set_separated(ColumnId(column), LongValueId(77)).unwrap();
                } else {
                    builder.set(ColumnId(column), value).unwrap();
                }
            }
            let mut bytes = Vec::new();
            builder.finish(&mut bytes).unwrap();

            let decoder = Decoder::new(page_size);
            let record = decoder.decode(&bytes).unwrap();
            prop_assert_eq!(record.message, message);
            prop_assert_eq!(record.check(id, 6), Ok(()));
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let decoder = Decoder::new(PageSize::KIB_32);
            let _ = decoder.decode(&bytes);
        }
    }
}
