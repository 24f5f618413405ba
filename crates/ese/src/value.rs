//! Stored bytes as people and other programs read them.

use std::fmt;
use std::fmt::Write as _;

use crate::log_time::LogTime;
use crate::schema::{CODE_PAGE_UNICODE, ColumnDefinition, ColumnType};

/// A value of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// True or false.
    Bit(bool),
    /// A whole number of any size and sign that columns have.
    Integer(i64),
    /// A real number.
    Real(f64),
    /// Days since 1899-12-30, with fractions.
    DateTime(f64),
    /// A GUID, in the byte order it is stored in.
    Guid([u8; 16]),
    /// Text.
    Text(String),
    /// Bytes, and values that do not have the size of their type.
    Binary(Vec<u8>),
}

impl Value {
    /// What the stored bytes of a column mean.
    pub fn decode(column: &ColumnDefinition, stored: &[u8]) -> Self {
        Self::typed(column, stored).unwrap_or_else(|| Self::Binary(stored.to_vec()))
    }

    /// None where the bytes do not have the size of the type.
    fn typed(column: &ColumnDefinition, stored: &[u8]) -> Option<Self> {
        Some(match column.column_type {
            ColumnType::Bit => Self::Bit(stored.first()? != &0),
            ColumnType::UnsignedByte => Self::Integer(i64::from(*stored.first()?)),
            ColumnType::Short => Self::Integer(i16::from_le_bytes(stored.try_into().ok()?).into()),
            ColumnType::UnsignedShort => {
                Self::Integer(u16::from_le_bytes(stored.try_into().ok()?).into())
            }
            ColumnType::Long => Self::Integer(i32::from_le_bytes(stored.try_into().ok()?).into()),
            ColumnType::UnsignedLong => {
                Self::Integer(u32::from_le_bytes(stored.try_into().ok()?).into())
            }
            ColumnType::Currency | ColumnType::LongLong => {
                Self::Integer(i64::from_le_bytes(stored.try_into().ok()?))
            }
            ColumnType::Single => Self::Real(f32::from_le_bytes(stored.try_into().ok()?).into()),
            ColumnType::Double => Self::Real(f64::from_le_bytes(stored.try_into().ok()?)),
            ColumnType::DateTime => Self::DateTime(f64::from_le_bytes(stored.try_into().ok()?)),
            ColumnType::Guid => Self::Guid(stored.try_into().ok()?),
            ColumnType::Text | ColumnType::LongText => Self::Text(text(column, stored)),
            ColumnType::Binary | ColumnType::LongBinary => Self::Binary(stored.to_vec()),
        })
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bit(bit) => bit.fmt(f),
            Self::Integer(number) => number.fmt(f),
            Self::Real(number) => number.fmt(f),
            Self::DateTime(days) => write_date(*days, f),
            Self::Guid(guid) => write_guid(guid, f),
            Self::Text(text) => f.write_str(text),
            Self::Binary(bytes) => bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
        }
    }
}

/// Days between 1899-12-30 and 1970-01-01.
const DAYS_BEFORE_1970: f64 = 25_569.0;
const DAY_MILLIS: f64 = 86_400_000.0;
/// The year 2155 ends, which is as far as calendar times here reach.
const LAST_DAY: f64 = 93_000.0;

/// Dates from 1970 on as a calendar has them, others as the number they are.
fn write_date(days: f64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if !(DAYS_BEFORE_1970..LAST_DAY).contains(&days) {
        return write!(f, "{days}");
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range above keeps it far inside 64 bits and above 0"
    )]
    let millis = ((days - DAYS_BEFORE_1970) * DAY_MILLIS).round() as u64;
    write!(f, "{}", LogTime::from_unix_millis(millis))
}

/// The usual form: the first three groups are little-endian numbers.
fn write_guid(guid: &[u8; 16], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    const ORDER: [usize; 16] = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
    for (index, place) in ORDER.into_iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            f.write_char('-')?;
        }
        write!(f, "{:02x}", guid[place])?;
    }
    Ok(())
}

/// Text by its code page; trailing zeros that applications store along are left out.
fn text(column: &ColumnDefinition, stored: &[u8]) -> String {
    let text: String = if column.code_page == CODE_PAGE_UNICODE {
        let units = stored
            .as_chunks::<2>()
            .0
            .iter()
            .map(|unit| u16::from_le_bytes(*unit));
        char::decode_utf16(units)
            .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect()
    } else {
        stored.iter().map(|&byte| western(byte)).collect()
    };
    text.trim_end_matches('\0').to_owned()
}

/// Characters 0x80 to 0x9F of Windows code page 1252; 0 where it has none.
const WESTERN_80: [u16; 32] = [
    0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039,
    0x0152, 0, 0x017D, 0, 0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC,
    0x2122, 0x0161, 0x203A, 0x0153, 0, 0x017E, 0x0178,
];

fn western(byte: u8) -> char {
    match byte {
        0x80..0xA0 => match WESTERN_80[usize::from(byte - 0x80)] {
            0 => char::REPLACEMENT_CHARACTER,
            unit => char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER),
        },
        byte => char::from(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::Value;
    use crate::schema::{CODE_PAGE_UNICODE, ColumnDefinition, ColumnType};

    fn read(kind: ColumnType, stored: &[u8]) -> String {
        Value::decode(&ColumnDefinition::new(256, "C", kind, 0), stored).to_string()
    }

    #[test]
    fn values_read_as_people_write_them() {
        assert_eq!(read(ColumnType::Bit, &[0xFF]), "true");
        assert_eq!(read(ColumnType::Short, &[0xFE, 0xFF]), "-2");
        assert_eq!(read(ColumnType::UnsignedLong, &[255; 4]), "4294967295");
        assert_eq!(read(ColumnType::Double, &1.5f64.to_le_bytes()), "1.5");
        assert_eq!(
            read(ColumnType::Text, b"caf\xE9 \x80\0"),
            "caf\u{E9} \u{20AC}"
        );
        assert_eq!(read(ColumnType::LongBinary, &[0, 0xAB]), "00ab");
        assert_eq!(read(ColumnType::Long, &[1, 2]), "0102");
        let noon = 45_292.5f64.to_le_bytes();
        assert_eq!(
            read(ColumnType::DateTime, &noon),
            "2024-01-01T12:00:00.000Z"
        );
        let guid: [u8; 16] = std::array::from_fn(|index| u8::try_from(index).expect("below 16"));
        assert_eq!(
            read(ColumnType::Guid, &guid),
            "03020100-0504-0706-0809-0a0b0c0d0e0f"
        );
    }

    #[test]
    fn unicode_text_is_utf16() {
        let mut column = ColumnDefinition::new(256, "C", ColumnType::LongText, 0);
        column.code_page = CODE_PAGE_UNICODE;
        let stored: Vec<u8> = "\u{4F60}a\0"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        assert_eq!(
            Value::decode(&column, &stored),
            Value::Text("\u{4F60}a".into())
        );
    }
}
