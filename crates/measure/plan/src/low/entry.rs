//! Value of a plan's key, single or a list: taken from a section, and written back.

use units::{Bytes, Nanos};

use crate::complaint::Complaint;
use crate::quantity::{write_duration, write_size};
use crate::reader::{Given, NumberOrAuto, TomlSection, Value};

/// One value.
pub(super) type One<T> = Option<Given<T>>;

/// Several values.
pub(super) type List<T> = Option<Vec<Given<T>>>;

/// Value of a key.
pub(super) trait Entry: Sized {
    /// The value of `key`, if given and of the right type.
    fn take(
        section: &mut TomlSection<'_>,
        key: &'static str,
        complaints: &mut Vec<Complaint>,
    ) -> Self;

    /// Appends the line of `key`, if it has a value.
    fn write(&self, key: &str, text: &mut String);
}

impl<T: Written> Entry for One<T> {
    fn take(
        section: &mut TomlSection<'_>,
        key: &'static str,
        complaints: &mut Vec<Complaint>,
    ) -> Self {
        section.take(key, complaints)
    }

    fn write(&self, key: &str, text: &mut String) {
        if let Some(given) = self {
            text.extend([key, " = ", &given.value.written(), "\n"]);
        }
    }
}

impl<T: Written> Entry for List<T> {
    fn take(
        section: &mut TomlSection<'_>,
        key: &'static str,
        complaints: &mut Vec<Complaint>,
    ) -> Self {
        section.take_list(key, complaints)
    }

    fn write(&self, key: &str, text: &mut String) {
        if let Some(list) = self {
            let values: Vec<String> = list.iter().map(|given| given.value.written()).collect();
            text.extend([key, " = [", &values.join(", "), "]\n"]);
        }
    }
}

/// A value that can be written to a document.
pub(super) trait Written: Value {
    fn written(&self) -> String;
}

impl Written for String {
    fn written(&self) -> String {
        quoted(self)
    }
}

impl Written for bool {
    fn written(&self) -> String {
        self.to_string()
    }
}

impl Written for i128 {
    fn written(&self) -> String {
        self.to_string()
    }
}

impl Written for f64 {
    fn written(&self) -> String {
        self.to_string()
    }
}

impl Written for Bytes {
    fn written(&self) -> String {
        quoted(&write_size(*self))
    }
}

impl Written for Nanos {
    fn written(&self) -> String {
        quoted(&write_duration(*self))
    }
}

impl Written for NumberOrAuto {
    fn written(&self) -> String {
        match self {
            Self::Auto => quoted("auto"),
            Self::Number(number) => number.to_string(),
        }
    }
}

/// `text` as a TOML basic string.
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}

fn escaped(symbol: char) -> String {
    match symbol {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        symbol if symbol.is_control() => format!("\\u{:04X}", u32::from(symbol)),
        symbol => symbol.to_string(),
    }
}
