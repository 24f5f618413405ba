//! Checks a database against its model: through the engine while it is open, and through the
//! format's reader and page checks once it is closed.

use device::{FileImage, VolumeImage};
use engine::{Database, Order, Table, Transaction};
use ese::flush_map::file_name;
use ese::header::DatabaseState;
use ese::key::long_long_key;
use ese::page::PageSize;
use ese::record::{Element, RecordRef, Stored};
use ese::schema::{ColumnId, TableDefinition};
use trial::messages::{RECEIVED_INDEX, TABLE, column};

use super::model::{Model, Rows};
use super::script::{FILE, Script};
use crate::messages::{MessageRow, digest_of};
use crate::pages;
use crate::peers::{LongValues, read_with_ours};

/// Reads every row of an open database with its whole content, and settles the model with the
/// result.
pub(super) async fn open_database(
    script: &Script,
    database: &Database,
    model: &Model,
) -> Result<(), String> {
    let table = database.table(TABLE).ok_or("the table is not there")?;
    let transaction = database.begin();
    let mut rows = Rows::new();
    let mut scan = transaction.scan(&table, Order::Primary, &[]);
    loop {
        let entry = scan.next().await.map_err(|error| error.to_string())?;
        let Some(entry) = entry else { break };
        let (id, version) = read_row(script, &table, &transaction, &entry.key, &entry.data).await?;
        rows.insert(id, version);
    }
    index_agrees(&table, &transaction, &rows).await?;
    transaction.rollback().await.map_err(|error| error.to_string())?;
    model.settle(&rows)
}

/// Number and version of a row, after checking that all of its bytes match them.
async fn read_row(
    script: &Script,
    table: &Table,
    transaction: &Transaction,
    key: &[u8],
    record: &[u8],
) -> Result<(i64, i32), String> {
    let definition = table.definition();
    let number = |id| plain(definition, record, table.page_size(), id);
    let message_id = i64::from_le_bytes(number(column::MESSAGE_ID)?.try_into().expect("8 bytes"));
    let version = i32::from_le_bytes(number(column::VERSION)?.try_into().expect("4 bytes"));
    let wanted = script.row(message_id, version);
    let problem = |what: &str| format!("message {message_id}, version {version}: {what}");
    if key != long_long_key(message_id) {
        return Err(problem("is found under another key"));
    }
    let short_pad = number(column::SHORT_PAD)?;
    let (hash, received) = (number(column::RECORD_HASH)?, number(column::RECEIVED)?);
    let is_same = short_pad == wanted.short_pad
        && hash == wanted.hash
        && received == wanted.received.to_le_bytes();
    if !is_same {
        return Err(problem("its record is not what was written"));
    }
    let long = definition.column(ColumnId(column::LONG_PAD));
    let long = long.ok_or("the long column is not there")?;
    let stored = RecordRef::parse(record, table.page_size())
        .and_then(|record| record.column(long))
        .map_err(|error| error.to_string())?;
    let Stored::One(Element::Separated(id)) = stored else {
        return Err(problem(&format!("its long value is {stored:?}")));
    };
    let mut value = Vec::new();
    let found = transaction.read_long_value(table, id, &mut value).await;
    if !found.map_err(|error| problem(&error.to_string()))? || value != wanted.long_pad {
        return Err(problem("its long value is not what was written"));
    }
    Ok((message_id, version))
}

fn plain(
    definition: &TableDefinition,
    record: &[u8],
    page_size: PageSize,
    id: u16,
) -> Result<Vec<u8>, String> {
    let column = definition.column(ColumnId(id));
    let column = column.ok_or_else(|| format!("column {id} is not there"))?;
    let record = RecordRef::parse(record, page_size).map_err(|error| error.to_string())?;
    let value = record.plain(column);
    value.map(<[u8]>::to_vec).ok_or_else(|| format!("column {id} of a record has no value"))
}

/// Checks that the secondary index names exactly the rows, in order.
async fn index_agrees(table: &Table, transaction: &Transaction, rows: &Rows) -> Result<(), String> {
    let mut wanted = rows.keys().map(|&id| (long_long_key(id / 16), long_long_key(id)));
    let mut scan = transaction.scan(table, Order::Index(0), &[]);
    loop {
        let entry = scan.next().await.map_err(|error| error.to_string())?;
        let found = entry.as_ref().map(|entry| (&entry.key[..], &entry.data[..]));
        let next = wanted.next();
        if found != next.as_ref().map(|(key, data)| (&key[..], &data[..])) {
            return Err(format!("{RECEIVED_INDEX} holds {found:?} where {next:?} belongs"));
        }
        if next.is_none() {
            return Ok(());
        }
    }
}

/// Checks a database that was never recovered: its flush map must know every page ever written.
pub(super) fn every_page_is_in_the_map(image: &VolumeImage) -> Result<(), String> {
    let (file, map) = with_map(image)?;
    let (copies, initialised) = pages::all_good(file)?;
    let known = pages::flush_map_agrees(file, &copies, &map)?;
    if known == initialised {
        Ok(())
    } else {
        Err(format!("the flush map knows {known} of {initialised} pages"))
    }
}

/// The database and the bytes of its flush map.
fn with_map(image: &VolumeImage) -> Result<(&FileImage, Vec<u8>), String> {
    let file = image.files.get(FILE).ok_or("the file is gone")?;
    let map = image.files.get(&file_name(FILE)).ok_or("no flush map")?;
    Ok((file, map.to_vec()))
}

/// Checks a closed database: it must be marked clean, every page good, every tree intact, and every
/// row, long value and index entry as in the model.
pub(super) fn closed_database(
    script: &Script,
    image: &VolumeImage,
    model: &Model,
) -> Result<(), String> {
    let (file, map) = with_map(image)?;
    let (copies, _) = pages::all_good(file)?;
    if copies.header.state != DatabaseState::CleanShutdown {
        return Err(format!("the closed file says {}", copies.header.state));
    }
    pages::flush_map_agrees(file, &copies, &map)?;
    let bytes = file.to_vec();
    pages::examine(&bytes)?;
    let found = read_with_ours(&bytes, TABLE, LongValues::Follow)?;
    let rows: Vec<MessageRow> =
        model.rows().iter().map(|(&id, &version)| script.row(id, version)).collect();
    let differences = digest_of("the model", rows).differences(&found);
    if differences.is_empty() { Ok(()) } else { Err(differences.join("\n")) }
}
