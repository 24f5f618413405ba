//! Redo of changes to one node of one page.

use std::borrow::Cow;

use ese::Lgpos;
use ese::page::{Node, PageError, PageMut, PageRef, node_flags};
use units::PageNumber;

use super::diff;
use super::edit::{self, NodeCopy};
use super::session::{UNIQUE, VERSIONED};
use super::undo_version::{UndoVersion, Undoable, operations};
use super::{BehindCause, LogReplay, PageStore};
use crate::layout::{Field, Part, types};
use crate::record::LogRecord;

/// In the length of a difference: it is of the long form.
const LONG_DIFFERENCE: u64 = 0x8000;
/// Kinds of nodes that a scrub overwrites, and the first byte of an overwritten chunk.
const SCRUB_DATA: u8 = 1;
const SCRUB_CHUNK: u8 = 2;
const SCRUBBED_CHUNK: u8 = 4 << 3;

/// Why a change was not made.
enum Unmade {
    Page(PageError),
    BadRecord,
}

impl From<PageError> for Unmade {
    fn from(error: PageError) -> Self {
        Self::Page(error)
    }
}

impl<S: PageStore> LogReplay<S> {
    pub(super) fn redo_node(&mut self, record: &LogRecord<'_>) -> Result<(), S::Error> {
        self.remember_stated(record)?;
        if record.kind() == types::UNDO_INFORMATION {
            return Ok(());
        }
        let (page, place) = (record.page(Field::Page), record.place());
        let (before, after) = (record.number(Field::DbtimeBefore), record.number(Field::Dbtime));
        let undone = self.take_undone(record)?;
        let Some(mut bytes) = self.open(page, before, after, place)? else {
            return Ok(());
        };
        self.remember_found(record, &bytes)?;
        self.note_deleted(record, &bytes);
        match change(&mut bytes, record, undone) {
            Ok(()) => self.close(page, bytes, after, place, Ok(())),
            Err(Unmade::Page(error)) => self.close(page, bytes, after, place, Err(error)),
            Err(Unmade::BadRecord) => {
                self.leave_behind(page, place, BehindCause::BadRecord);
                self.pages.put(page, bytes)
            }
        }
    }

