//! Selects the records in the history of a page or a table: those that change it, and the ends of
//! the transactions that did.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ese::catalog::CatalogTable;
use ese::log_file::LogFacts;
use ese::reader::Reader;
use eselog::{Field, LogRecord};
use units::{ObjectId, PageNumber};

use super::endings::TransactionLevels;
use super::files;
use crate::dump::flags::DumpFlags;
use console::error::CommandError;
use host::headers::read_header;
use host::pages::{FilePages, unreadable};

/// The requested records.
pub(super) struct Filter {
    page: Option<PageNumber>,
    objects: Option<BTreeSet<ObjectId>>,
    /// Sessions with a requested record in their current transaction.
    sessions: BTreeSet<u16>,
    levels: TransactionLevels,
}

impl Filter {
    /// Creates the filter that the flags request.
    pub(super) fn of(flags: &DumpFlags, logs: &[PathBuf]) -> Result<Self, CommandError> {
        let objects = match &flags.table {
            Some(table) => Some(objects_of(table, flags, logs)?),
            None => None,
        };
        let (page, sessions) = (flags.page.map(PageNumber), BTreeSet::new());
        Ok(Self { page, objects, sessions, levels: TransactionLevels::default() })
    }

    /// Whether all records are selected.
    pub(super) const fn takes_all(&self) -> bool {
        self.page.is_none() && self.objects.is_none()
    }

    /// Whether the filter selects `record`.
    pub(super) fn takes(&mut self, record: &LogRecord<'_>) -> bool {
        if self.takes_all() {
            return true;
        }
        let session = record.session();
        if self.levels.ends_transaction(record) {
            return session.is_some_and(|session| self.sessions.remove(&session));
        }
        let is_of_page = self.page.is_none_or(|page| record.pages().contains(&page));
        let is_of_table = self.objects.as_ref().is_none_or(|objects| {
            record.fields().any(|(field, _)| field == Field::Object)
                && objects.contains(&record.object())
        });
        let takes = is_of_page && is_of_table;
        if let Some(session) = session.filter(|_| takes) {
            self.sessions.insert(session);
        }
        takes
    }
}

/// The trees of a table: its own, those of its indexes and of its long values. A number is the
/// object identifier of one tree.
fn objects_of(
    table: &str,
    flags: &DumpFlags,
    logs: &[PathBuf],
) -> Result<BTreeSet<ObjectId>, CommandError> {
    if let Ok(number) = table.parse() {
        return Ok(BTreeSet::from([ObjectId(number)]));
    }
    let path = match &flags.database {
        Some(path) => path.clone(),
        None => database_beside(logs).ok_or_else(|| {
            CommandError::new(format!(
                "which trees {table} has is in its database, which is not beside the log; name it \
                 with --database FILE, or give the object number of a tree in place of {table}"
            ))
        })?,
    };
    let reader =
        Reader::open(FilePages::open_database(&path)?).map_err(|error| unreadable(&path, error))?;
    let found = reader.table(table).ok_or_else(|| {
        let path = path.display();
        CommandError::new(format!(
            "{path}: has no table {table} yet; give the object number of its tree, which `dump` of \
             the log prints, in place of the name"
        ))
    })?;
    Ok(trees(found))
}

fn trees(table: &CatalogTable) -> BTreeSet<ObjectId> {
    table
        .index_places
        .iter()
        .chain(&table.long_values)
        .map(|place| place.object)
        .chain([table.place.object])
        .collect()
}

/// A database in the folder of the logs that belongs to their stream, if there is one.
fn database_beside(logs: &[PathBuf]) -> Option<PathBuf> {
    let log = logs.first()?;
    let bytes = files::read(log).ok()?;
    let facts = LogFacts::decode(bytes.first_chunk()?).ok()?;
    let folder = log.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let paths = entries.flatten().map(|entry| entry.path());
    let mut found = paths.filter(|path| {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        let is_named = ending
            .is_some_and(|ending| ["edb", "dit", "sdb", "mdb", "dat"].contains(&ending.as_str()));
        is_named
            && read_header(path).is_ok_and(|copies| copies.header.log_signature == facts.signature)
    });
    found.next()
}
