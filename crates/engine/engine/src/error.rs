//! Errors of a live database, by operation, in words an operator can act on.

use std::fmt;
use std::rc::Rc;

use device::DeviceError;
use units::PageNumber;

use crate::recovery::RecoveryError;

/// A page unsuitable for the tree that points to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusablePage {
    /// The database file.
    pub file: String,
    /// The page.
    pub page: PageNumber,
    /// The problem with it.
    pub problem: String,
}

impl fmt::Display for UnusablePage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, page, problem } = self;
        write!(f, "{file}: page {page}: {problem}; check the disk, then restore the database")
    }
}

/// A page that is intact but old: its last write was acknowledged and never reached the medium.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostFlush {
    /// The database file.
    pub file: String,
    /// The page.
    pub page: PageNumber,
    /// The flush type of its last write.
    pub written: u8,
    /// The flush type found on it; 0 if the page is all zero.
    pub found: u8,
}

impl fmt::Display for LostFlush {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, page, written, found } = self;
        write!(
            f,
            "{file}: page {page}: lost flush: its last write was acknowledged and never reached \
             the medium (flush type {found} instead of {written}); replace the storage, then \
             restore the database"
        )
    }
}

/// Why a database could not be opened or created.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenError {
    /// A file operation failed.
    Device(DeviceError),
    /// The file is not a database, or both headers are damaged.
    NotADatabase {
        /// The file.
        file: String,
        /// The problem.
        problem: String,
    },
    /// The database was not closed properly and its log must be replayed first.
    Dirty {
        /// The file.
        file: String,
        /// The first and last log generation that recovery needs.
        generations: (u32, u32),
    },
    /// The database cannot be recovered.
    Recovery(RecoveryError),
    /// A page that must be read to open the database is damaged.
    Damaged(UnusablePage),
    /// A page that must be read to open the database lost its last write.
    LostFlush(LostFlush),
    /// The file ends before the last page that the database owns.
    Truncated {
        /// The file.
        file: String,
        /// The last whole page of the file.
        last: PageNumber,
        /// The last page that the database owns.
        owned: PageNumber,
    },
    /// The log could not be opened.
    Log {
        /// The problem with the log folder.
        problem: String,
    },
    /// This engine does not support the schema.
    Unsupported {
        /// The file.
        file: String,
        /// The missing capability.
        problem: String,
    },
}

impl OpenError {
    /// Whether the storage is at fault: it lost or altered data written to it.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Recovery(error) => error.is_damage(),
            Self::Device(error) => matches!(error, DeviceError::Io { .. }),
            Self::Damaged(_) | Self::LostFlush(_) | Self::Truncated { .. } => true,
            _ => false,
        }
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Device(error) => error.fmt(f),
            Self::NotADatabase { file, problem } => {
                write!(f, "{file}: not a database that can be opened: {problem}")
            }
            Self::Dirty { file, generations: (first, last) } => write!(
                f,
                "{file}: was not closed properly; recover it first (needs log generations \
                 {first:#x} to {last:#x})"
            ),
            Self::Recovery(error) => error.fmt(f),
            Self::Damaged(damage) => damage.fmt(f),
            Self::LostFlush(lost) => lost.fmt(f),
            Self::Truncated { file, last, owned } => write!(
                f,
                "{file}: truncated: it ends with page {last}, the database owns pages up to \
                 {owned}; check the disk, then restore the database"
            ),
            Self::Log { problem } => write!(f, "{problem}"),
            Self::Unsupported { file, problem } => write!(f, "{file}: {problem}"),
        }
    }
}

impl std::error::Error for OpenError {}

impl From<DeviceError> for OpenError {
    fn from(error: DeviceError) -> Self {
        Self::Device(error)
    }
}

/// Why an operation of a transaction failed. The transaction itself stays open unless the database
/// is poisoned.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransactionError {
    /// Another transaction has changed the row since this one began: roll back and try again.
    Conflict,
    /// A row with this primary key exists.
    Duplicate,
    /// No such row exists.
    NotFound,
    /// The record, or one of its long values, exceeds the maximum size.
    RowTooLarge {
        /// Size of the record or long value in bytes.
        bytes: usize,
        /// The maximum that fits.
        most: usize,
    },
    /// A column of the row does not fit the table.
    BadRow {
        /// The problem.
        problem: String,
    },
    /// A page could not be understood.
    Damaged(UnusablePage),
    /// A page lost its last write. The database has stopped: one write was lost, and more may have
    /// been.
    LostFlush(LostFlush),
    /// A page could not be read.
    Read(DeviceError),
    /// An earlier write or flush failed: the database refuses reads and changes until it is
    /// reopened.
    Poisoned(Rc<PoisonCause>),
}

impl TransactionError {
    /// Whether the engine refuses the request, rather than the storage failing it.
    pub const fn is_refusal(&self) -> bool {
        match self {
            Self::Conflict
            | Self::Duplicate
            | Self::NotFound
            | Self::RowTooLarge { .. }
            | Self::BadRow { .. } => true,
            Self::Damaged(_) | Self::LostFlush(_) | Self::Read(_) | Self::Poisoned(_) => false,
        }
    }
}

impl fmt::Display for TransactionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict => {
                f.write_str("another transaction has changed the row; roll back and try again")
            }
            Self::Duplicate => f.write_str("a row with this key exists already"),
            Self::NotFound => f.write_str("there is no row with this key"),
            Self::RowTooLarge { bytes, most } => {
                write!(f, "the row needs {bytes} bytes and at most {most} fit; make it smaller")
            }
            Self::BadRow { problem } => write!(f, "the row does not fit its table: {problem}"),
            Self::Damaged(damage) => damage.fmt(f),
            Self::LostFlush(lost) => lost.fmt(f),
            Self::Read(error) => error.fmt(f),
            Self::Poisoned(poison) => poison.fmt(f),
        }
    }
}

impl std::error::Error for TransactionError {}

/// The first failed write or flush of a database, after which it refuses further work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoisonCause {
    /// The database file.
    pub file: String,
    /// The failure.
    pub cause: String,
    /// Whether a lost flush revealed the failure: then the log may start too late to help.
    pub is_lost_flush: bool,
}

impl fmt::Display for PoisonCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, cause, .. } = self;
        if self.is_lost_flush {
            return write!(
                f,
                "{file}: stopped after a write that was acknowledged and never made ({cause}); \
                 replace the storage, then restore the database"
            );
        }
        write!(
            f,
            "{file}: stopped after a failed write ({cause}); repair the storage, then open the \
             database again: everything acknowledged is recovered from the log"
        )
    }
}
