//! Converts stored bytes to values that people and other programs can read.

mod date;

use std::fmt;
use std::fmt::Write as _;

use crate::schema::{CODE_PAGE_UNICODE, ColumnDefinition, ColumnType};

/// A value of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// True or false.
    Bit(bool),
    /// An integer, signed or shorter than eight bytes.
    Integer(i64),
    /// An unsigned integer of eight bytes.
    Unsigned(u64),
    /// A real number.
    Real(f64),
    /// Days since 1899-12-30, with fractions.
    DateTime(f64),
    /// A GUID, in stored byte order.
    Guid([u8; 16]),
    /// Text, including any trailing zeros that the application stored.
    Text(String),
    /// Text that is invalid in its own encoding, e.g. with lone surrogates.
    OddText {
        /// The printable part of it.
        shown: String,
        /// The stored form.
        stored: Vec<u8>,
    },
    /// Bytes, and values whose size does not match their type.
    Binary(Vec<u8>),
}

impl Value {
    /// Decodes a column's stored bytes.
    pub fn decode(column: &ColumnDefinition, stored: &[u8]) -> Self {
        Self::typed(column, stored).unwrap_or_else(|| Self::Binary(stored.to_vec()))
    }

    /// `None` if the size of the bytes does not match the type.
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
            ColumnType::UnsignedLongLong => {
                Self::Unsigned(u64::from_le_bytes(stored.try_into().ok()?))
            }
            ColumnType::Single => Self::Real(f32::from_le_bytes(stored.try_into().ok()?).into()),
            ColumnType::Double => Self::Real(f64::from_le_bytes(stored.try_into().ok()?)),
            ColumnType::DateTime => Self::DateTime(f64::from_le_bytes(stored.try_into().ok()?)),
            ColumnType::Guid => Self::Guid(stored.try_into().ok()?),
            ColumnType::Text | ColumnType::LongText => text(column, stored),
            ColumnType::Binary | ColumnType::LongBinary | ColumnType::Streaming => {
                Self::Binary(stored.to_vec())
            }
        })
    }
}

/// Converts a stored [`Value::DateTime`], which holds days since 1899-12-30 or a Windows file time,
/// to microseconds since 1970 in UTC; `None` if it is not an exact time.
pub fn unix_microseconds(days: f64) -> Option<i64> {
    date::unix_microseconds(days)
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bit(bit) => bit.fmt(f),
            Self::Integer(number) => number.fmt(f),
            Self::Unsigned(number) => number.fmt(f),
            Self::Real(number) => write_real(*number, f),
            Self::DateTime(days) => date::write(*days, f),
            Self::Guid(guid) => write_guid(guid, f),
            Self::Text(text) | Self::OddText { shown: text, .. } => {
                f.write_str(text.trim_end_matches('\0'))
            }
            Self::Binary(bytes) => bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
        }
    }
}

/// Writes a real number so that it reads back identically.
fn write_real(number: f64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let is_plain = number == 0.0 || (1e-5..1e17).contains(&number.abs());
    if is_plain || !number.is_finite() { write!(f, "{number}") } else { write!(f, "{number:e}") }
}

/// Writes the usual form: the first three groups are little-endian numbers.
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

/// Text by its code page.
fn text(column: &ColumnDefinition, stored: &[u8]) -> Value {
    if column.code_page != CODE_PAGE_UNICODE {
        return Value::Text(stored.iter().map(|&byte| western(byte)).collect());
    }
    let (units, rest) = stored.as_chunks::<2>();
    let units: Vec<u16> = units.iter().copied().map(u16::from_le_bytes).collect();
    match String::from_utf16(&units) {
        Ok(text) if rest.is_empty() => Value::Text(text),
        _ => Value::OddText { shown: String::from_utf16_lossy(&units), stored: stored.to_vec() },
    }
}

/// Characters 0x80 to 0x9F of Windows code page 1252; 0 if undefined.
const WESTERN_80: [u16; 32] = [
    0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039,
    0x0152, 0, 0x017D, 0, 0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC,
    0x2122, 0x0161, 0x203A, 0x0153, 0, 0x017E, 0x0178,
];

