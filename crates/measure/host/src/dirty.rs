//! Messages about a database that was not closed: part of it is still in its log alone, so data
//! missing from its file is no damage.

use std::fmt;
use std::path::Path;

use ese::header::{DatabaseHeader, DatabaseState};

use crate::log_needed::LogNeeded;
use crate::scan::FileFault;

/// A database whose log must be replayed before its file is meaningful.
#[derive(Clone, Debug)]
pub struct Dirty {
    state: DatabaseState,
    /// The first and last generation that recovery needs.
    needed: (u32, u32),
    /// Its log, if found beside it.
    pub log: LogNeeded,
    /// The database time of its header, which pages written since are later than.
    pub dbtime: u64,
}

impl Dirty {
    /// Whether a database was left open.
    pub const fn is(header: &DatabaseHeader) -> bool {
        matches!(header.state, DatabaseState::DirtyShutdown | DatabaseState::DirtyAndPatched)
    }

    /// `None` if the database at `path` was closed.
    pub fn of(path: &Path, header: &DatabaseHeader) -> Option<Self> {
        Self::is(header).then(|| Self {
            state: header.state,
            needed: (header.generation_min_required.0, header.generation_max_required.0),
            log: LogNeeded::find(path, header),
            dbtime: header.dbtime,
        })
    }

    /// The whole sentence about the file at `path`, quoted for a shell as `word`.
    fn sentence(&self, path: &Path, word: &str) -> String {
        format!("{}: {self}: {}", path.display(), self.log.advice(word))
    }

    /// The whole sentence about the file at `path` if pages of it are missing.
    fn cut_sentence(&self, path: &Path) -> String {
        let path = path.display();
        format!("{path}: {self}: recovery cannot bring back the missing pages")
    }

    /// The sentence about the file at `path`, `word` in a shell, with these faults. Every verb uses
    /// this one, so that none advises a recovery that another rules out.
    pub fn advice(&self, path: &Path, word: &str, faults: &[FileFault]) -> String {
        if faults.iter().any(FileFault::is_cut) {
            self.cut_sentence(path)
        } else {
            self.sentence(path, word)
        }
    }

    /// As JSON for programs.
    pub fn as_json(&self) -> serde_json::Value {
        serde_json::json!({
            "state": self.state.to_string(),
            "log_generation_min_required": self.needed.0,
            "log_generation_max_required": self.needed.1,
            "log": self.log.as_json(),
        })
    }
}

impl fmt::Display for Dirty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = self.needed;
        write!(f, "{}, log {first:#x}-{last:#x} needed", self.state)
    }
}
