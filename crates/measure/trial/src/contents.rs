//! Verifies that every message of a database at rest is as the workload made it: pages and trees
//! may be intact and still hold the wrong content.

use ese::catalog::CatalogTable;
use ese::key::long_long_value;
use ese::reader::{FieldValue, PageSource, ReadError, Reader};
use ese::schema::{ColumnDefinition, ColumnId};
use units::PageNumber;

use crate::messages::column::LONG_PAD;
use crate::messages::{Decoder, TABLE, definition};

/// Maximum number of wrong messages listed; the rest are counted.
const MOST_NAMED: usize = 100;

/// Result of verifying the messages of a database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Messages checked.
    pub messages: u64,
    /// Messages whose hashes, key or database are wrong.
    pub wrong: u64,
    /// The first of them with their pages, as sentences.
    pub named: Vec<String>,
}

impl Contents {
    fn note(&mut self, page: PageNumber, problem: &str) {
        self.wrong += 1;
        if self.named.len() < MOST_NAMED {
            self.named.push(format!("table {TABLE}, page {page}: {problem}"));
        }
    }
}

/// Checks key, database and both hashes of every message, long values included. `None` if the
/// database does not contain our message table. A page or tree that cannot be read is an error: the
/// structure must be examined first.
pub fn examine<S: PageSource>(source: S) -> Result<Option<Contents>, ReadError<S::Error>> {
    let mut reader = Reader::open(source)?;
    let Some(table) = reader.table(TABLE).filter(|table| is_ours(table)).cloned() else {
        return Ok(None);
    };
    let long_pad = table.definition.column(ColumnId(LONG_PAD)).cloned();
    let long_pad = long_pad.expect("invariant: the table has our columns");
    let decoder = Decoder::new(reader.page_size());
    let mut contents = Contents::default();
    // All messages belong to one database; the first message identifies it.
    let mut object = None;
    let mut rows = reader.rows(&table)?;
    while let Some(entry) = rows.next(reader.source())? {
        let (page, key, data) = (entry.page, entry.key.to_vec(), entry.data.to_vec());
        contents.messages += 1;
        let record = match decoder.decode(&data) {
            Ok(record) => record,
            Err(error) => {
                contents.note(page, &error.to_string());
                continue;
            }
        };
        let object = *object.get_or_insert(record.message.object);
        let sound = long_long_value(&key)
            .ok_or_else(|| format!("{key:02x?} is no key of a message"))
            .and_then(|id| record.check(id, object).map_err(|wrong| wrong.to_string()));
        let long = long_value(&mut reader, &table, &long_pad, &data)?;
        let sound =
            sound.and_then(|()| record.check_long(&long).map_err(|wrong| wrong.to_string()));
        if let Err(problem) = sound {
            contents.note(page, &problem);
        }
    }
    Ok(Some(contents))
}

/// Whether the columns match our own table.
fn is_ours(table: &CatalogTable) -> bool {
    let own = definition();
    names(&own.columns).eq(names(&table.definition.columns))
}

fn names(columns: &[ColumnDefinition]) -> impl Iterator<Item = (ColumnId, &str)> {
    columns.iter().map(|column| (column.id, column.name.as_str()))
}

/// The whole long pad; empty if there is none, which no hash matches.
fn long_value<S: PageSource>(
    reader: &mut Reader<S>,
    table: &CatalogTable,
    column: &ColumnDefinition,
    record: &[u8],
) -> Result<Vec<u8>, ReadError<S::Error>> {
    let values = reader.column_values(table, record, column)?;
    let bytes = values.into_iter().next().map(|value| match value {
        FieldValue::Bytes(bytes) | FieldValue::Encrypted(bytes) => bytes,
    });
    Ok(bytes.unwrap_or_default())
}
