//! Why part of a database could not be read.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use ese::header::HeaderError;
use ese::reader::{Loss, LostPart, ReadDamage, ReadError};

use crate::file::Withheld;

/// Why a database could not be opened.
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// The operating system cannot open or read the file.
    Io {
        /// The file; empty if it was not opened by its name.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The file is not an ESE database, or neither copy of its header is trustworthy.
    Header(String),
    /// Both copies of the catalog are lost, so that no table can be found.
    Catalog(Damage),
}

impl OpenError {
    pub(crate) fn of_io(path: &Path, error: io::Error) -> Self {
        Self::Io { path: path.to_owned(), error }
    }

    pub(crate) fn of_header(error: HeaderError) -> Self {
        Self::Header(error.to_string())
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, error } if path.as_os_str().is_empty() => error.fmt(f),
            Self::Io { path, error } => write!(f, "{}: {error}", path.display()),
            Self::Header(reason) => f.write_str(reason),
            Self::Catalog(damage) => {
                write!(f, "the catalog and its copy are lost, and with them all tables: {damage}")
            }
        }
    }
}

impl std::error::Error for OpenError {}

/// A part of a database that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Number of the page; `None` if no single page is to blame.
    pub page: Option<u32>,
    /// The problem and its consequence, in one sentence.
    pub reason: String,
}

impl Damage {
    pub(crate) fn of_read(error: &ReadDamage) -> Self {
        Self { page: page_of(error), reason: error.to_string() }
    }

    pub(crate) fn of_error(error: ReadError<Withheld>) -> Self {
        match error.without_source() {
            Ok(reason) => Self::of_read(&reason),
            Err(withheld) => Self::of_page(withheld),
        }
    }

    pub(crate) fn of_page(Withheld(loss): Withheld) -> Self {
        Self { page: None, reason: format!("a page {loss}") }
    }

    pub(crate) fn of_loss(loss: &Loss) -> Self {
        let cost = match loss.part {
            LostPart::Leaf => "its rows are lost",
            LostPart::Branch { rescued: 0 } => "an internal page; no rows below it were found",
            LostPart::Branch { .. } => "an internal page; pages of rows below it were found",
            LostPart::SomeNodes => "rows that look sound are kept",
            LostPart::Node => "the row is lost",
        };
        Self { page: page_of(&loss.error), reason: format!("{}; {cost}", loss.error) }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Damage {}

const fn page_of(error: &ReadDamage) -> Option<u32> {
    match error {
        ReadError::Lost { page, .. }
        | ReadError::Page { page, .. }
        | ReadError::OtherTree { page, .. }
        | ReadError::BeyondFile { page }
        | ReadError::Uninitialised { page }
        | ReadError::Node { page, .. }
        | ReadError::Circle { page }
        | ReadError::Catalog { page } => Some(page.0),
        _ => None,
    }
}
