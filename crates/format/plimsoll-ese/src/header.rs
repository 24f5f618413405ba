//! Facts about a database from its header.

use ese::header::{DatabaseHeader, DatabaseState, HeaderCopies};

/// State in which a database was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// Closed; the file is complete.
    Clean,
    /// Not closed cleanly: part of its contents is only in the log.
    Dirty,
    /// Any other state, as the number in the header.
    Other(u32),
}

/// The header of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Header {
    /// Size of a page in bytes.
    pub page_bytes: usize,
    /// State in which the database was left.
    pub state: State,
    /// Database time: counts changes of pages since the database was made.
    pub dbtime: u64,
    /// First and last log generation that recovery needs; zeros for a clean database.
    pub log_required: (u32, u32),
    /// Version and update of the file format, such as 0x620 and 20.
    pub format: (u32, u32),
}

impl Header {
    pub(crate) fn of(copies: &HeaderCopies) -> Self {
        let header: &DatabaseHeader = &copies.header;
        let required = (header.generation_min_required.0, header.generation_max_required.0);
        Self {
            page_bytes: copies.page_size.bytes(),
            state: state(header.state),
            dbtime: header.dbtime,
            log_required: required,
            format: (header.format_version, header.format_update),
        }
    }
}

fn state(state: DatabaseState) -> State {
    match state {
        DatabaseState::CleanShutdown => State::Clean,
        DatabaseState::DirtyShutdown | DatabaseState::DirtyAndPatched => State::Dirty,
        other => State::Other(other.number()),
    }
}
