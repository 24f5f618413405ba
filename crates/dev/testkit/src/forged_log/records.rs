//! Records byte by byte: the fields that changes of pages share, and the ends of transactions.

/// Transaction number in all forged records.
const TRANSACTION: u32 = 7;

/// The record with which a session begins a transaction.
pub fn begin(session: u16) -> Vec<u8> {
    [&[8], session.to_le_bytes().as_slice(), &[0x10], &TRANSACTION.to_le_bytes()].concat()
}

/// The record with which a session commits its transaction.
pub fn commit(session: u16) -> Vec<u8> {
    [&[9], session.to_le_bytes().as_slice(), &[0], &(TRANSACTION + 1).to_le_bytes()].concat()
}

/// The record with which a session rolls back the innermost level of its transaction.
pub fn roll_back(session: u16) -> Vec<u8> {
    [&[7], session.to_le_bytes().as_slice(), &[1]].concat()
}

/// The record with which a session begins a level inside level `from` of its transaction.
pub fn begin_nested(session: u16, from: u8) -> Vec<u8> {
    [&[5], session.to_le_bytes().as_slice(), &[0x10 | from]].concat()
}

/// The record with which a session commits its transaction's levels above `to`.
pub fn commit_nested(session: u16, to: u8) -> Vec<u8> {
    [&[6], session.to_le_bytes().as_slice(), &[to]].concat()
}

/// The fields that start every record of a page change.
#[derive(Clone, Copy, Debug)]
pub struct PageChange {
    /// The record's type.
    pub kind: u8,
    /// The session that makes the change.
    pub session: u16,
    /// Number of the database within the log stream.
    pub database: u8,
    /// The page.
    pub page: u32,
    /// Its database time before the change.
    pub before: u64,
    /// Its database time after the change.
    pub after: u64,
    /// Depth of the transaction.
    pub level: u8,
    /// The node on the page.
    pub line: u16,
    /// Bits: 1 for versioned, 4 for unique keys.
    pub flags: u8,
}

impl PageChange {
    /// The record: these fields, then `rest`, which depends on the record's type.
    pub fn record(&self, rest: &[u8]) -> Vec<u8> {
        let mut record = vec![self.kind];
        record.extend(self.session.to_le_bytes());
        record.push(self.database);
        record.extend(self.page.to_le_bytes());
        record.extend(self.after.to_le_bytes());
        record.extend(self.before.to_le_bytes());
        record.extend(TRANSACTION.to_le_bytes());
        record.push(self.level);
        record.extend(self.line.to_le_bytes());
        record.push(self.flags);
        record.extend(rest);
        record
    }

    /// The record of a change to a node: `version` numbers the change; `root` and `object` identify
    /// its tree.
    pub fn of_node(&self, version: u32, root: u32, object: u32, rest: &[u8]) -> Vec<u8> {
        let node = [version, root, object].map(u32::to_le_bytes).concat();
        self.record(&[&node, rest].concat())
    }
}
