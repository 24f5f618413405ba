//! libesedb (C, linked in through its Rust crate) as a reader of this project's files.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use libesedb::{EseDb, Record, Value};

use super::{ColumnKind, DigestBuilder, LongValues, PeerError, TableDigest};

/// Reads `table` in `file` with libesedb. It rejects files with a wrong header checksum, does not
/// check page checksums, and takes milliseconds for each long value, more in larger trees.
pub fn read_with_libesedb(
    file: &Path,
    table: &str,
    long_values: LongValues,
) -> Result<TableDigest, PeerError> {
    read(file, table, long_values).map_err(|error| PeerError {
        reader: "libesedb".to_owned(),
        file: file.display().to_string(),
        message: error.to_string(),
    })
}

fn read(file: &Path, name: &str, follow: LongValues) -> io::Result<TableDigest> {
    let database = EseDb::open(file)?;
    let table = database.table_by_name(name)?;
    let mut columns = Vec::new();
    for (entry, column) in (0..).zip(table.iter_columns()?) {
        let column = column?;
        let id = u16::try_from(column.id()?).map_err(io::Error::other)?;
        columns.push((id, kind(&column.variant()?), entry));
    }
    columns.sort_by_key(|&(id, ..)| id);
    let (mut records, mut long_values) = (DigestBuilder::default(), DigestBuilder::default());
    for record in table.iter_records()? {
        let record = record?;
        let follows = follow.follows(records.count);
        records.count += 1;
        for &(id, kind, entry) in &columns {
            match kind {
                ColumnKind::Record => records.field(id, stored(&record, entry)?.as_deref()),
                ColumnKind::LongValue if follows => {
                    let value = stored(&record, entry)?;
                    long_values.count += u64::from(value.is_some());
                    long_values.field(id, value.as_deref());
                }
                ColumnKind::LongValue | ColumnKind::Skipped => {}
            }
        }
    }
    Ok(TableDigest {
        reader: "libesedb".to_owned(),
        table: name.to_owned(),
        records: records.finish(),
        long_values: (follow != LongValues::Skip).then(|| long_values.finish()),
        indexes: BTreeMap::new(),
    })
}

fn kind(column: &Value) -> ColumnKind {
    match column {
        Value::Text(_) | Value::F32(_) | Value::F64(_) | Value::DateTime(_) | Value::Null(()) => {
            ColumnKind::Skipped
        }
        Value::LargeBinary(_) | Value::LargeText(_) => ColumnKind::LongValue,
        _ => ColumnKind::Record,
    }
}

/// The bytes of a value as stored in the file.
fn stored(record: &Record<'_>, entry: i32) -> io::Result<Option<Vec<u8>>> {
    Ok(match record.value(entry)? {
        Value::Null(()) => None,
        Value::Bool(value) => Some(vec![if value { 0xFF } else { 0 }]),
        Value::U8(value) => Some(vec![value]),
        Value::I16(value) => Some(value.to_le_bytes().to_vec()),
        Value::U16(value) => Some(value.to_le_bytes().to_vec()),
        Value::I32(value) => Some(value.to_le_bytes().to_vec()),
        Value::U32(value) => Some(value.to_le_bytes().to_vec()),
        Value::I64(value) | Value::Currency(value) => Some(value.to_le_bytes().to_vec()),
        Value::Binary(bytes) | Value::LargeBinary(bytes) | Value::Guid(bytes) => Some(bytes),
        Value::Text(text) | Value::LargeText(text) => Some(text.into_bytes()),
        Value::Long => Some(record.long(entry)?.vec()?),
        other => {
            return Err(io::Error::other(format!(
                "column entry {entry} holds {other:?}, which has no canonical form"
            )));
        }
    })
}
