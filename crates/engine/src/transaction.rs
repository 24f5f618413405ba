//! Transactions: snapshot reads, first writer wins, rollback.
//!
//! A transaction sees the database as it was when it began, plus its own changes. A row that
//! another transaction has changed since cannot be changed: [`TransactionError::Conflict`].

use crate::error::TransactionError;
use crate::row::Row;
use crate::table::{Never, Table};

/// How long a commit waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Not at all: the commit becomes durable with the next one that waits, or when the log
    /// buffer is written for another reason. Order is always kept.
    Lazy,
    /// Until the log is on stable storage.
    Durable,
}

/// Where the commit record lies in the log; later commits have greater positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommitPosition(pub u64);

/// What a scan walks along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The primary index: entries are (primary key, record).
    Primary,
    /// A secondary index, counted from 0 in catalog order: entries are (index key, primary key).
    Index(usize),
}

/// One entry of a scan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// Normalised key.
    pub key: Vec<u8>,
    /// The record, or the primary key.
    pub data: Vec<u8>,
}

/// A transaction. End it with [`Transaction::commit`] or [`Transaction::rollback`]; one that is
/// dropped is rolled back in the background, and its rows stay locked until that is done.
pub struct Transaction {
    state: Never,
}

/// An ascending walk over a snapshot.
pub struct Scan<'a> {
    state: Never,
    transaction: std::marker::PhantomData<&'a Transaction>,
}

impl Transaction {
    /// Inserts a row: record, long values and index entries, in one log record.
    pub async fn insert(&mut self, table: &Table, row: &Row) -> Result<(), TransactionError> {
        let _ = (table, row);
        match self.state {}
    }

    /// Puts the record with this primary key into `record`, without its long values; false where
    /// the snapshot has none. Decode it with `ese::record`.
    pub async fn read(
        &self,
        table: &Table,
        key: &[u8],
        record: &mut Vec<u8>,
    ) -> Result<bool, TransactionError> {
        let _ = (table, key, record);
        match self.state {}
    }

    /// Puts the long value of this number (the LID that a record holds) into `value`.
    pub async fn read_long_value(
        &self,
        table: &Table,
        long_value: u32,
        value: &mut Vec<u8>,
    ) -> Result<(), TransactionError> {
        let _ = (table, long_value, value);
        match self.state {}
    }

    /// Replaces the row that has the primary key of `row`: every column, long values included.
    pub async fn replace(&mut self, table: &Table, row: &Row) -> Result<(), TransactionError> {
        let _ = (table, row);
        match self.state {}
    }

    /// Deletes the row with this primary key.
    pub async fn delete(&mut self, table: &Table, key: &[u8]) -> Result<(), TransactionError> {
        let _ = (table, key);
        match self.state {}
    }

    /// A scan that begins at the first entry whose key is not below `from`.
    pub fn scan(&self, table: &Table, order: Order, from: &[u8]) -> Scan<'_> {
        let _ = (table, order, from);
        match self.state {}
    }

    /// Ends the transaction and makes its changes visible to those that begin later.
    pub async fn commit(self, durability: Durability) -> Result<CommitPosition, TransactionError> {
        let _ = durability;
        match self.state {}
    }

    /// Ends the transaction and undoes its changes.
    pub async fn rollback(self) -> Result<(), TransactionError> {
        match self.state {}
    }
}

impl Scan<'_> {
    /// The next entry; none at the end.
    pub async fn next(&mut self) -> Result<Option<Entry>, TransactionError> {
        let _ = self.transaction;
        match self.state {}
    }
}
