//! The digest on which all readers of a table must agree; `python/canonical.py` computes the same.
//!
//! A record is the concatenation, over its comparable columns in ascending column id, of the column
//! id (u16), the value's length in bytes (u32, all ones for null) and the value as stored; all
//! integers little-endian. Hashes are XXH3-128 over all records in primary key order.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use serde::Deserialize;
use twox_hash::XxHash3_128;

/// Number of items a reader saw, and the hash over them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Digest {
    /// Items seen.
    pub count: u64,
    /// XXH3-128 in 32 hexadecimal digits.
    pub xxh3_128: String,
}

/// One reader's view of one table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct TableDigest {
    /// The reader and its version.
    pub reader: String,
    /// The table's name.
    pub table: String,
    /// Every record's comparable columns.
    pub records: Digest,
    /// Every whole long value in record order; `None` if the reader does not read long values.
    pub long_values: Option<Digest>,
    /// Key and data of every entry of each secondary index that the reader can walk.
    pub indexes: BTreeMap<String, Digest>,
}

impl TableDigest {
    /// Every difference between two readers, in words, in data that both read.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let mut pairs = vec![("records", &self.records, &other.records)];
        if let (Some(ours), Some(theirs)) = (&self.long_values, &other.long_values) {
            pairs.push(("long values", ours, theirs));
        }
        for (name, ours) in &self.indexes {
            if let Some(theirs) = other.indexes.get(name) {
                pairs.push((name, ours, theirs));
            }
        }
        let mut found = Vec::new();
        for (what, ours, theirs) in pairs {
            if ours != theirs {
                found.push(format!(
                    "{what} of {}: {} sees {} ({}), {} sees {} ({})",
                    self.table,
                    self.reader,
                    ours.count,
                    ours.xxh3_128,
                    other.reader,
                    theirs.count,
                    theirs.xxh3_128
                ));
            }
        }
        found
    }
}

/// Rows whose long values are read: some readers take long for each value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LongValues {
    /// All rows.
    Follow,
    /// Every `n`th row, starting with the first. Digests are comparable only if `n` is equal.
    EveryNth(NonZeroU64),
    /// No rows.
    Skip,
}

impl LongValues {
    /// Whether the long values of this row, counted from 0, are followed.
    pub(crate) const fn follows(self, row: u64) -> bool {
        match self {
            Self::Follow => true,
            Self::EveryNth(rows) => row.is_multiple_of(rows.get()),
            Self::Skip => false,
        }
    }
}

/// How a column enters the digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    /// Hashed with the record: every reader returns the stored bytes.
    Record,
    /// Hashed with the long values.
    LongValue,
    /// Left out: readers disagree on its representation (text, floating point, date).
    Skipped,
}

impl ColumnKind {
    /// The kind of a column of JET type `jet_column_type`.
    pub(crate) const fn of(jet_column_type: u32) -> Self {
        match jet_column_type {
            1..=5 | 9 | 14..=17 => Self::Record,
            11 | 12 => Self::LongValue,
            _ => Self::Skipped,
        }
    }
}

/// Builds a [`Digest`] item by item.
#[derive(Clone, Default)]
pub(crate) struct DigestBuilder {
    /// Number of items added; the caller counts them and decides what an item is.
    pub count: u64,
    hash: XxHash3_128,
}

impl DigestBuilder {
    /// Adds one column's value, or null.
    pub(crate) fn field(&mut self, column: u16, value: Option<&[u8]>) {
        self.hash.write(&column.to_le_bytes());
        match value {
            Some(value) => self.sized(value),
            None => self.hash.write(&u32::MAX.to_le_bytes()),
        }
    }

    /// Adds bytes after their length.
    pub(crate) fn sized(&mut self, value: &[u8]) {
        let length = u32::try_from(value.len()).expect("invariant: values are below 4 GiB");
        self.hash.write(&length.to_le_bytes());
        self.hash.write(value);
    }

    /// The digest of everything added.
    pub(crate) fn finish(self) -> Digest {
        Digest { count: self.count, xxh3_128: format!("{:032x}", self.hash.finish_128()) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Digest, DigestBuilder, TableDigest};

    fn table(rows: u64, long_values: Option<u64>) -> TableDigest {
        let digest = |count| Digest { count, xxh3_128: String::new() };
        TableDigest {
            reader: "test".into(),
            table: "Messages".into(),
            records: digest(rows),
            long_values: long_values.map(digest),
            indexes: std::iter::once(("ReceivedIndex".to_owned(), digest(rows))).collect(),
        }
    }

    #[test]
    fn a_missing_record_is_a_difference_and_an_unread_long_value_is_not() {
        assert!(
            table(3, Some(3)).differences(&table(3, None)).is_empty(),
            "a reader that does not follow long values cannot differ in them"
        );
        assert_eq!(table(3, Some(3)).differences(&table(2, Some(3))).len(), 2);
        assert_eq!(table(3, Some(3)).differences(&table(3, Some(2))).len(), 1);
    }

    #[test]
    fn null_differs_from_empty_and_columns_from_each_other() {
        let digest = |column, value| {
            let mut builder = DigestBuilder::default();
            builder.field(column, value);
            builder.finish()
        };
        assert_ne!(digest(1, None), digest(1, Some(&[])));
        assert_ne!(digest(1, Some(b"x")), digest(2, Some(b"x")));
    }
}
