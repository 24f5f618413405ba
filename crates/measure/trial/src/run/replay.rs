//! One database of a soft recovery test: left as by a killed program, then opened through its log,
//! and compared with the log's contents.

use std::cell::Cell;
use std::rc::Rc;

use engine::Database;
use engine::recovery::RecoverySummary;
use ese::log_file::LOG_FILE_BYTES;
use record::{Event, Replay};
use units::Nanos;

use super::Group;
use super::copy::copy_of;
use super::open::{Abandoned, Live, Opened, files_of, signature_seed};
use crate::messages::TABLE;
use crate::settings::replay_settings;

impl Opened {
    /// Leaves the database to a replay, with the load's work in `generated`; closes it instead if
    /// the run must end.
    pub(super) async fn leave(&self, group: &Group, generated: Nanos) {
        let is_replayed = group.coordinator().stopped().is_none();
        if is_replayed {
            self.abandon(group, generated).await;
        } else {
            self.close(group).await;
        }
    }

    async fn abandon(&self, group: &Group, generated: Nanos) {
        let live = self.live.borrow_mut().take();
        let Some(live) = live else {
            return;
        };
        let abandoned = live.database.clone().abandon().await;
        self.tell_what_was_wrong(group, &live);
        match abandoned {
            Ok(end) => self.abandoned.set(Some(Abandoned { end, generated })),
            Err(error) => self.issue_recorder.stopped(group.runtime.now(), &error),
        }
    }

    /// Replaces the database with the copy, if there is one; the log contains the changes it lacks.
    /// Removes the copy if nothing is replayed. No process has the file open any more: not every
    /// system can replace an open file.
    pub(super) async fn use_copy(&self, group: &Group) {
        if !self.has_copy.take() {
            return;
        }
        let is_replayed = self.abandoned.get().is_some();
        let (volume, file) = (&self.location.database, &self.location.plan.file);
        let copy = copy_of(file);
        let done =
            if is_replayed { volume.rename(&copy, file).await } else { volume.remove(&copy).await };
        if let Err(error) = done {
            self.abandoned.set(None);
            self.issue_recorder.not_readable(group.runtime.now(), &error);
        }
    }

    /// Replays the log, and reports the result; the database stays open. `generations` counts the
    /// log files begun.
    pub(super) async fn replay(&self, group: &Group, generations: Rc<Cell<u64>>) {
        let Some(abandoned) = self.abandoned.take() else {
            return;
        };
        let began = group.runtime.now();
        let (files, seed) = (files_of(&self.location), signature_seed(group, &self.location));
        let index = self.location.plan.index;
        let settings = replay_settings(&group.plan);
        let opening = Database::recover(&group.runtime, files, settings, seed, &|_| {
            generations.set(generations.get() + 1);
            (group.checked)((index, LOG_FILE_BYTES));
        })
        .await;
        let now = group.runtime.now();
        let (database, summary) = match opening {
            Ok(opened) => opened,
            Err(error) => return self.issue_recorder.not_replayed(now, &error),
        };
        let summary = summary.unwrap_or_default();
        if let Some(text) = lost(&self.location.path(), &abandoned, &summary) {
            self.issue_recorder.lost(now, text);
        }
        (group.events)(Event::Replay(Replay {
            at_ns: now.since(group.origin).0,
            database: index,
            elapsed_ns: now.since(began).0,
            generated_ns: abandoned.generated.0,
            ..replayed(&summary)
        }));
        self.keep_open(group, database, &summary);
    }

    fn keep_open(&self, group: &Group, database: Database, summary: &RecoverySummary) {
        let Some(table) = database.table(TABLE) else {
            let text = format!("{}: has no table {TABLE} any more", self.location.path());
            return self.issue_recorder.damaged(group.runtime.now(), text);
        };
        let live = Live { database, table, last: 0, mended: summary.mended };
        *self.live.borrow_mut() = Some(live);
    }
}

/// Work of a replay, in the form used by the record.
fn replayed(summary: &RecoverySummary) -> Replay {
    let has_begun = summary.first.0 > 0;
    Replay {
        logs: if has_begun { u64::from(summary.last.0 - summary.first.0) + 1 } else { 0 },
        records: summary.records,
        pages_changed: summary.pages_redone,
        pages_up_to_date: summary.pages_skipped,
        pages_read: summary.pages_read,
        pages_written: summary.pages_written,
        ..Replay::default()
    }
}

/// Data missing after a complete replay, if any: the log was on stable storage up to its end when
/// the database was left.
fn lost(path: &str, abandoned: &Abandoned, summary: &RecoverySummary) -> Option<String> {
    let acknowledged = abandoned.end;
    if summary.first.0 == 0 {
        return Some(format!(
            "{path}: its header says that it was closed properly, and it was not: the last write \
             of the header was acknowledged and is not there; nothing was replayed"
        ));
    }
    (summary.end < acknowledged).then(|| {
        format!(
            "{path}: the log ends at {}, and was acknowledged up to {acknowledged}: what was \
             committed in between is lost",
            summary.end
        )
    })
}

#[cfg(test)]
mod tests;