    /// Takes the noted change that a physical undo takes back; `None` for any other record.
    fn take_undone(
        &mut self,
        record: &LogRecord<'_>,
    ) -> Result<Option<Undoable<'static>>, S::Error> {
        if record.kind() != types::UNDO {
            return Ok(None);
        }
        let (number, operation) = (version_number(record), record.number(Field::Operation));
        if operation == operations::FLAG_DELETE
            && let Some(deleted) = &mut self.deleted
        {
            deleted.drop_undone(number);
        }
        let session = record.session().and_then(|id| self.sessions.get_mut(&id));
        match session {
            Some(session) => session.undo.forget(number, operation, self.pages.store()),
            None => Ok(None),
        }
    }

    /// Records a change whose log record contains everything that undo needs.
    fn remember_stated(&mut self, record: &LogRecord<'_>) -> Result<(), S::Error> {
        let is_versioned = record.number(Field::Flags) & VERSIONED != 0;
        let Some(change) = stated_change(record, is_versioned) else {
            return Ok(());
        };
        let key = [record.part(Part::KeyPrefix), record.part(Part::Key)].map(Cow::Borrowed);
        // For an insert, the record's data completes the bookmark; other records state that part
        // separately.
        let data = if change == Undoable::Insert { Part::Data } else { Part::BookmarkData };
        let data = Cow::Borrowed(record.part(data));
        self.remember(record, version_number(record), key, data, change)
    }

    /// Records a change whose undo needs the current contents of the page.
    fn remember_found(&mut self, record: &LogRecord<'_>, bytes: &[u8]) -> Result<(), S::Error> {
        if record.number(Field::Flags) & VERSIONED == 0 {
            return Ok(());
        }
        let number = match record.kind() {
            types::FLAG_DELETE | types::REPLACE | types::REPLACE_DIFFERENCE => {
                version_number(record)
            }
            types::FLAG_INSERT_REPLACE => record.word(Field::ReplaceVersion),
            _ => return Ok(()),
        };
        let Some(node) = PageRef::new(bytes).node(record.size(Field::Line)) else {
            return Ok(());
        };
        let Node { prefix, suffix, data, .. } = node;
        let key = [prefix, suffix].map(Cow::Borrowed);
        let data = Cow::Borrowed(data);
        if record.kind() == types::FLAG_DELETE {
            return self.remember(record, number, key, data, Undoable::FlagDelete);
        }
        let change = Undoable::Replace { before: data };
        self.remember(record, number, key, Cow::Borrowed(&[]), change)
    }

    pub(super) fn remember(
        &mut self,
        record: &LogRecord<'_>,
        number: u32,
        key: [Cow<'_, [u8]>; 2],
        data: Cow<'_, [u8]>,
        change: Undoable<'_>,
    ) -> Result<(), S::Error> {
        let is_unique = record.number(Field::Flags) & UNIQUE != 0;
        let version = UndoVersion {
            number,
            level: record.byte(Field::Level),
            root: record.page(Field::Root),
            page: record.page(Field::Page),
            place: record.place(),
            is_unique,
            key,
            data: if is_unique { Cow::Borrowed(&[]) } else { data },
            change,
        };
        self.note_undo(record.session(), version)
    }

    pub(super) fn redo_new_page(&mut self, record: &LogRecord<'_>) -> Result<(), S::Error> {
        /// Flags of a page that was made ahead of its use.
        const FLAGS: u32 = ese::page::page_flags::PREINITIALISED;
        let (page, after) = (record.page(Field::Page), record.number(Field::Dbtime));
        if !self.is_to_renew(page, after)? {
            return Ok(());
        }
        let mut bytes = edit::fresh(self.pages.page_size(), 0, record.object());
        let flags = PageRef::new(&bytes).flags();
        PageMut::new(&mut bytes).set_flags(flags | FLAGS);
        self.renew(page, bytes, after, record.place())
    }

    pub(super) fn redo_empty_tree(&mut self, record: &LogRecord<'_>) -> Result<(), S::Error> {
        let (after, place) = (record.number(Field::Dbtime), record.place());
        for (page, before) in record.emptied_pages() {
            self.empty_page(page, before, after, place)?;
        }
        let (root, before) = (record.page(Field::Page), record.number(Field::DbtimeBefore));
        let Some(mut bytes) = self.open(root, before, after, place)? else {
            return Ok(());
        };
        let done = edit::rebuild(&mut bytes, None, &[]);
        let flags = PageRef::new(&bytes).flags() & !ese::page::page_flags::PARENT_OF_LEAF;
        PageMut::new(&mut bytes).set_flags(flags | ese::page::page_flags::LEAF);
        self.close(root, bytes, after, place, done)
    }

    /// Empties a page that its tree gives up.
    pub(super) fn empty_page(
        &mut self,
        page: PageNumber,
        before: u64,
        after: u64,
        place: Lgpos,
    ) -> Result<(), S::Error> {
        match self.open(page, before, after, place)? {
            Some(mut bytes) => {
                let done = edit::empty(&mut bytes);
                self.close(page, bytes, after, place, done)
            }
            None => Ok(()),
        }
    }
}

/// Returns a change whose record contains everything that undo needs; `None` if it does not, or
/// needs no undo.
fn stated_change<'r>(record: &'r LogRecord<'_>, is_versioned: bool) -> Option<Undoable<'r>> {
    match record.kind() {
        types::INSERT | types::FLAG_INSERT | types::FLAG_INSERT_REPLACE if is_versioned => {
            Some(Undoable::Insert)
        }
        types::DELTA | types::DELTA64 if is_versioned => Some(Undoable::Delta {
            offset: record.size(Field::Offset),
            delta: record.signed(Field::Delta),
            is_wide: record.kind() == types::DELTA64,
        }),
        types::UNDO_INFORMATION => match record.number(Field::Operation) {
            operations::REPLACE => {
                Some(Undoable::Replace { before: Cow::Borrowed(record.part(Part::Before)) })
            }
            operations::FLAG_DELETE => Some(Undoable::FlagDelete),
            _ => None,
        },
        _ => None,
    }
}

/// The number of a record's version.
fn version_number(record: &LogRecord<'_>) -> u32 {
    record.word(Field::Version)
}

