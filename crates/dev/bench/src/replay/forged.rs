//! Logs in the format of the real engine: transactions that replace rows.

use std::collections::HashMap;

use testkit::forged_log::{ForgedLog, PageChange, begin, commit};
use units::Prng;

use super::pages::{OBJECT, PAGES, ROW_BYTES, ROWS};

/// Number of changes in a transaction.
const CHANGES: u64 = 8;
const SESSION: u16 = 1;
/// Record type and flags of the changes: a versioned replacement in a tree with unique keys.
const REPLACE: u8 = 33;
const FLAGS: u8 = 5;

/// The state from which a log continues.
pub(super) struct ReplaceLog {
    dbtime: u64,
    of_page: HashMap<u32, u64>,
    version: u32,
    /// Number of changes so far in the current transaction.
    changes: u64,
    most_changes: u64,
    random: Prng,
}

impl ReplaceLog {
    /// A log of short transactions whose pages, rows and data `random` chooses.
    pub(super) fn new(random: Prng) -> Self {
        let (of_page, most_changes) = (HashMap::new(), CHANGES);
        Self { dbtime: 1, of_page, version: 0, changes: 0, most_changes, random }
    }

    /// A log of a single transaction that never ends.
    pub(super) fn open(random: Prng) -> Self {
        Self { most_changes: u64::MAX, ..Self::new(random) }
    }

    /// The bytes of the next generation.
    pub(super) fn generation(&mut self, generation: u32) -> Vec<u8> {
        let mut log = ForgedLog::new(generation);
        loop {
            let (record, page) = self.record();
            if !log.push(&record) {
                log.close();
                return log.bytes;
            }
            self.advance(page);
        }
    }

    /// Returns the next record and the page that it changes. The log's state changes only with
    /// [`Self::advance`].
    fn record(&mut self) -> (Vec<u8>, Option<u32>) {
        match self.changes {
            0 => (begin(SESSION), None),
            changes if changes > self.most_changes => (commit(SESSION), None),
            _ => {
                let page = 1 + u32::try_from(self.random.below(u64::from(PAGES))).unwrap_or(0);
                (self.replace(page), Some(page))
            }
        }
    }

    fn replace(&mut self, page: u32) -> Vec<u8> {
        let line = u16::try_from(self.random.below(u64::from(ROWS))).unwrap_or_default();
        let before = self.of_page.get(&page).copied().unwrap_or(1);
        let change = PageChange {
            kind: REPLACE,
            session: SESSION,
            database: 1,
            page,
            before,
            after: self.dbtime + 1,
            level: 1,
            line,
            flags: FLAGS,
        };
        let length = u16::try_from(ROW_BYTES).unwrap_or_default().to_le_bytes();
        let mut rest = [length, length, length].concat();
        rest.resize(rest.len() + ROW_BYTES, 0);
        self.random.fill(&mut rest[6..]);
        change.of_node(self.version + 2, page, OBJECT, &rest)
    }

    fn advance(&mut self, page: Option<u32>) {
        if let Some(page) = page {
            self.dbtime += 1;
            self.version += 2;
            self.of_page.insert(page, self.dbtime);
        }
        self.changes = if self.changes > self.most_changes { 0 } else { self.changes + 1 };
    }
}
