//! Redo: applies records to the pages of a database, each exactly once.
//!
//! Every page states the database time of its last change, every record the times before and after
//! its own. A page at the record's time or later already has the change; one at the time before
//! gets it; any other has lost a write or comes from elsewhere and *stays behind*: it is reported,
//! and left alone unless a later record makes it anew.
//!
//! Sessions count from the first transaction that begins within the replayed records: changes of an
//! older one are already in the file, because the checkpoint never passes it.

mod deleted;
mod diff;
mod edit;
mod image;
mod merge;
mod moved;
mod node;
mod number_map;
mod pages;
mod session;
mod space;
mod split;
mod summary;
mod undo;
mod undo_log;
mod undo_run;
mod undo_version;

use std::collections::BTreeMap;

use ese::header::DatabaseHeader;
use ese::log_file::LogFacts;
use ese::page::PageError;
use ese::{Lgpos, LogTime, Signature};
use units::{ObjectId, PageNumber};

use crate::layout::{Field, types};
use crate::record::LogRecord;
use number_map::NumberMap;
use pages::{FIRST_SPECIAL_DBTIME, PageCache, PageSeen};
use session::SessionState;

pub use deleted::{DeletedRow, DeletedRows};
pub use pages::{PageStore, StoredPage};
pub use summary::{Behind, BehindCause, ReplaySummary};

/// The database that records are applied to.
#[derive(Clone, Copy, Debug)]
struct ReplayTarget {
    /// Its number within the log stream.
    id: u8,
    /// The file contains all records up to here.
    attached_at: Lgpos,
    signature: Signature,
    /// Position of the last resize that is already in the file.
    resized_at: Lgpos,
    /// The last generation whose changes the file may contain.
    last_required: u32,
}

/// A replay under way.
pub struct LogReplay<S> {
    pages: PageCache<S>,
    target: ReplayTarget,
    is_attached: bool,
    sessions: NumberMap<u16, SessionState>,
    /// Upper bound of the undo memory in use; ended transactions still count.
    undo_bytes: usize,
    most_undo_bytes: usize,
    /// End of the store's side area.
    aside_end: u64,
    behind: BTreeMap<PageNumber, Behind>,
    dbtime: u64,
    last_object: ObjectId,
    summary: ReplaySummary,
    /// Deleted rows; `None` unless requested.
    deleted: Option<DeletedRows>,
    /// The time of the present record.
    time: LogTime,
}

impl<S: PageStore> LogReplay<S> {
    /// A replay onto the pages of `store`, whose header is `header`. Up to `cache_bytes` of pages
    /// are kept in memory, and half as much for undo.
    pub fn new(store: S, header: &DatabaseHeader, cache_bytes: usize) -> Self {
        let target = ReplayTarget {
            id: u8::try_from(header.database_id).unwrap_or_default(),
            attached_at: header.attached_at,
            signature: header.signature,
            resized_at: header.last_resize_at,
            last_required: header.generation_max_required.0,
        };
        Self {
            pages: PageCache::new(store, cache_bytes),
            target,
            is_attached: true,
            sessions: NumberMap::default(),
            undo_bytes: 0,
            most_undo_bytes: cache_bytes / 2,
            aside_end: 0,
            behind: BTreeMap::new(),
            dbtime: header.dbtime,
            last_object: header.last_object,
            summary: ReplaySummary::default(),
            deleted: None,
            time: LogTime::NEVER,
        }
    }

    /// Applies one record. Records must come in the order of the log.
    pub fn apply(&mut self, record: &LogRecord<'_>) -> Result<(), S::Error> {
        self.summary.note(record);
        self.note_attachment(record);
        if self.follow_transaction(record)? || !self.concerns(record) {
            return Ok(());
        }
        self.dbtime = self.dbtime.max(highest_dbtime(record));
        self.last_object = self.last_object.max(record.object());
        match record.kind() {
            types::EXTEND => return self.extend(record),
            types::SHRINK | types::SHRINK2 | types::SHRINK3 => return self.shrink(record),
            types::TRIM => self.trim(record),
            types::SET_VERSION => self.summary.set_version(record),
            _ => {}
        }
        let Some(session) = record.session().and_then(|id| self.sessions.get_mut(&id)) else {
            return Ok(());
        };
        if session.store(record) {
            return Ok(());
        }
        self.redo(record)
    }

    /// Starts a file, whose header states the databases that were attached at that time. Their
    /// numbers are those of the log stream, regardless of the database's own header.
    pub fn enter(&mut self, facts: &LogFacts) {
        let mut attached = facts.attachments.iter();
        if let Some(one) = attached.find(|one| one.signature == self.target.signature) {
            self.target.id = one.database_id;
            self.is_attached = true;
        }
    }

    /// Tracks whether the target is attached: only then do records concern the file.
    fn note_attachment(&mut self, record: &LogRecord<'_>) {
        let Some(id) = record.database().filter(|_| record.place() > self.target.attached_at)
        else {
            return;
        };
        let is_target = id == self.target.id;
        match record.kind() {
            types::ATTACH_DATABASE | types::CREATE_DATABASE => {
                // A later attachment may give the database another number, under any path.
                if record.signature(Field::Signature) == Some(self.target.signature) {
                    self.target.id = id;
                    self.is_attached = true;
                } else if is_target {
                    self.is_attached = false;
                }
            }
            types::DETACH_DATABASE if is_target => self.is_attached = false,
            _ => {}
        }
    }

    /// Whether a record changes the target after the file was attached.
    fn concerns(&self, record: &LogRecord<'_>) -> bool {
        self.is_attached
            && record.database() == Some(self.target.id)
            && record.place() > self.target.attached_at
    }

