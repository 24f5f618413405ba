//! Values of columns, and the readable parts of incomplete ones.

use std::fmt;

use ese::reader::{ChunkContent, FieldValue, PartialValue, Salvaged};
use ese::schema::ColumnDefinition;
use ese::value::Value as Stored;

use crate::damage::Damage;

/// One value of a column.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// A bit.
    Bit(bool),
    /// A number of any integer type but the largest unsigned one.
    Integer(i64),
    /// An unsigned 64-bit number.
    Unsigned(u64),
    /// A number with a fraction.
    Real(f64),
    /// A date.
    DateTime(DateTime),
    /// A GUID.
    Guid(Guid),
    /// Text. Undecodable characters are replaced; `stored` then holds the bytes.
    Text {
        /// The text, without any terminating zero.
        text: String,
        /// The stored bytes, if the text is malformed.
        stored: Option<Vec<u8>>,
    },
    /// Bytes.
    Binary(Vec<u8>),
    /// Bytes that the application encrypted, as they are stored.
    Encrypted(Vec<u8>),
    /// A value that can only be read in part.
    Incomplete(Incomplete),
}

/// A date as stored: days since 1899-12-30, or a Windows file time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DateTime(f64);

/// A GUID, in stored byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Guid(pub [u8; 16]);

/// The readable rest of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Incomplete {
    /// Length of the whole value in bytes, if it is known.
    pub bytes: Option<u32>,
    /// Its readable parts: offset in bytes, and content.
    pub parts: Vec<(u32, Vec<u8>)>,
    /// Parts in a compressed form that is not decoded here: offset in bytes of the value, and
    /// stored bytes.
    pub undecoded: Vec<(u32, Vec<u8>)>,
    /// Why the rest is missing.
    pub damage: Damage,
}

impl DateTime {
    /// Microseconds since 1970 in UTC; `None` if the number is not an exact time.
    pub fn unix_microseconds(self) -> Option<i64> {
        ese::value::unix_microseconds(self.0)
    }

    /// The number as stored.
    pub const fn stored(self) -> f64 {
        self.0
    }
}

impl fmt::Display for DateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Stored::DateTime(self.0).fmt(f)
    }
}

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Stored::Guid(self.0).fmt(f)
    }
}

impl Value {
    pub(crate) fn of(column: &ColumnDefinition, salvaged: Salvaged) -> Self {
        match salvaged {
            Salvaged::Whole(FieldValue::Bytes(bytes)) => typed(Stored::decode(column, &bytes)),
            Salvaged::Whole(FieldValue::Encrypted(bytes)) => Self::Encrypted(bytes),
            Salvaged::Partial(partial) => Self::Incomplete(Incomplete::of(partial)),
        }
    }

    pub(crate) fn lost(damage: Damage) -> Self {
        let (parts, undecoded) = (Vec::new(), Vec::new());
        Self::Incomplete(Incomplete { bytes: None, parts, undecoded, damage })
    }
}

fn ended(text: &str) -> String {
    text.trim_end_matches('\0').to_owned()
}

fn typed(stored: Stored) -> Value {
    match stored {
        Stored::Bit(bit) => Value::Bit(bit),
        Stored::Integer(number) => Value::Integer(number),
        Stored::Unsigned(number) => Value::Unsigned(number),
        Stored::Real(number) => Value::Real(number),
        Stored::DateTime(days) => Value::DateTime(DateTime(days)),
        Stored::Guid(bytes) => Value::Guid(Guid(bytes)),
        Stored::Text(text) => Value::Text { text: ended(&text), stored: None },
        Stored::OddText { shown, stored } => {
            Value::Text { text: ended(&shown), stored: Some(stored) }
        }
        Stored::Binary(bytes) => Value::Binary(bytes),
    }
}

impl Incomplete {
    fn of(partial: PartialValue) -> Self {
        let damage = Damage::of_read(&partial.reason);
        let (mut parts, mut undecoded) = (Vec::new(), Vec::new());
        for chunk in partial.chunks {
            match chunk.content {
                ChunkContent::Bytes(bytes) => parts.push((chunk.offset, bytes)),
                ChunkContent::Stored(bytes) => undecoded.push((chunk.offset, bytes)),
            }
        }
        Self { bytes: partial.bytes, parts, undecoded, damage }
    }
}