/// Bytes that the code page lacks map to themselves, so that every byte has a character.
fn western(byte: u8) -> char {
    let listed = byte.checked_sub(0x80).and_then(|index| WESTERN_80.get(usize::from(index)));
    match listed.copied().map(u32::from).and_then(char::from_u32) {
        None | Some('\0') => char::from(byte),
        Some(character) => character,
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
        assert_eq!(read(ColumnType::Text, b"caf\xE9 \x80\0"), "caf\u{E9} \u{20AC}");
        assert_eq!(read(ColumnType::LongBinary, &[0, 0xAB]), "00ab");
        assert_eq!(read(ColumnType::Long, &[1, 2]), "0102");
        let noon = 45_292.5f64.to_le_bytes();
        assert_eq!(read(ColumnType::DateTime, &noon), "2024-01-01T12:00:00.000Z");
        let guid: [u8; 16] = std::array::from_fn(|index| u8::try_from(index).expect("below 16"));
        assert_eq!(read(ColumnType::Guid, &guid), "03020100-0504-0706-0809-0a0b0c0d0e0f");
    }

    #[test]
    fn numbers_of_all_sizes_read_back() {
        let most = read(ColumnType::UnsignedLongLong, &[255; 8]);
        assert_eq!(most, "18446744073709551615");
        for number in [1e-300, -0.0, 1.5, 0.1, 1e300, f64::NAN, f64::INFINITY] {
            let text = read(ColumnType::Double, &number.to_le_bytes());
            let again: f64 = text.parse().expect("a number");
            assert!(again.to_bits() == number.to_bits() || number.is_nan(), "{text}");
        }
    }

    #[test]
    fn a_date_says_all_that_is_stored() {
        // A third of a day, with all 53 bits.
        let stored = 45_292.333_333_333_336_f64;
        let text = read(ColumnType::DateTime, &stored.to_le_bytes());
        assert_eq!(text, "2024-01-01T08:00:00.000Z");
        let stored = f64::from_bits(stored.to_bits() + 1);
        let text = read(ColumnType::DateTime, &stored.to_le_bytes());
        assert_eq!(text, "2024-01-01T08:00:00.0000008Z");
    }

    #[test]
    fn dates_of_all_centuries_are_dates() {
        let date = |days: f64| read(ColumnType::DateTime, &days.to_le_bytes());
        assert_eq!(date(0.0), "1899-12-30T00:00:00.000Z");
        assert_eq!(date(1.5), "1899-12-31T12:00:00.000Z");
        assert_eq!(date(25_568.0), "1969-12-31T00:00:00.000Z");
        // Hours count forward from midnight even before the first day.
        assert_eq!(date(-1.25), "1899-12-29T06:00:00.000Z");
        assert_eq!(date(-109_205.0), "1601-01-01T00:00:00.000Z");
        assert_eq!(date(-657_434.0), "0100-01-01T00:00:00.000Z");
        assert_eq!(date(2_958_465.75), "9999-12-31T18:00:00.000Z");
        // These denote no date, or duplicate another number.
        for number in [-0.5, -0.0, 1e-13, -657_435.0, 2_958_466.0, f64::INFINITY] {
            assert_eq!(date(number).parse::<f64>().map(f64::to_bits), Ok(number.to_bits()));
        }
    }

    #[test]
    fn a_file_time_in_a_column_of_dates_is_shown_as_the_time_it_is() {
        let stored = 133_024_563_725_700_001_u64;
        let text = read(ColumnType::DateTime, &stored.to_le_bytes());
        assert_eq!(text, "2022-07-16T14:46:12.5700001Z");
        let first = super::date::FILE_TIMES.start;
        let text = read(ColumnType::DateTime, &first.to_le_bytes());
        assert_eq!(text, "1970-01-01T00:00:00.0000000Z");
        for odd in [first - 1, super::date::FILE_TIMES.end] {
            let text = read(ColumnType::DateTime, &odd.to_le_bytes());
            assert_eq!(text.parse::<f64>().map(f64::to_bits), Ok(odd), "{text}");
        }
    }

    #[test]
    fn every_byte_of_western_text_has_its_own_character() {
        let bytes: Vec<u8> = (0..=255).collect();
        let column = ColumnDefinition::new(256, "C", ColumnType::Text, 0);
        let Value::Text(text) = Value::decode(&column, &bytes) else {
            panic!("text");
        };
        let mut characters: Vec<char> = text.chars().collect();
        characters.sort_unstable();
        characters.dedup();
        assert_eq!(characters.len(), 256);
    }

    #[test]
    fn unicode_text_is_utf16() {
        let mut column = ColumnDefinition::new(256, "C", ColumnType::LongText, 0);
        column.code_page = CODE_PAGE_UNICODE;
        let stored: Vec<u8> = "\u{4F60}a\0".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(Value::decode(&column, &stored), Value::Text("\u{4F60}a\0".into()));
        assert_eq!(Value::decode(&column, &stored).to_string(), "\u{4F60}a");
        let lone = [0x3D, 0xD8, b'a', 0];
        let Value::OddText { shown, stored } = Value::decode(&column, &lone) else {
            panic!("a lone surrogate is no text");
        };
        assert_eq!((shown.as_str(), &stored[..]), ("\u{FFFD}a", &lone[..]));
        assert!(matches!(Value::decode(&column, b"a\0b"), Value::OddText { .. }));
    }
}