    /// Carries out one record that changes pages.
    fn redo(&mut self, record: &LogRecord<'_>) -> Result<(), S::Error> {
        match record.kind() {
            types::INSERT
            | types::FLAG_INSERT
            | types::FLAG_INSERT_REPLACE
            | types::FLAG_DELETE
            | types::REPLACE
            | types::REPLACE_DIFFERENCE
            | types::DELETE
            | types::UNDO_INFORMATION
            | types::DELTA
            | types::DELTA64
            | types::SET_EXTERNAL_HEADER
            | types::UNDO
            | types::SCRUB => self.redo_node(record),
            types::EMPTY_TREE => self.redo_empty_tree(record),
            types::CREATE_SMALL_TREE | types::CREATE_LARGE_TREE => self.redo_create_tree(record),
            types::CONVERT_TREE => self.redo_convert_tree(record),
            types::PAGE_MOVE => self.redo_page_move(record),
            types::NEW_PAGE => self.redo_new_page(record),
            types::SPLIT_OLD | types::MERGE_OLD | types::CONVERT_TREE_OLD => {
                let page = record.page(Field::Page);
                self.leave_behind(page, record.place(), BehindCause::OldRecord);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Carries out the records of a macro, which change several pages at one database time.
    fn redo_macro(&mut self, records: &[LogRecord<'static>]) -> Result<(), S::Error> {
        match records.first().map(LogRecord::kind) {
            Some(types::SPLIT) => self.redo_split(records),
            Some(types::MERGE) => self.redo_merge(records),
            Some(types::ROOT_MOVE) => self.redo_root_move(records),
            Some(_) | None => Ok(()),
        }
    }

    /// The page's bytes if it needs the change from `before` to `after`.
    fn open(
        &mut self,
        page: PageNumber,
        before: u64,
        after: u64,
        place: Lgpos,
    ) -> Result<Option<Vec<u8>>, S::Error> {
        if self.behind.contains_key(&page) {
            return Ok(None);
        }
        let cause = match self.pages.seen(page)? {
            PageSeen::Damaged => BehindCause::Damaged,
            PageSeen::Absent => BehindCause::TooOld { stated: 0, expected: before },
            PageSeen::At(dbtime) if dbtime >= after => {
                self.summary.changes_present += 1;
                return Ok(None);
            }
            PageSeen::At(dbtime) if dbtime == before => return Ok(self.pages.take(page)),
            PageSeen::At(stated) if stated < before => {
                BehindCause::TooOld { stated, expected: before }
            }
            PageSeen::At(stated) => BehindCause::TooNew { stated, expected: before },
        };
        self.leave_behind(page, place, cause);
        Ok(None)
    }

    /// Whether a page that a record makes anew is older than the record.
    fn is_to_renew(&mut self, page: PageNumber, after: u64) -> Result<bool, S::Error> {
        if self.behind.contains_key(&page) {
            return Ok(true);
        }
        Ok(match self.pages.seen(page)? {
            PageSeen::Damaged | PageSeen::Absent => true,
            PageSeen::At(dbtime) => dbtime < after,
        })
    }

    /// Whether the file may grow to `last` at once.
    fn may_reach(&mut self, last: PageNumber) -> bool {
        let step = MOST_GROWTH_BYTES / self.pages.page_size().bytes_u64();
        let end = self.pages.store().last_page().max(self.summary.last_page);
        u64::from(last.0) <= u64::from(end.0).saturating_add(step)
    }

    /// Stores a page that was made anew; what it lacked no longer matters.
    fn renew(
        &mut self,
        page: PageNumber,
        mut bytes: Vec<u8>,
        after: u64,
        place: Lgpos,
    ) -> Result<(), S::Error> {
        if !page.is_some() || !self.may_reach(page) {
            self.leave_behind(page, place, BehindCause::BeyondFile);
            return Ok(());
        }
        self.behind.remove(&page);
        edit::set_dbtime(&mut bytes, after);
        self.summary.changes_made += 1;
        self.summary.last_page = self.summary.last_page.max(page);
        self.pages.put(page, bytes)
    }

    /// Puts a page back with its new database time; if the change failed, the page stays behind.
    fn close(
        &mut self,
        page: PageNumber,
        mut bytes: Vec<u8>,
        after: u64,
        place: Lgpos,
        done: Result<(), PageError>,
    ) -> Result<(), S::Error> {
        match done {
            Ok(()) => {
                edit::set_dbtime(&mut bytes, after);
                self.summary.changes_made += 1;
            }
            Err(error) => self.leave_behind(page, place, BehindCause::Impossible(error)),
        }
        self.pages.put(page, bytes)
    }

    fn leave_behind(&mut self, page: PageNumber, place: Lgpos, cause: BehindCause) {
        self.behind.entry(page).or_insert(Behind { place, cause });
    }

    /// Writes the remaining dirty pages and returns the store.
    pub fn finish(mut self) -> Result<(S, ReplaySummary), S::Error> {
        self.pages.flush()?;
        let mut summary = self.summary;
        summary.behind = self.behind;
        summary.deleted = self.deleted;
        summary.dbtime = self.dbtime;
        summary.last_object = self.last_object;
        summary.open_transactions =
            self.sessions.values().filter(|session| session.is_open()).count();
        Ok((self.pages.into_store(), summary))
    }
}

/// No single record makes a file grow by more; a damaged one could ask for terabytes.
const MOST_GROWTH_BYTES: u64 = 4 << 30;

/// The latest database time that a record states; 0 if it states none.
fn highest_dbtime(record: &LogRecord<'_>) -> u64 {
    let stated = [Field::Dbtime, Field::DatabaseTime].map(|field| record.number(field));
    stated.into_iter().filter(|dbtime| *dbtime < FIRST_SPECIAL_DBTIME).max().unwrap_or_default()
}
