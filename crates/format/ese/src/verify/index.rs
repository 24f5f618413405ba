//! Derives a row's keys from its columns.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hasher as _};

use crate::catalog::CatalogTable;
use crate::compression::decompress;
use crate::key::key_of_values;
use crate::page::PageSize;
use crate::record::{Element, RecordRef, Stored};
use crate::schema::{ColumnDefinition, IndexDefinition, column_flags, index_flags};

/// Expected content of an index for one row.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// An entry with this key.
    Key(Vec<u8>),
    /// Nothing: the index omits rows with such nulls.
    Nothing,
    /// The key cannot be computed here.
    Unknown,
}

/// The key of a record in an index.
pub(super) fn expected_key(
    table: &CatalogTable,
    index: &IndexDefinition,
    record: RecordRef<'_>,
) -> Expected {
    if index.is_tuple {
        return Expected::Unknown;
    }
    match meets_conditions(table, index, record) {
        Some(true) => {}
        Some(false) => return Expected::Nothing,
        None => return Expected::Unknown,
    }
    let mut values: Vec<(&ColumnDefinition, Option<Cow<'_, [u8]>>)> = Vec::new();
    for segment in &index.segments {
        let Some(column) = table.column(segment.column, segment.is_inherited) else {
            return Expected::Unknown;
        };
        match column_value(column, record) {
            ColumnValue::Null => values.push((column, None)),
            ColumnValue::Bytes(bytes) => values.push((column, Some(bytes))),
            ColumnValue::Unknown => return Expected::Unknown,
        }
    }
    if is_left_out(index, values.iter().map(|(_, value)| value.is_none())) {
        return Expected::Nothing;
    }
    let values = values.iter().map(|(column, value)| (*column, value.as_deref()));
    let mut key = Vec::new();
    match key_of_values(index, values, &mut key) {
        Ok(()) => Expected::Key(key),
        Err(_) => Expected::Unknown,
    }
}

/// Whether a conditional index includes a record; `None` if that cannot be decided here.
fn meets_conditions(
    table: &CatalogTable,
    index: &IndexDefinition,
    record: RecordRef<'_>,
) -> Option<bool> {
    let mut meets = true;
    for condition in &index.conditions {
        let column = table.column(condition.column, condition.is_inherited)?;
        let is_null = match record.column(column) {
            Ok(Stored::Absent) => !has_default(column),
            Ok(Stored::Null) => true,
            Ok(Stored::One(_) | Stored::Many(_)) => false,
            Err(_) => return None,
        };
        meets &= is_null == condition.is_null;
    }
    Some(meets)
}

fn has_default(column: &ColumnDefinition) -> bool {
    column.flags & column_flags::DEFAULT != 0
}

/// Whether an index omits rows with these nulls.
fn is_left_out(index: &IndexDefinition, mut nulls: impl Iterator<Item = bool> + Clone) -> bool {
    let (any, all) = (nulls.clone().any(|null| null), nulls.clone().all(|null| null));
    let first = nulls.next().unwrap_or(false);
    if all {
        return index.flags & index_flags::ALLOW_ALL_NULLS == 0 && any;
    }
    (first && index.flags & index_flags::ALLOW_FIRST_NULL == 0)
        || (any && index.flags & index_flags::ALLOW_SOME_NULLS == 0)
}

/// The value of a column in a record.
enum ColumnValue<'a> {
    Null,
    Bytes(Cow<'a, [u8]>),
    /// There are several values, or the value is not in the record.
    Unknown,
}

fn column_value<'a>(column: &'a ColumnDefinition, record: RecordRef<'a>) -> ColumnValue<'a> {
    match record.column(column) {
        Ok(Stored::Absent) if has_default(column) => {
            ColumnValue::Bytes(Cow::Borrowed(&column.default))
        }
        Ok(Stored::Null | Stored::Absent) => ColumnValue::Null,
        Ok(Stored::One(Element::Plain(bytes))) => ColumnValue::Bytes(Cow::Borrowed(bytes)),
        Ok(Stored::One(Element::Compressed(bytes))) => decompress(bytes)
            .map_or(ColumnValue::Unknown, |bytes| ColumnValue::Bytes(Cow::Owned(bytes))),
        Ok(Stored::One(_) | Stored::Many(_)) | Err(_) => ColumnValue::Unknown,
    }
}

/// Number of index entries and a sum over them that is independent of their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct EntrySum {
    pub count: u64,
    sum: u64,
}

impl EntrySum {
    pub(super) fn add(&mut self, key: &[u8], primary: &[u8]) {
        let mut hasher = DefaultHasher::new();
        hasher.write(key);
        hasher.write_usize(key.len());
        hasher.write(primary);
        self.count += 1;
        self.sum = self.sum.wrapping_add(hasher.finish());
    }
}

/// Parses a record that was readable before.
pub(super) fn parse(record: &[u8], page_size: PageSize) -> Option<RecordRef<'_>> {
    RecordRef::parse(record, page_size).ok()
}
