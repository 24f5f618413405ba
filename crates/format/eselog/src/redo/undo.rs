//! Undoes the transactions that have not committed when the log ends, from their last change to the
//! first.

use ese::page::PageRef;
use units::PageNumber;

use super::node::take_back;
use super::pages::PageSeen;
use super::undo_version::{UndoVersion, Undoable};
use super::{BehindCause, LogReplay, PageStore};

/// Limit on the depth of a tree; a damaged one could contain a cycle.
const MOST_LEVELS: usize = 16;

impl<S: PageStore> LogReplay<S> {
    /// Undoes every open transaction.
    pub fn undo(&mut self) -> Result<(), S::Error> {
        let mut open: Vec<u16> = self
            .sessions
            .iter()
            .filter(|(_, session)| session.is_open())
            .map(|(id, _)| *id)
            .collect();
        open.sort_unstable();
        for id in open {
            self.summary.transactions_undone += 1;
            while let Some(version) = self.next_undone(id)? {
                self.undo_version(&version)?;
            }
            if let Some(session) = self.sessions.get_mut(&id) {
                session.end();
            }
        }
        Ok(())
    }

    /// The next change of a session to undo.
    fn next_undone(&mut self, id: u16) -> Result<Option<UndoVersion<'static>>, S::Error> {
        match self.sessions.get_mut(&id) {
            Some(session) => session.undo.take_last(self.pages.store()),
            None => Ok(None),
        }
    }

    fn undo_version(&mut self, version: &UndoVersion<'_>) -> Result<(), S::Error> {
        let Some((page, line)) = self.find(version)? else {
            self.leave_behind(version.page, version.place, BehindCause::NotUndone);
            return Ok(());
        };
        let Some(mut bytes) = self.pages.take(page) else {
            return Ok(());
        };
        self.dbtime = self.dbtime.saturating_add(1);
        let done = take_back(&mut bytes, line, &version.change);
        self.summary.changes_undone += u64::from(done.is_ok());
        if version.change == Undoable::FlagDelete
            && let Some(deleted) = &mut self.deleted
        {
            deleted.drop_undone(version.number);
        }
        self.close(page, bytes, self.dbtime, version.place, done)
    }

    /// Returns the page and line of a version's row; `None` if it is missing.
    fn find(&mut self, version: &UndoVersion<'_>) -> Result<Option<(PageNumber, usize)>, S::Error> {
        let (key, mut page) = (version.key.concat(), version.root);
        for _ in 0..MOST_LEVELS {
            if self.behind.contains_key(&page) || !matches!(self.pages.seen(page)?, PageSeen::At(_))
            {
                return Ok(None);
            }
            let Some(view) = self.pages.bytes(page).map(PageRef::new) else {
                return Ok(None);
            };
            if view.is_leaf() {
                let found = if version.is_unique {
                    view.search(&key, None)
                } else {
                    view.search_pair(&key, &version.data, None)
                };
                return Ok(found.ok().map(|line| (page, line)));
            }
            let line = view.child_line(&key, &version.data, None);
            let Some(child) = view.child(line) else {
                return Ok(None);
            };
            page = child;
        }
        Ok(None)
    }
}
