//! Names the tree that a finding or a notice is about.

use std::fmt;

/// The tree that a finding is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Subject {
    /// The table; empty for the database itself.
    pub table: String,
    /// The index, or "long values"; empty for the table itself.
    pub index: String,
}

impl Subject {
    pub(super) fn table(name: &str) -> Self {
        Self { table: name.to_owned(), index: String::new() }
    }

    pub(super) fn index(table: &str, index: &str) -> Self {
        Self { table: table.to_owned(), index: index.to_owned() }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.table.as_str(), self.index.as_str()) {
            ("", _) => f.write_str("database"),
            (table, "") => f.write_str(table),
            (table, index) => write!(f, "{table}/{index}"),
        }
    }
}