/// Applies a record's change to a page that needs it.
fn change(
    bytes: &mut [u8],
    record: &LogRecord<'_>,
    undone: Option<Undoable<'_>>,
) -> Result<(), Unmade> {
    let line = record.size(Field::Line);
    let is_versioned = record.number(Field::Flags) & VERSIONED != 0;
    let versioned = if is_versioned { node_flags::VERSIONED } else { 0 };
    match record.kind() {
        types::INSERT => {
            let key = [record.part(Part::KeyPrefix), record.part(Part::Key)].concat();
            let data = record.part(Part::Data).to_vec();
            edit::insert(bytes, line, &NodeCopy { flags: versioned, key, data })?;
        }
        types::FLAG_INSERT => edit::flag(bytes, line, versioned, node_flags::DELETED)?,
        types::FLAG_INSERT_REPLACE => {
            edit::replace_data(bytes, line, record.part(Part::Data))?;
            edit::flag(bytes, line, versioned, node_flags::DELETED)?;
        }
        types::FLAG_DELETE => edit::flag(bytes, line, versioned | node_flags::DELETED, 0)?,
        types::REPLACE | types::REPLACE_DIFFERENCE => {
            let data = new_data(bytes, line, record)?;
            edit::replace_data(bytes, line, &data)?;
            edit::flag(bytes, line, versioned, 0)?;
        }
        types::DELETE => edit::remove(bytes, line)?,
        types::DELTA | types::DELTA64 => {
            let offset = record.size(Field::Offset);
            let is_wide = record.kind() == types::DELTA64;
            add(bytes, line, offset, record.signed(Field::Delta), is_wide)?;
            edit::flag(bytes, line, versioned, 0)?;
        }
        types::SET_EXTERNAL_HEADER => {
            PageMut::new(bytes).set_external_header(record.part(Part::Data))?;
        }
        types::UNDO => take_back(bytes, line, &undone.ok_or(Unmade::BadRecord)?)?,
        types::SCRUB => scrub(bytes, record)?,
        _ => {}
    }
    Ok(())
}

/// The node's data after a replace.
fn new_data(bytes: &[u8], line: usize, record: &LogRecord<'_>) -> Result<Vec<u8>, Unmade> {
    let data = if record.kind() == types::REPLACE {
        record.part(Part::Data).to_vec()
    } else {
        let old = edit::node(PageRef::new(bytes), line)?.data;
        let is_long = record.number(Field::DataBytes) & LONG_DIFFERENCE != 0;
        diff::apply(&old, record.part(Part::Difference), is_long, bytes.len())
            .ok_or(Unmade::BadRecord)?
    };
    let expected = record.size(Field::NewDataBytes);
    if data.len() == expected { Ok(data) } else { Err(Unmade::BadRecord) }
}

/// Undoes a change on the page where it was made.
pub(super) fn take_back(
    bytes: &mut [u8],
    line: usize,
    change: &Undoable<'_>,
) -> Result<(), PageError> {
    match change {
        Undoable::Insert => edit::flag(bytes, line, node_flags::DELETED, 0),
        Undoable::FlagDelete => edit::flag(bytes, line, 0, node_flags::DELETED),
        Undoable::Replace { before } => edit::replace_data(bytes, line, before),
        Undoable::Delta { offset, delta, is_wide } => {
            add(bytes, line, *offset, delta.wrapping_neg(), *is_wide)
        }
    }
}

/// Adds to the number at `offset` of a node's data.
fn add(
    bytes: &mut [u8],
    line: usize,
    offset: usize,
    delta: i64,
    is_wide: bool,
) -> Result<(), PageError> {
    let tag = line + PageRef::new(bytes).reserved_tags();
    let mut data = edit::node(PageRef::new(bytes), line)?.data;
    let number = data.get_mut(offset..).unwrap_or_default();
    if is_wide {
        let number = number.first_chunk_mut::<8>().ok_or(PageError::Damaged { tag })?;
        *number = u64::from_le_bytes(*number).wrapping_add_signed(delta).to_le_bytes();
    } else {
        let number = number.first_chunk_mut::<4>().ok_or(PageError::Damaged { tag })?;
        let [a, b, c, d, ..] = delta.to_le_bytes();
        let delta = u32::from_le_bytes([a, b, c, d]);
        *number = u32::from_le_bytes(*number).wrapping_add(delta).to_le_bytes();
    }
    edit::replace_data(bytes, line, &data)
}

/// Overwrites the deleted data that a scrub record lists.
fn scrub(bytes: &mut [u8], record: &LogRecord<'_>) -> Result<(), PageError> {
    if record.number(Field::ScrubFlags) & 1 != 0 {
        return edit::rebuild(bytes, None, &[]);
    }
    for (line, operation) in record.part(Part::Rest).iter().enumerate() {
        let fill = match *operation {
            SCRUB_DATA => b'D',
            SCRUB_CHUNK => b'L',
            _ => continue,
        };
        let mut data = edit::node(PageRef::new(bytes), line)?.data;
        data.fill(fill);
        if let Some(first) = data.first_mut().filter(|_| *operation == SCRUB_CHUNK) {
            *first = SCRUBBED_CHUNK;
        }
        edit::replace_data(bytes, line, &data)?;
        edit::flag(bytes, line, 0, node_flags::VERSIONED)?;
    }
    Ok(())
}
