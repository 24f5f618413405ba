//! The value of one column in a record.

use crate::long_value::LongValueId;
use crate::schema::ColumnDefinition;

/// The value of a column in a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stored<'a> {
    /// Nothing: the column's default applies, or null.
    Absent,
    /// Null, explicitly.
    Null,
    /// One value.
    One(Element<'a>),
    /// Several values, in order.
    Many(Vec<Element<'a>>),
}

impl<'a> Stored<'a> {
    /// The values, in order; the column's default if the record does not store the column.
    pub(crate) fn or_default(self, column: &'a ColumnDefinition) -> Vec<Element<'a>> {
        match self {
            Self::Absent => column.promised_default().map(Element::Plain).into_iter().collect(),
            Self::Null => Vec::new(),
            Self::One(element) => vec![element],
            Self::Many(elements) => elements,
        }
    }
}

/// One value of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element<'a> {
    /// The value itself.
    Plain(&'a [u8]),
    /// The value, compressed.
    Compressed(&'a [u8]),
    /// The value, encrypted by the application.
    Encrypted(&'a [u8]),
    /// The value is a long value, stored separately.
    Separated(LongValueId),
}
