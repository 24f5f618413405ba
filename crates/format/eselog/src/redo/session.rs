//! Sessions and their open transactions: the changes that may have to be undone, and the records
//! that wait for the end of their macro.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::undo_log::UndoLog;
use super::undo_version::UndoVersion;
use super::{LogReplay, PageStore};
use crate::layout::{Field, types};
use crate::record::LogRecord;

/// In the flags of a record: undo is possible and may be needed.
pub(super) const VERSIONED: u64 = 1;
/// Record flag: the keys of its tree are unique.
pub(super) const UNIQUE: u64 = 4;

/// Macros of one session that are open at once: engines have one, damaged logs may have any number.
const MOST_MACROS: usize = 64;
/// Limit on the bytes of the records of one macro: a split has a page per level.
const MOST_MACRO_BYTES: usize = 16 << 20;

/// Records that wait for the end of their macro.
#[derive(Debug, Default)]
struct OpenMacro {
    records: Vec<LogRecord<'static>>,
    bytes: usize,
}

/// A session of the engine.
#[derive(Debug, Default)]
pub(super) struct SessionState {
    level: u8,
    pub(super) undo: UndoLog,
    /// By database time.
    macros: BTreeMap<u64, OpenMacro>,
}

impl SessionState {
    pub(super) const fn is_open(&self) -> bool {
        self.level > 0
    }

    /// Notes a change of an open transaction. Returns the memory that this takes.
    fn remembered(&mut self, mut version: UndoVersion<'_>) -> usize {
        if !self.is_open() {
            return 0;
        }
        let before = self.undo.bytes();
        version.level = version.level.min(self.level);
        self.undo.remember(&version);
        self.undo.bytes() - before
    }

    /// Ends the transaction, whose changes have been undone.
    pub(super) fn end(&mut self) {
        self.level = 0;
        self.undo.clear();
    }

    /// Keeps a record that belongs to an open macro; `false` if there is none.
    pub(super) fn store(&mut self, record: &LogRecord<'_>) -> bool {
        if self.macros.is_empty() || record.kind() == types::UNDO_INFORMATION {
            return false;
        }
        let Some(stored) = self.macros.get_mut(&record.number(Field::Dbtime)) else {
            return false;
        };
        stored.bytes += record.bytes().len();
        if stored.bytes <= MOST_MACRO_BYTES {
            let bytes = Cow::Owned(record.bytes().to_vec());
            stored.records.push(LogRecord::new(record.place(), bytes));
        }
        true
    }

    /// Begins a macro. If too many are open, drops the oldest.
    fn begin_macro(&mut self, dbtime: u64) {
        if self.macros.len() >= MOST_MACROS {
            self.macros.pop_first();
        }
        self.macros.insert(dbtime, OpenMacro::default());
    }

    /// Begins a transaction. At level 0 the previous one has ended, even if that record is lost.
    fn begin(&mut self, levels: u8) {
        let from = levels & 0xF;
        if from == 0 {
            self.undo.clear();
            self.macros.clear();
        }
        self.level = from + (levels >> 4);
    }

    fn commit(&mut self, level: u8) {
        self.level = self.level.min(level);
        if self.level == 0 {
            self.undo.clear();
        } else {
            self.undo.commit(level);
        }
    }

    /// Rolls back levels whose changes separate records have undone.
    fn roll_back(&mut self, levels: u8) {
        self.level = self.level.saturating_sub(levels);
        self.undo.roll_back(self.level);
    }
}

impl<S: PageStore> LogReplay<S> {
    /// Processes a record that begins, ends or groups changes; `false` for any other record.
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
            types::MACRO_BEGIN => session.begin_macro(dbtime),
            types::MACRO_ABORT => {
                session.macros.remove(&dbtime);
            }
            types::MACRO_COMMIT => {
                let ended = session.macros.remove(&dbtime).unwrap_or_default();
                self.redo_macro(&ended.records)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Notes a change of a session for undo. If memory is full, the longest undo logs are spilled.
    pub(super) fn note_undo(
        &mut self,
        session: Option<u16>,
        version: UndoVersion<'_>,
    ) -> Result<(), S::Error> {
        let session = session.and_then(|id| self.sessions.get_mut(&id));
        let Some(session) = session else {
            return Ok(());
        };
        self.undo_bytes += session.remembered(version);
        if self.undo_bytes > self.most_undo_bytes { self.spill_undo() } else { Ok(()) }
    }

    /// Spills the longest undo logs to the store until half of the memory is free.
    fn spill_undo(&mut self) -> Result<(), S::Error> {
        if !self.sessions.values().any(|session| session.undo.has_runs()) {
            self.aside_end = 0;
        }
        let mut sessions: Vec<&mut SessionState> = self.sessions.values_mut().collect();
        sessions.sort_unstable_by_key(|session| std::cmp::Reverse(session.undo.bytes()));
        // Transactions that have ended since the last count have freed their undo logs.
        self.undo_bytes = sessions.iter().map(|session| session.undo.bytes()).sum();
        if self.undo_bytes <= self.most_undo_bytes / 4 * 3 {
            return Ok(());
        }
        for session in sessions {
            if self.undo_bytes <= self.most_undo_bytes / 2 {
                break;
            }
            self.undo_bytes -= session.undo.bytes();
            session.undo.spill(self.pages.store(), &mut self.aside_end)?;
        }
        Ok(())
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
