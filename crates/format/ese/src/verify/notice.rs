//! Remarks of an examination, apart from problems.

use std::fmt;

use units::{PageNumber, plural};

use crate::verify::Subject;

/// Lost pages of rows, and an estimate of what they held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostLeaves {
    /// Pages.
    pub(super) pages: u64,
    /// Rows of the mean page that was read.
    pub(super) rows_each: u64,
}

/// Something that is not wrong but that a reader of the report should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// An index with keys that cannot be recomputed here (Unicode text, several values, substrings)
    /// was walked but not compared with its table.
    IndexNotCompared {
        /// The index.
        subject: Subject,
    },
    /// The catalog is damaged; the rest relies on its copy.
    ShadowCatalog,
    /// Both copies of the catalog are damaged; the rest relies on their remains.
    SalvagedCatalog,
    /// A table with lost pages; it was not compared with its indexes and long values.
    LostRows {
        /// The table.
        subject: Subject,
        /// The lost pages of rows; `None` if the number of rows cannot be estimated.
        about: Option<LostLeaves>,
    },
    /// An index with lost pages; it was not compared with its table.
    LostEntries {
        /// The index.
        subject: Subject,
    },
    /// The file has pages past the last one that the database owns: room for growth, or not part of
    /// it.
    BehindTheEnd {
        /// The last page owned.
        owned: PageNumber,
        /// The last page of the file.
        last: PageNumber,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IndexNotCompared { subject } => {
                write!(
                    f,
                    "{subject}: structure checked; its keys cannot be recomputed here (Unicode \
                     text, several values or substrings)"
                )
            }
            Self::ShadowCatalog => {
                f.write_str("the catalog is damaged: its copy, MSysObjectsShadow, was used")
            }
            Self::SalvagedCatalog => {
                f.write_str("both copies of the catalog are damaged: their readable rows were used")
            }
            Self::LostRows { subject, about } => {
                write!(f, "{subject}: ")?;
                match about {
                    Some(LostLeaves { pages, rows_each }) => {
                        let rows = pages * rows_each;
                        let were = if rows == 1 { "was" } else { "were" };
                        write!(
                            f,
                            "about {} {were} skipped: {} of rows, if they hold {rows_each} each \
                             like the mean page that was read; ",
                            plural(rows, "row"),
                            plural(*pages, "page")
                        )?;
                    }
                    None => f.write_str("an unknown number of rows was skipped; ")?,
                }
                f.write_str("not compared with its indexes and long values")
            }
            Self::LostEntries { subject } => write!(
                f,
                "{subject}: some of its pages cannot be read; not compared with its table"
            ),
            Self::BehindTheEnd { owned, last } => write!(
                f,
                "pages {} to {last} are past the last one that the database owns: room for \
                 growth, or no part of it",
                owned.0.saturating_add(1)
            ),
        }
    }
}
