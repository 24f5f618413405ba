//! Errors in single elements of a configuration.

use std::fmt;

/// A problem with one element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConversionProblem {
    /// An element exists but is empty.
    Empty {
        /// The element.
        element: String,
    },
    /// An element's value cannot be read.
    Value {
        /// The element.
        element: String,
        /// The value.
        value: String,
        /// The permitted values.
        wanted: &'static str,
    },
    /// There are no databases.
    NoInstances,
}

impl ConversionProblem {
    /// The problem that `element` has `value` instead of `wanted`.
    pub(super) fn of(element: &str, value: &str, wanted: &'static str) -> Self {
        let element = element.to_owned();
        if value.is_empty() {
            return Self::Empty { element };
        }
        Self::Value { element, value: units::plain(value).into_owned(), wanted }
    }
}

impl fmt::Display for ConversionProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty { element } => {
                write!(f, "{element} is empty; give it a value, or delete the element")
            }
            Self::Value { element, value, wanted } => {
                write!(f, "{element} holds `{value}`, which cannot be read; give {wanted}")
            }
            Self::NoInstances => {
                write!(f, "names no EseInstance, so there are no databases; add one")
            }
        }
    }
}
