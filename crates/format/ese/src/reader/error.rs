//! Why a database could not be read.

use std::convert::Infallible;
use std::fmt;

use units::{ObjectId, PageNumber};

use crate::compression::CompressionError;
use crate::long_value::LongValueId;
use crate::page_check::PageFault;
use crate::reader::PageLoss;
use crate::record::RecordError;

/// Why a database could not be read. `E` is the error of its page source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadError<E> {
    /// The source could not provide a page.
    Source(E),
    /// A page does not hold the data written to it, or the source withholds it.
    Lost {
        /// The page.
        page: PageNumber,
        /// Which of these two reasons applies.
        loss: PageLoss,
    },
    /// A page of a tree is inconsistent.
    Page {
        /// The page.
        page: PageNumber,
        /// The fault.
        fault: PageFault,
    },
    /// A tree points to a page that belongs to another tree.
    OtherTree {
        /// The page.
        page: PageNumber,
        /// The object that it belongs to.
        object: ObjectId,
    },
    /// A page points past the end of the file.
    BeyondFile {
        /// The page pointed to.
        page: PageNumber,
    },
    /// A tree points to a page that was never written.
    Uninitialised {
        /// The page.
        page: PageNumber,
    },
    /// A node cannot be read.
    Node {
        /// Its page.
        page: PageNumber,
        /// Its line.
        line: usize,
    },
    /// A tree is deeper, or a chain of leaves longer, than the file allows: it contains a cycle.
    Circle {
        /// The page at which the cycle was detected.
        page: PageNumber,
    },
    /// A record cannot be read.
    Record {
        /// The fault.
        error: RecordError,
    },
    /// A compressed value cannot be read.
    Compression {
        /// The fault.
        error: CompressionError,
    },
    /// A record names a long value that is missing or incomplete.
    LongValue {
        /// The value.
        id: LongValueId,
    },
    /// The catalog does not even list itself.
    Catalog {
        /// Its root page.
        page: PageNumber,
    },
    /// A root page has no readable space header.
    SpaceHeader {
        /// The root page.
        page: PageNumber,
    },
}

impl<E> ReadError<E> {
    /// Separates damage of the database from the source's own errors, which are returned as `Err`.
    pub fn without_source(self) -> Result<ReadDamage, E> {
        self.with_source(Err)
    }

    /// Converts the error, mapping the source's own errors with `source`.
    fn with_source<F, X>(
        self,
        source: impl FnOnce(E) -> Result<ReadError<F>, X>,
    ) -> Result<ReadError<F>, X> {
        Ok(match self {
            Self::Source(error) => return source(error),
            Self::Lost { page, loss } => ReadError::Lost { page, loss },
            Self::Page { page, fault } => ReadError::Page { page, fault },
            Self::OtherTree { page, object } => ReadError::OtherTree { page, object },
            Self::BeyondFile { page } => ReadError::BeyondFile { page },
            Self::Uninitialised { page } => ReadError::Uninitialised { page },
            Self::Node { page, line } => ReadError::Node { page, line },
            Self::Circle { page } => ReadError::Circle { page },
            Self::Record { error } => ReadError::Record { error },
            Self::Compression { error } => ReadError::Compression { error },
            Self::LongValue { id } => ReadError::LongValue { id },
            Self::Catalog { page } => ReadError::Catalog { page },
            Self::SpaceHeader { page } => ReadError::SpaceHeader { page },
        })
    }

    /// The page to blame; `NONE` if no single page is.
    pub(crate) const fn page(&self) -> PageNumber {
        match self {
            Self::Lost { page, .. }
            | Self::Page { page, .. }
            | Self::OtherTree { page, .. }
            | Self::BeyondFile { page }
            | Self::Uninitialised { page }
            | Self::Node { page, .. }
            | Self::Circle { page }
            | Self::Catalog { page }
            | Self::SpaceHeader { page } => *page,
            Self::Source(_)
            | Self::Record { .. }
            | Self::Compression { .. }
            | Self::LongValue { .. } => PageNumber::NONE,
        }
    }
}

/// Damage found by a read, apart from errors of the source.
pub type ReadDamage = ReadError<Infallible>;

impl ReadDamage {
    /// Converts the damage to the error type of a source with its own errors.
    pub(crate) fn widen<E>(self) -> ReadError<E> {
        let widened: Result<_, Infallible> = self.with_source(|never| match never {});
        let Ok(error) = widened;
        error
    }
}

impl<E> From<RecordError> for ReadError<E> {
    fn from(error: RecordError) -> Self {
        Self::Record { error }
    }
}

impl<E> From<CompressionError> for ReadError<E> {
    fn from(error: CompressionError) -> Self {
        Self::Compression { error }
    }
}

impl<E: fmt::Display> fmt::Display for ReadError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source(error) => error.fmt(f),
            Self::Lost { page, loss } => write!(f, "page {page} {loss}"),
            Self::Page { page, fault } => write!(f, "page {page} is damaged: {fault}"),
            Self::OtherTree { page, object } => {
                write!(f, "page {page} belongs to another tree, object {object}")
            }
            Self::BeyondFile { page } => write!(f, "page {page} is past the end of the file"),
            Self::Uninitialised { page } => {
                write!(f, "page {page} belongs to a tree and is all zeros: wiped or never written")
            }
            Self::Node { page, line } => {
                write!(f, "the node at line {line} of page {page} cannot be read")
            }
            Self::Circle { page } => write!(f, "the links of page {page} go in circles"),
            Self::Record { error } => error.fmt(f),
            Self::Compression { error } => error.fmt(f),
            Self::LongValue { id } => write!(f, "long value {id} is missing or incomplete"),
            Self::Catalog { page } => {
                write!(f, "the catalog at page {page} does not describe a database")
            }
            Self::SpaceHeader { page } => write!(f, "page {page} has no readable space header"),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> std::error::Error for ReadError<E> {}
