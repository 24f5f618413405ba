//! Sessions and their open transactions: the changes that may have to be undone, and the records
//! that wait for the end of their macro.

use std::borrow::Cow;
use std::collections::BTreeMap;

use units::PageNumber;

use super::{LogReplay, PageStore};
use crate::layout::{Field, types};
use crate::record::LogRecord;

/// Numbers that records and undo information give to operations.
pub(super) mod operations {
    pub(crate) const INSERT: u64 = 1;
    pub(crate) const REPLACE: u64 = 2;
    pub(crate) const FLAG_DELETE: u64 = 3;
    pub(crate) const DELTA: u64 = 4;
    pub(crate) const DELTA64: u64 = 9;
}

/// In the flags of a record: undo is possible and may be needed.
pub(super) const VERSIONED: u64 = 1;
/// In the flags of a record: keys of its tree do not repeat.
pub(super) const UNIQUE: u64 = 4;

/// What a change did, as far as undo needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Undoable {
    Insert,
    FlagDelete,
    Replace {
        before: Vec<u8>,
    },
    /// A sum, of eight bytes if wide.
    Delta {
        offset: usize,
        delta: i64,
        is_wide: bool,
    },
}

impl Undoable {
    /// The number that records give to it.
    const fn operation(&self) -> u64 {
        match self {
            Self::Insert => operations::INSERT,
            Self::Replace { .. } => operations::REPLACE,
            Self::FlagDelete => operations::FLAG_DELETE,
            Self::Delta { is_wide: false, .. } => operations::DELTA,
            Self::Delta { is_wide: true, .. } => operations::DELTA64,
        }
    }
}

/// A change that can be taken back.
#[derive(Clone, Debug)]
pub(super) struct UndoVersion {
    pub(super) number: u32,
    pub(super) level: u8,
    pub(super) root: PageNumber,
    /// The page that was changed; a split may have moved the row since.
    pub(super) page: PageNumber,
    pub(super) place: ese::Lgpos,
    pub(super) is_unique: bool,
    pub(super) key: Vec<u8>,
    pub(super) data: Vec<u8>,
    pub(super) change: Undoable,
}

/// A session of the engine.
#[derive(Debug, Default)]
pub(super) struct SessionState {
    level: u8,
    /// In the order of their numbers, which is that of the changes.
    versions: BTreeMap<u32, UndoVersion>,
    /// By database time.
    macros: BTreeMap<u64, Vec<LogRecord<'static>>>,
}

impl SessionState {
    pub(super) const fn is_open(&self) -> bool {
        self.level > 0
    }

    pub(super) const fn level(&self) -> u8 {
        self.level
    }

    /// Notes a change, unless its number has been noted already.
    pub(super) fn remember(&mut self, number: u32, version: UndoVersion) {
        if self.is_open() {
            self.versions.entry(number).or_insert(version);
        }
    }

    /// Removes and returns the change noted under a number, if it is of this operation.
    pub(super) fn forget(&mut self, number: u32, operation: u64) -> Option<Undoable> {
        let version = self.versions.get(&number)?;
        if version.change.operation() != operation {
            return None;
        }
        self.versions.remove(&number).map(|version| version.change)
    }

    /// All changes, the last first.
    pub(super) fn take_versions(&mut self) -> Vec<UndoVersion> {
        self.level = 0;
        std::mem::take(&mut self.versions).into_values().rev().collect()
    }

    /// Keeps a record that belongs to an open macro; false if there is none.
    pub(super) fn store(&mut self, record: &LogRecord<'_>) -> bool {
        if record.kind() == types::UNDO_INFORMATION {
            return false;
        }
        let Some(stored) = self.macros.get_mut(&record.number(Field::Dbtime)) else {
            return false;
        };
        let bytes = Cow::Owned(record.bytes().to_vec());
        stored.push(LogRecord::new(record.place(), bytes));
        true
    }

    /// A transaction that begins at level 0 follows an end, even if the record of that is lost.
    fn begin(&mut self, levels: u8) {
        let from = levels & 0xF;
        if from == 0 {
            self.versions.clear();
            self.macros.clear();
        }
        self.level = from + (levels >> 4);
    }

    fn commit(&mut self, level: u8) {
        self.level = self.level.min(level);
        if self.level == 0 {
            self.versions.clear();
        }
        for version in self.versions.values_mut() {
            version.level = version.level.min(level);
        }
    }

    /// Its changes have been undone by records of their own.
    fn roll_back(&mut self, levels: u8) {
        self.level = self.level.saturating_sub(levels);
        let level = self.level;
        self.versions.retain(|_, version| version.level <= level && level > 0);
    }
}

impl<S: PageStore> LogReplay<S> {
    /// Follows a record that begins, ends or groups changes; false if it is another one.
    pub(super) fn follow_transaction(&mut self, record: &LogRecord<'_>) -> Result<bool, S::Error> {
        let kind = record.kind();
        if ends_all_sessions(kind) {
            self.sessions.clear();
            return Ok(true);
        }
        let Some(id) = record.session() else {
            return Ok(false);
        };
        if matches!(kind, types::BEGIN0 | types::BEGIN_DISTRIBUTED) {
            self.sessions.entry(id).or_default();
        }
        let levels = record.byte(Field::Levels);
        let level = record.byte(Field::ToLevel);
        let dbtime = record.number(Field::Dbtime);
        let Some(session) = self.sessions.get_mut(&id) else {
            return Ok(is_transactional(kind));
        };
        match kind {
            types::BEGIN | types::BEGIN0 | types::BEGIN_DISTRIBUTED => session.begin(levels),
            types::REFRESH => session.level = 1,
            types::COMMIT | types::COMMIT0 => session.commit(level),
            types::ROLLBACK => session.roll_back(level),
            types::MACRO_BEGIN => {
                session.macros.insert(dbtime, Vec::new());
            }
            types::MACRO_ABORT => {
                session.macros.remove(&dbtime);
            }
            types::MACRO_COMMIT => {
                let records = session.macros.remove(&dbtime).unwrap_or_default();
                self.redo_macro(&records)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The session of a record, which has begun a transaction.
    pub(super) fn session_of(&mut self, record: &LogRecord<'_>) -> Option<&mut SessionState> {
        self.sessions.get_mut(&record.session()?)
    }
}

const fn is_transactional(kind: u8) -> bool {
    matches!(
        kind,
        types::BEGIN
            | types::COMMIT
            | types::COMMIT0
            | types::ROLLBACK
            | types::REFRESH
            | types::MACRO_BEGIN
            | types::MACRO_COMMIT
            | types::MACRO_ABORT
    )
}

/// Whether no session lives on: the engine was started or stopped.
const fn ends_all_sessions(kind: u8) -> bool {
    matches!(
        kind,
        types::INIT_OLD
            | types::INIT
            | types::TERM
            | types::TERM2
            | types::RECOVERY_QUIT
            | types::RECOVERY_QUIT2
            | types::RECOVERY_QUIT_KEEP
    )
}
