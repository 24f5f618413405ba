//! The document for LUNs over iSCSI: the LUNs, and their initiators.

mod model;
mod names;
mod read;
#[cfg(test)]
mod tests;

use crate::complaint::PlanError;
use crate::reader::{Lines, TomlSection, parse};

pub use model::{
    Allocation, ChapMode, LunAccess, LunContent, LunDocument, LunInitiator, LunPool, LunSource,
    LunWish,
};

/// The commented document that `plimsoll iscsi plan` prints as a starting point.
const EXAMPLE: &str = include_str!("../documents/luns.toml");

/// The command that prints a document to start from.
const EXAMPLE_COMMAND: &str = "plimsoll iscsi plan";

impl LunDocument {
    /// Reads a document from TOML `text`; error messages call it `file`.
    pub fn parse(file: &str, text: &str) -> Result<Self, PlanError> {
        let mut complaints = Vec::new();
        let document = parse(text, EXAMPLE_COMMAND, &mut complaints).map(|table| {
            let lines = Lines::of_text(text);
            read::document(TomlSection::root(&table, &lines), &mut complaints)
        });
        complaints.sort_by_key(|complaint| complaint.line);
        match document {
            Some(document) if complaints.is_empty() => Ok(document),
            _ => Err(PlanError { file: file.to_owned(), complaints }),
        }
    }

    /// A document with every key explained, ready to be edited.
    pub const fn example() -> &'static str {
        EXAMPLE
    }
}
