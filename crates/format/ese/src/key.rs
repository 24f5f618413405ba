//! Normalised keys: bytes whose plain comparison orders rows as the values themselves would.

use std::fmt;

use crate::schema::{
    CODE_PAGE_UNICODE, ColumnClass, ColumnDefinition, ColumnId, ColumnType, IndexDefinition,
    TableDefinition, index_flags,
};

/// First byte of a segment that has a value.
const VALUE: u8 = 0x7F;
/// First byte of a null segment.
const NULL: u8 = 0x00;
/// First byte of a null segment of an index that puts nulls last.
const NULL_HIGH: u8 = 0xC0;
/// First byte of a segment with an empty value.
const EMPTY: u8 = 0x40;
/// Size of the groups into which variable binary values are divided, in bytes.
const GROUP_BYTES: usize = 8;
/// Follows a group if there is another one after it.
const GROUP_CONTINUES: u8 = 9;

/// Order in which a GUID's bytes are compared: the last group of the printed form first.
const GUID_ORDER: [usize; 16] = [10, 11, 12, 13, 14, 15, 8, 9, 6, 7, 4, 5, 0, 1, 2, 3];
/// Order for indexes that request .NET ordering.
const DOT_NET_GUID_ORDER: [usize; 16] = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];

/// Why a key could not be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyError {
    /// Keys of Unicode text depend on tables of the operating system that wrote them.
    UnicodeText {
        /// The column.
        column: String,
    },
    /// The value does not have the size of its type.
    WrongSize {
        /// The column.
        column: String,
        /// Bytes of the value.
        bytes: usize,
    },
    /// The index names a column that the table does not have.
    NoColumn {
        /// The column's number.
        column: ColumnId,
    },
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnicodeText { column } => write!(
                f,
                "the key of Unicode column {column} depends on the system that wrote it \
                 and cannot be recomputed here"
            ),
            Self::WrongSize { column, bytes } => {
                write!(f, "{bytes} bytes are not a value of column {column}")
            }
            Self::NoColumn { column } => write!(f, "the table has no column {column}"),
        }
    }
}

impl std::error::Error for KeyError {}

/// Appends one segment to `key`: the stored bytes of `column` (numbers little-endian), or null.
pub fn append_segment(
    column: &ColumnDefinition,
    value: Option<&[u8]>,
    index_flags: u32,
    is_descending: bool,
    key: &mut Vec<u8>,
) -> Result<(), KeyError> {
    let start = key.len();
    match value {
        None if index_flags & index_flags::NULLS_HIGH != 0 => key.push(NULL_HIGH),
        None => key.push(NULL),
        Some([]) if column.column_type.fixed_bytes().is_none() => key.push(EMPTY),
        Some(value) => {
            key.push(VALUE);
            append_value(column, value, index_flags, key)?;
        }
    }
    if is_descending {
        key[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
    Ok(())
}

/// The key of one signed 64-bit column that is not null, in ascending order.
pub fn long_long_key(value: i64) -> [u8; 9] {
    let mut key = [VALUE; 9];
    key[1..].copy_from_slice(&(value ^ i64::MIN).to_be_bytes());
    key
}

/// The value encoded by a [`long_long_key`]; `None` if `key` is not such a key.
pub fn long_long_value(key: &[u8]) -> Option<i64> {
    let (&mark, ordered) = key.split_first()?;
    let ordered = i64::from_be_bytes(ordered.try_into().ok()?);
    (mark == VALUE).then_some(ordered ^ i64::MIN)
}

/// Replaces `key` with the key of a row. `value` returns the stored bytes of a column, or `None` if
/// it is null.
pub fn index_key<'v>(
    table: &TableDefinition,
    index: &IndexDefinition,
    value: impl Fn(ColumnId) -> Option<&'v [u8]>,
    key: &mut Vec<u8>,
) -> Result<(), KeyError> {
    key.clear();
    for segment in &index.segments {
        let id = segment.column;
        let column = table.column(id).ok_or(KeyError::NoColumn { column: id })?;
        append_segment(column, value(id), index.flags, segment.is_descending, key)?;
    }
    key.truncate(index.longest_key_bytes);
    Ok(())
}

/// Like [`index_key`], from the columns of all segments with their values.
pub(crate) fn key_of_values<'v>(
    index: &IndexDefinition,
    values: impl Iterator<Item = (&'v ColumnDefinition, Option<&'v [u8]>)>,
    key: &mut Vec<u8>,
) -> Result<(), KeyError> {
    key.clear();
    for (segment, (column, value)) in index.segments.iter().zip(values) {
        append_segment(column, value, index.flags, segment.is_descending, key)?;
    }
    key.truncate(index.longest_key_bytes);
    Ok(())
}

fn append_value(
    column: &ColumnDefinition,
    value: &[u8],
    index_flags: u32,
    key: &mut Vec<u8>,
) -> Result<(), KeyError> {
    let kind = column.column_type;
    if kind.fixed_bytes().is_some_and(|bytes| bytes != value.len()) {
        return Err(KeyError::WrongSize { column: column.name.clone(), bytes: value.len() });
    }
    match kind {
        ColumnType::Bit => key.push(if value == [0] { 0 } else { 0xFF }),
        ColumnType::UnsignedByte
        | ColumnType::UnsignedShort
        | ColumnType::UnsignedLong
        | ColumnType::UnsignedLongLong => {
            key.extend(value.iter().rev());
        }
        ColumnType::Short | ColumnType::Long | ColumnType::Currency | ColumnType::LongLong => {
            let start = key.len();
            key.extend(value.iter().rev());
            key[start] ^= 0x80;
        }
        ColumnType::Single | ColumnType::Double | ColumnType::DateTime => append_float(value, key),
        ColumnType::Guid if index_flags & index_flags::DOT_NET_GUID != 0 => {
            key.extend(DOT_NET_GUID_ORDER.map(|place| value[place]));
        }
        ColumnType::Guid => key.extend(GUID_ORDER.map(|place| value[place])),
        ColumnType::Binary | ColumnType::LongBinary | ColumnType::Streaming => {
            append_binary(column, value, key);
        }
        ColumnType::Text | ColumnType::LongText => append_text(column, value, key)?,
    }
    Ok(())
}

/// Positive numbers get their sign bit set, negative ones have every bit inverted.
fn append_float(value: &[u8], key: &mut Vec<u8>) {
    let start = key.len();
    key.extend(value.iter().rev());
    if key[start] & 0x80 == 0 {
        key[start] |= 0x80;
    } else {
        key[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
}

fn append_binary(column: &ColumnDefinition, value: &[u8], key: &mut Vec<u8>) {
    if column.id.class() == ColumnClass::Fixed {
        key.extend_from_slice(value);
        return;
    }
    for (index, group) in value.chunks(GROUP_BYTES).enumerate() {
        let is_last = (index + 1) * GROUP_BYTES >= value.len();
        key.extend_from_slice(group);
        key.resize(key.len() + GROUP_BYTES - group.len(), 0);
        key.push(if is_last { group.len().to_le_bytes()[0] } else { GROUP_CONTINUES });
    }
}

/// Single-byte text, up to its first zero: in ASCII upper case, and zero-terminated.
fn append_text(column: &ColumnDefinition, value: &[u8], key: &mut Vec<u8>) -> Result<(), KeyError> {
    if column.code_page == CODE_PAGE_UNICODE {
        return Err(KeyError::UnicodeText { column: column.name.clone() });
    }
    key.extend(value.iter().take_while(|&&byte| byte != 0).map(u8::to_ascii_uppercase));
    key.push(0);
    Ok(())
}

#[cfg(test)]
mod tests;
