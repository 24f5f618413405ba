//! Tracks how transactions end: which of a history's records were committed, and when.

use std::collections::BTreeMap;
use std::fmt;

use ese::{Lgpos, LogTime};
use eselog::{Field, LogRecord, Value};
use serde_json::{Value as Json, json};

/// Types of records that change the nesting level of a session's transaction.
mod kinds {
    pub(super) const BEGIN: [u8; 3] = [5, 8, 53];
    pub(super) const COMMIT: [u8; 2] = [6, 9];
    pub(super) const ROLLBACK: u8 = 7;
}

/// Transaction nesting level of each session.
#[derive(Debug, Default)]
pub(super) struct TransactionLevels {
    levels: BTreeMap<u16, u8>,
}

impl TransactionLevels {
    /// Processes a record; `true` if it ends a transaction at its outermost level.
    pub(super) fn ends_transaction(&mut self, record: &LogRecord<'_>) -> bool {
        let Some(session) = record.session() else {
            return false;
        };
        let kind = record.kind();
        if kinds::BEGIN.contains(&kind) {
            let levels = number(record, Field::Levels);
            self.levels.insert(session, (levels & 0xF).saturating_add(levels >> 4));
            return false;
        }
        let to = number(record, Field::ToLevel);
        let level = match kind {
            kinds::ROLLBACK => self.levels.get(&session).map_or(0, |from| from.saturating_sub(to)),
            _ if kinds::COMMIT.contains(&kind) => to,
            _ => return false,
        };
        self.levels.insert(session, level);
        level == 0
    }
}

fn number(record: &LogRecord<'_>, field: Field) -> u8 {
    let found = record.fields().find(|(name, _)| *name == field);
    match found {
        Some((_, Value::Number(number))) => u8::try_from(number).unwrap_or(u8::MAX),
        _ => 0,
    }
}

/// The end of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TransactionEnding {
    is_commit: bool,
    place: Lgpos,
    time: LogTime,
}

impl fmt::Display for TransactionEnding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { is_commit, place, time } = self;
        write!(f, "{} at {place} {time}", if *is_commit { "committed" } else { "rolled back" })
    }
}

impl TransactionEnding {
    /// Describes the ending; an open transaction has none.
    pub(super) fn words(ending: Option<Self>) -> String {
        ending.map_or_else(|| "never committed".to_owned(), |ending| ending.to_string())
    }

    /// The ending as JSON; null for an open transaction.
    pub(super) fn json(ending: Option<Self>) -> Json {
        ending.map_or(Json::Null, |ending| {
            json!({
                "is_commit": ending.is_commit,
                "place": ending.place.to_string(),
                "segment_time": ending.time.to_string(),
            })
        })
    }
}

/// The endings of the transactions with selected records, in log order.
#[derive(Debug, Default)]
pub(super) struct Endings {
    of_session: BTreeMap<u16, Vec<TransactionEnding>>,
    /// Transactions of each session that a second walk has passed.
    passed: BTreeMap<u16, usize>,
    levels: TransactionLevels,
}

impl Endings {
    /// Notes a selected record of the first walk.
    pub(super) fn note(&mut self, record: &LogRecord<'_>, time: LogTime) {
        if !self.levels.ends_transaction(record) {
            return;
        }
        if let Some(session) = record.session() {
            let is_commit = record.kind() != kinds::ROLLBACK;
            let ending = TransactionEnding { is_commit, place: record.place(), time };
            self.of_session.entry(session).or_default().push(ending);
        }
    }

    /// How the transaction of a selected record of the second walk ends.
    pub(super) fn of(&mut self, record: &LogRecord<'_>) -> Option<TransactionEnding> {
        let session = record.session()?;
        let passed = self.passed.entry(session).or_default();
        let ending = self.of_session.get(&session).and_then(|all| all.get(*passed)).copied();
        if ending.is_some_and(|ending| ending.place == record.place()) {
            *passed += 1;
        }
        ending
    }
}
