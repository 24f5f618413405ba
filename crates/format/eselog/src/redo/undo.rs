//! Undo: what transactions did that had not committed when the log ends, taken back from the last
//! change to the first.

use ese::page::PageRef;
use units::PageNumber;

use super::node::take_back;
use super::pages::PageSeen;
use super::session::{UndoVersion, Undoable};
use super::{BehindCause, LogReplay, PageStore};

/// A tree is never deeper; a damaged one could be a circle.
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
            let versions = self.sessions.get_mut(&id).map(super::SessionState::take_versions);
            self.summary.transactions_undone += 1;
            for version in versions.unwrap_or_default() {
                self.undo_version(&version)?;
            }
        }
        Ok(())
    }

    fn undo_version(&mut self, version: &UndoVersion) -> Result<(), S::Error> {
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

    /// The page and line of a version's row; none if it is not there.
    fn find(&mut self, version: &UndoVersion) -> Result<Option<(PageNumber, usize)>, S::Error> {
        let mut page = version.root;
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
                    view.search(&version.key, None)
                } else {
                    view.search_pair(&version.key, &version.data, None)
                };
                return Ok(found.ok().map(|line| (page, line)));
            }
            let line = view.child_line(&version.key, &version.data, None);
            let Some(child) = view.child(line) else {
                return Ok(None);
            };
            page = child;
        }
        Ok(None)
    }
}
