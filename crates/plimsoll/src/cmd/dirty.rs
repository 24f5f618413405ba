//! What is said of a database that was not closed: part of it is still in its log alone, so what
//! its file lacks is no damage.

use std::fmt;
use std::path::Path;

use ese::header::{DatabaseHeader, DatabaseState};

/// A database whose log has to be replayed before its file says anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dirty {
    state: DatabaseState,
    /// The first and last generation that recovery needs.
    needed: (u32, u32),
}

impl Dirty {
    /// None where the database was closed.
    pub(crate) fn of(header: &DatabaseHeader) -> Option<Self> {
        let state = header.state;
        let is_dirty =
            matches!(state, DatabaseState::DirtyShutdown | DatabaseState::DirtyAndPatched);
        is_dirty.then_some(Self {
            state,
            needed: (header.generation_min_required.0, header.generation_max_required.0),
        })
    }

    /// The whole sentence about the file at `path`.
    pub(crate) fn sentence(&self, path: &Path) -> String {
        let path = path.display();
        format!("{path}: {self}: run plimsoll recover {path} first")
    }

    /// For programs.
    pub(crate) fn as_json(&self) -> serde_json::Value {
        serde_json::json!({
            "state": self.state.to_string(),
            "log_generation_min_required": self.needed.0,
            "log_generation_max_required": self.needed.1,
        })
    }
}

impl fmt::Display for Dirty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = self.needed;
        write!(f, "{}, log {first:#x}-{last:#x} needed", self.state)
    }
}
