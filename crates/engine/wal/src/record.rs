//! Log records and their encoding: begin, commit and rollback, page changes, and the opening,
//! growth and closing of the database.

use units::Bytes;

use crate::codec::{DecodeError, Fields, put_number};
use crate::edit::{ApplyRecord, TransactionId};

#[cfg(test)]
mod tests;

/// One record of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogRecord {
    /// A transaction begins.
    Begin {
        /// The transaction.
        transaction: TransactionId,
    },
    /// A transaction is committed; it is durable once this record is.
    Commit {
        /// The transaction.
        transaction: TransactionId,
    },
    /// A transaction is rolled back: every undo it had pushed has been popped.
    Rollback {
        /// The transaction.
        transaction: TransactionId,
    },
    /// A change of pages.
    Apply(ApplyRecord),
    /// The database file is `length` long from this record on; pages up to there may be used.
    Extend {
        /// The file's new length, header pages included.
        length: Bytes,
    },
    /// The database was opened for changes.
    Attach {
        /// The random part of the database's signature.
        database: u32,
        /// The highest database time in use.
        dbtime: u64,
    },
    /// The database was closed; every page is on disk.
    Detach {
        /// The random part of the database's signature.
        database: u32,
        /// The highest database time in use.
        dbtime: u64,
    },
}

/// First byte of every record. Values are never reused, because old logs contain them.
mod kind {
    pub(super) const BEGIN: u8 = 1;
    pub(super) const COMMIT: u8 = 2;
    pub(super) const ROLLBACK: u8 = 3;
    pub(super) const APPLY: u8 = 4;
    pub(super) const EXTEND: u8 = 5;
    pub(super) const ATTACH: u8 = 6;
    pub(super) const DETACH: u8 = 7;
}

impl LogRecord {
    /// Appends the record's bytes to `out`.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Begin { transaction } => put_transaction(out, kind::BEGIN, *transaction),
            Self::Commit { transaction } => put_transaction(out, kind::COMMIT, *transaction),
            Self::Rollback { transaction } => put_transaction(out, kind::ROLLBACK, *transaction),
            Self::Apply(apply) => encode_apply(apply, out),
            Self::Extend { length } => {
                out.push(kind::EXTEND);
                put_number(out, length.0);
            }
            Self::Attach { database, dbtime } => put_state(out, kind::ATTACH, *database, *dbtime),
            Self::Detach { database, dbtime } => put_state(out, kind::DETACH, *database, *dbtime),
        }
    }

    /// Decodes a record from `bytes`, which must contain nothing else.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut fields = Fields::new(bytes);
        let record = match fields.u8("record kind")? {
            kind::BEGIN => Self::Begin { transaction: transaction(&mut fields)? },
            kind::COMMIT => Self::Commit { transaction: transaction(&mut fields)? },
            kind::ROLLBACK => Self::Rollback { transaction: transaction(&mut fields)? },
            kind::APPLY => Self::Apply(ApplyRecord::decode(&mut fields)?),
            kind::EXTEND => Self::Extend { length: Bytes(fields.number("file length")?) },
            kind::ATTACH => {
                let (database, dbtime) = state(&mut fields)?;
                Self::Attach { database, dbtime }
            }
            kind::DETACH => {
                let (database, dbtime) = state(&mut fields)?;
                Self::Detach { database, dbtime }
            }
            _ => return Err(fields.error("record kind")),
        };
        fields.end()?;
        Ok(record)
    }
}

/// Appends the bytes of a [`LogRecord::Apply`].
pub(crate) fn encode_apply(apply: &ApplyRecord, out: &mut Vec<u8>) {
    out.push(kind::APPLY);
    apply.encode(out);
}

fn put_transaction(out: &mut Vec<u8>, kind: u8, transaction: TransactionId) {
    out.push(kind);
    put_number(out, transaction.0);
}

fn transaction(fields: &mut Fields<'_>) -> Result<TransactionId, DecodeError> {
    Ok(TransactionId(fields.number("transaction")?))
}

fn put_state(out: &mut Vec<u8>, kind: u8, database: u32, dbtime: u64) {
    out.push(kind);
    put_number(out, database);
    put_number(out, dbtime);
}

fn state(fields: &mut Fields<'_>) -> Result<(u32, u64), DecodeError> {
    Ok((fields.number("database signature")?, fields.number("database time")?))
}
