//! This project's own reader, which must agree with the others.

use std::collections::BTreeMap;

use ese::catalog::CatalogTable;
use ese::header::read_copies;
use ese::reader::{Cursor, FieldValue, FileImage, Reader};

use super::{ColumnKind, Digest, DigestBuilder, LongValues, TableDigest};

/// Reads `table` in the file `bytes` with the format crate's reader.
pub fn read_with_ours(
    bytes: &[u8],
    table: &str,
    follow: LongValues,
) -> Result<TableDigest, String> {
    let copies = read_copies(bytes).map_err(|error| error.to_string())?;
    let source = FileImage::new(bytes, copies.page_size);
    let mut reader = Reader::open(source).map_err(words)?;
    let found = reader.table(table).cloned();
    let found = found.ok_or_else(|| format!("no table {table}"))?;
    let (mut records, mut long_values) = (DigestBuilder::default(), DigestBuilder::default());
    let mut rows = reader.rows(&found).map_err(words)?;
    while let Some(entry) = rows.next(reader.source()).map_err(words)? {
        let record = entry.data.to_vec();
        let follows = follow.follows(records.count);
        records.count += 1;
        for column in &found.definition.columns {
            let kind = ColumnKind::of(column.column_type.number());
            if kind == ColumnKind::Skipped || (kind == ColumnKind::LongValue && !follows) {
                continue;
            }
            let values = reader.column_values(&found, &record, column).map_err(words)?;
            let value = values.into_iter().next().map(|value| match value {
                FieldValue::Bytes(bytes) | FieldValue::Encrypted(bytes) => bytes,
            });
            if kind == ColumnKind::LongValue {
                long_values.count += u64::from(value.is_some());
                long_values.field(column.id.0, value.as_deref());
            } else {
                records.field(column.id.0, value.as_deref());
            }
        }
    }
    Ok(TableDigest {
        reader: "our own reader".to_owned(),
        table: table.to_owned(),
        records: records.finish(),
        long_values: (follow != LongValues::Skip).then(|| long_values.finish()),
        indexes: indexes(&mut reader, &found)?,
    })
}

fn indexes(
    reader: &mut Reader<FileImage<'_>>,
    table: &CatalogTable,
) -> Result<BTreeMap<String, Digest>, String> {
    let mut found = BTreeMap::new();
    for (index, place) in table.secondaries() {
        let mut digest = DigestBuilder::default();
        let mut entries = Cursor::first(reader.source(), place.root).map_err(words)?;
        while let Some(entry) = entries.next(reader.source()).map_err(words)? {
            digest.count += 1;
            digest.sized(entry.key);
            digest.sized(entry.data);
        }
        found.insert(index.name.clone(), digest.finish());
    }
    Ok(found)
}

fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}
