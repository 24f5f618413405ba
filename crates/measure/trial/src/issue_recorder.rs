//! Turns failures of one database into issues of the record, without flooding it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::Path;

use device::{DeviceError, Runtime};
use engine::recovery::RecoveryError;
use engine::{OpenError, TransactionError};
use record::{Event, FurtherErrors, Issue, IssueKind, Severity};
use units::Nanos;
use wal::{NotAsWritten, Written};
use workload::Mismatch;

use crate::Sink;
use crate::in_flight::Open;
use crate::location::Location;
use crate::manifest::ManifestError;
use crate::run::failure::Failure;

/// Maximum number of recorded issues per database; the rest are counted by volume.
const MOST_ISSUES: u32 = 20;

/// Remedy if the engine refused a request of a load.
const REFUSED: &str = "the storage has no part in that; see what the database holds (plimsoll \
                       verify), then prepare it anew";

/// The kind of issue for a database that ends with `error`; `is_for_room` if the first failed write
/// found no room.
///
/// The storage is to blame for failed reads and writes, and for content that differs from the
/// write. A refusal by the engine concerns only the load and the engine. A lost write may cause a
/// duplicate or missing row, but the row does not prove it: reading back, flush map and the check
/// after the load do.
fn blame(error: &TransactionError, is_for_room: bool) -> IssueKind {
    match error {
        TransactionError::LostFlush(_) => IssueKind::LostFlush,
        TransactionError::Poisoned(poison) if poison.is_lost_flush => IssueKind::LostFlush,
        // A database stops at the first write that fails.
        TransactionError::Poisoned(_) if is_for_room => IssueKind::VolumeFull,
        TransactionError::Read(_) | TransactionError::Poisoned(_) => IssueKind::InputOutput,
        TransactionError::Damaged(_) => IssueKind::Corruption,
        refusal if refusal.is_refusal() => IssueKind::Refused,
        _ => IssueKind::Other,
    }
}

/// The issues of one database.
pub(crate) struct IssueRecorder {
    database: u32,
    /// Folders of the database, each with its volume.
    volumes: Vec<(String, String)>,
    /// Clock for events that are not requests.
    runtime: Option<Runtime>,
    /// The run's zero on the clock.
    origin: Nanos,
    events: Sink<Event>,
    count: Cell<u32>,
    /// Unreported errors since the last report, by volume.
    untold: RefCell<BTreeMap<Option<String>, FurtherErrors>>,
    /// Whether the first failed write, flush or file change failed because the volume was full.
    first_failed_for_room: Cell<Option<bool>>,
    /// The volume that lost its connection: later failures there are consequences.
    cut_off: RefCell<Option<String>>,
    /// Why the database cannot continue; `None` if it can.
    fatal: RefCell<Option<Failure>>,
}

impl IssueRecorder {
    /// A recorder without issues for database number `database`.
    pub(crate) fn new(database: u32, origin: Nanos, events: Sink<Event>) -> Self {
        Self {
            database,
            volumes: Vec::new(),
            runtime: None,
            origin,
            events,
            count: Cell::new(0),
            untold: RefCell::default(),
            first_failed_for_room: Cell::new(None),
            cut_off: RefCell::default(),
            fatal: RefCell::default(),
        }
    }

    /// A recorder for the database at `location`, whose issues name its volumes.
    pub(crate) fn at(
        location: &Location,
        runtime: &Runtime,
        origin: Nanos,
        events: Sink<Event>,
    ) -> Self {
        let plan = &location.plan;
        let mut volumes = vec![
            (plan.folder.clone(), location.storage.clone()),
            (plan.log_folder.clone(), location.log_storage.clone()),
        ];
        let copies = location.copies.as_ref();
        volumes.extend(copies.map(|copies| (copies.folder.clone(), copies.storage.clone())));
        Self { volumes, runtime: Some(runtime.clone()), ..Self::new(plan.index, origin, events) }
    }

    /// The volume of a file, if its folder is one of the database's.
    fn volume_of(&self, file: &str) -> Option<String> {
        let folder = Path::new(file).parent()?;
        let mut volumes = self.volumes.iter();
        let found = volumes.find(|(of, _)| Path::new(of) == folder);
        found.map(|(_, volume)| volume.clone())
    }

    /// The volume of the database file.
    fn own_volume(&self) -> Option<String> {
        self.volumes.first().map(|(_, volume)| volume.clone())
    }

    /// Number of issues so far.
    pub(crate) fn count(&self) -> u32 {
        self.count.get()
    }

    /// Why the database cannot continue, if it cannot.
    pub(crate) fn fatal(&self) -> Option<Failure> {
        self.fatal.borrow().clone()
    }

    /// Records a failed request that `changes` the file or reads it.
    pub(crate) fn request_failed(&self, now: Nanos, error: &DeviceError, changes: bool) {
        let is_full = matches!(error, DeviceError::Full { .. });
        if let DeviceError::Disconnected { file, .. } = error
            && self.cut_off.replace(Some(file.clone())).is_some()
        {
            // Every request in flight fails the same way; one issue suffices.
            return;
        }
        if changes && self.first_failed_for_room.get().is_none() {
            self.first_failed_for_room.set(Some(is_full));
        } else if is_full {
            // Further out-of-space failures add nothing, and would hide others.
            return;
        }
        let kind = if is_full { IssueKind::VolumeFull } else { IssueKind::InputOutput };
        let (file, offset_bytes) = place(error);
        self.note(Issue {
            volume: self.volume_of(&file),
            file: Some(file),
            offset_bytes,
            ..self.issue(now, kind, error.to_string())
        });
    }

    /// Records that a file could not be opened, made, renamed or removed.
    pub(crate) fn name_failed(&self, error: &DeviceError) {
        let now = self.runtime.as_ref().map_or(self.origin, Runtime::now);
        self.request_failed(now, error, true);
    }

    /// Records a row read that differs from the row written.
    pub(crate) fn mismatch(&self, now: Nanos, mismatch: &Mismatch) {
        let text = format!("{mismatch}; run `plimsoll verify` and check the storage");
        self.note(Issue {
            volume: self.own_volume(),
            ..self.issue(now, IssueKind::HashMismatch, text)
        });
    }

    /// Records content that differs from the last write, at pages not recorded before.
    pub(crate) fn wrong_content(&self, now: Nanos, file: String, text: String) {
        self.note(Issue {
            volume: self.volume_of(&file),
            file: Some(file),
            ..self.issue(now, IssueKind::Checksum, text)
        });
    }

    /// Records that the last write of something in `file` never reached the medium.
    pub(crate) fn lost_flush(&self, now: Nanos, file: String, text: String) {
        self.note(Issue {
            volume: self.volume_of(&file),
            file: Some(file),
            ..self.issue(now, IssueKind::LostFlush, text)
        });
    }

    /// Records a file that differs from its acknowledged writes.
    pub(crate) fn not_as_written(&self, now: Nanos, found: &NotAsWritten) {
        let kind = match found.what {
            Written::Unreadable(_) => IssueKind::InputOutput,
            _ => IssueKind::LostFlush,
        };
        self.note(Issue {
            volume: self.volume_of(&found.file),
            file: Some(found.file.clone()),
            offset_bytes: Some(found.offset),
            ..self.issue(now, kind, found.to_string())
        });
    }

    /// Records that the content read is inconsistent.
    pub(crate) fn damaged(&self, now: Nanos, text: String) {
        self.note(Issue {
            volume: self.own_volume(),
            ..self.issue(now, IssueKind::Corruption, text)
        });
    }

    /// Records that the database cannot continue.
    pub(crate) fn stopped(&self, now: Nanos, error: &TransactionError) {
        let is_for_room = self.first_failed_for_room.get() == Some(true);
        let kind = blame(error, is_for_room);
        let text = match kind {
            IssueKind::Refused => format!("the engine refused the load: {error}; {REFUSED}"),
            _ => error.to_string(),
        };
        self.fail(now, kind, text, false);
    }

    /// Records a missed deadline, described by `text`.
    pub(crate) fn unfinished(&self, now: Nanos, text: String) {
        self.note(Issue {
            severity: Severity::Warning,
            ..self.issue(now, IssueKind::Unfinished, text)
        });
    }

    /// Records that the database cannot be opened, for the reason `text`.
    pub(crate) fn not_open(&self, now: Nanos, text: String) {
        self.fail(now, IssueKind::Other, text, true);
    }

    /// Records a request that the storage has not answered when the run ends. That is the storage's
    /// fault if it had the full time of the plan, and only a remark if it had less.
    pub(crate) fn unanswered(&self, now: Nanos, open: &Open, severity: Severity) {
        let file = open.asked.file.to_string();
        let text = open.sentence(now);
        if severity == Severity::Error && self.fatal.borrow().is_none() {
            let failure = Failure { text: text.clone(), at_open: false };
            *self.fatal.borrow_mut() = Some(failure);
        }
        self.note(Issue {
            volume: self.volume_of(&file),
            file: Some(file),
            offset_bytes: open.asked.request.map(|_| open.asked.offset),
            severity,
            ..self.issue(now, IssueKind::InputOutput, text)
        });
    }

    /// Records that a log generated by the run cannot be replayed.
    pub(crate) fn not_replayed(&self, now: Nanos, error: &OpenError) {
        let kind = match error {
            OpenError::LostFlush(_)
            | OpenError::Recovery(
                RecoveryError::LostWrite { .. } | RecoveryError::LogTooOld { .. },
            ) => IssueKind::LostFlush,
            OpenError::Device(_) | OpenError::Recovery(RecoveryError::Device(_)) => {
                IssueKind::InputOutput
            }
            _ => IssueKind::Corruption,
        };
        let because = if kind == IssueKind::LostFlush {
            "; the storage has lost writes that it had confirmed"
        } else {
            ""
        };
        self.fail(now, kind, format!("{error}{because}"), false);
    }

    /// Records that acknowledged content is missing from the files.
    pub(crate) fn lost(&self, now: Nanos, text: String) {
        self.fail(now, IssueKind::LostFlush, text, false);
    }

    /// Records a stall of work that does not wait for the storage.
    pub(crate) fn stands_still(&self, now: Nanos, text: String) {
        self.fail(now, IssueKind::Other, text, false);
    }

    /// Records that the database file cannot be read back.
    pub(crate) fn not_readable(&self, now: Nanos, error: &DeviceError) {
        self.fail(now, IssueKind::InputOutput, error.to_string(), false);
    }

    /// Records that a backup has no file for its copy.
    pub(crate) fn not_copied(&self, now: Nanos, error: &ManifestError) {
        let (kind, at_open) = match error {
            ManifestError::Device(DeviceError::Full { .. }) => (IssueKind::VolumeFull, false),
            ManifestError::Device(DeviceError::Disconnected { .. }) => {
                (IssueKind::ConnectionLost, false)
            }
            ManifestError::Device(DeviceError::Io { .. }) => (IssueKind::InputOutput, false),
            _ => (IssueKind::Other, true),
        };
        self.fail(now, kind, format!("{error}; no copy of the backup was made"), at_open);
    }

    fn fail(&self, now: Nanos, kind: IssueKind, text: String, at_open: bool) {
        // Every session of a database fails in the same way; report it once.
        if self.fatal.borrow().is_none() {
            let failure = Failure { text: text.clone(), at_open };
            *self.fatal.borrow_mut() = Some(failure);
            // The reason for stopping is always recorded.
            self.count.set(self.count.get() + 1);
            (self.events)(Event::Issue(self.blamed(self.issue(now, kind, text))));
        }
    }

    fn issue(&self, now: Nanos, kind: IssueKind, text: String) -> Issue {
        Issue {
            at_ns: now.since(self.origin).0,
            database: Some(self.database),
            severity: Severity::Error,
            kind,
            volume: None,
            file: None,
            offset_bytes: None,
            text,
        }
    }

    /// The issue, or one of a lost connection if that is the cause. Failures on another volume of
    /// the database are unchanged.
    fn blamed(&self, issue: Issue) -> Issue {
        let cut_off = self.cut_off.borrow();
        let is_unanswered = matches!(issue.kind, IssueKind::InputOutput | IssueKind::Other);
        let is_there = issue.volume.is_none() || issue.volume == *cut_off;
        if cut_off.is_some() && is_unanswered && is_there {
            return Issue { kind: IssueKind::ConnectionLost, ..issue };
        }
        issue
    }

    fn note(&self, issue: Issue) {
        let issue = self.blamed(issue);
        let count = self.count.get() + 1;
        self.count.set(count);
        // An issue that exonerates the storage is always recorded.
        if count <= MOST_ISSUES || !issue.kind.blames_storage() {
            (self.events)(Event::Issue(issue));
        } else if issue.severity == Severity::Error && issue.kind.blames_storage() {
            let is_request = issue.kind == IssueKind::InputOutput;
            let (failed_requests, damaged_content) = if is_request { (1, 0) } else { (0, 1) };
            self.leave_untold(issue.volume, failed_requests, damaged_content);
        }
    }

    fn leave_untold(&self, volume: Option<String>, failed_requests: u64, damaged_content: u64) {
        let mut untold = self.untold.borrow_mut();
        let sum = untold.entry(volume).or_default();
        sum.failed_requests += failed_requests;
        sum.damaged_content += damaged_content;
    }

    /// Counts `places` further damaged places of `file` without recording each.
    pub(crate) fn further_damage(&self, file: &str, places: u64) {
        if places > 0 {
            self.leave_untold(self.volume_of(file), 0, places);
        }
    }

    /// Reports the errors counted since the last call without being recorded.
    pub(crate) fn tell_further(&self, now: Nanos) {
        for (volume, sum) in self.untold.take() {
            (self.events)(Event::FurtherErrors(FurtherErrors {
                at_ns: now.since(self.origin).0,
                database: self.database,
                volume,
                ..sum
            }));
        }
    }
}

/// The file of an error, and the offset if it has one.
fn place(error: &DeviceError) -> (String, Option<u64>) {
    match error {
        DeviceError::Full { file, offset }
        | DeviceError::Short { file, offset, .. }
        | DeviceError::Io { file, offset, .. } => (file.clone(), Some(*offset)),
        DeviceError::NotFound { file }
        | DeviceError::AlreadyExists { file }
        | DeviceError::PermissionDenied { file }
        | DeviceError::ReadOnly { file }
        | DeviceError::NotAFile { file }
        | DeviceError::Locked { file }
        | DeviceError::Disconnected { file, .. }
        | DeviceError::Unbuffered { file } => (file.clone(), None),
        other => (other.to_string(), None),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use device::DeviceError;
    use engine::{PoisonCause, TransactionError};
    use record::{Event, IssueKind};
    use units::Nanos;

    use super::IssueRecorder;

    /// Every kind of refusal and of failure; a new one must be put in one of the lists.
    #[test]
    fn what_the_engine_refuses_is_never_blamed_on_the_storage() {
        let refusals = [
            TransactionError::Conflict,
            TransactionError::Duplicate,
            TransactionError::NotFound,
            TransactionError::RowTooLarge { bytes: 9, most: 8 },
            TransactionError::BadRow { problem: "of another shape".to_owned() },
        ];
        for refusal in refusals {
            let told = kinds(|recorder| recorder.stopped(Nanos(1), &refusal));
            assert_eq!(told, [IssueKind::Refused], "{refusal}");
            assert!(!told[0].blames_storage());
        }
        let failures = [
            (TransactionError::Read(failed("/log/a.edb")), IssueKind::InputOutput),
            (TransactionError::Poisoned(Rc::new(stopped(false))), IssueKind::InputOutput),
            (TransactionError::Poisoned(Rc::new(stopped(true))), IssueKind::LostFlush),
        ];
        for (failure, kind) in failures {
            let told = kinds(|recorder| recorder.stopped(Nanos(1), &failure));
            assert_eq!(told, [kind], "{failure}");
            assert!(told[0].blames_storage());
        }
    }

    fn stopped(is_lost_flush: bool) -> PoisonCause {
        PoisonCause { file: "a.edb".to_owned(), cause: "a write".to_owned(), is_lost_flush }
    }

    const EXPORT: &str = "nbd://array/lun";

    fn lost() -> DeviceError {
        let why = "the connection broke".to_owned();
        DeviceError::Disconnected { file: EXPORT.to_owned(), why }
    }

    fn failed(file: &str) -> DeviceError {
        let (offset, operation, code) = (0, "write", 5);
        DeviceError::Io { file: file.to_owned(), offset, operation, code, message: String::new() }
    }

    /// The kinds of issues that `meets` produces for a database whose log is on another volume.
    fn kinds(meets: impl Fn(&IssueRecorder)) -> Vec<IssueKind> {
        let told = Rc::new(RefCell::new(Vec::new()));
        let heard = Rc::clone(&told);
        let events = Rc::new(move |event| {
            if let Event::Issue(issue) = event {
                heard.borrow_mut().push(issue.kind);
            }
        });
        let volumes = [(EXPORT, EXPORT), ("/log", "/mnt/log")]
            .map(|(folder, volume)| (folder.to_owned(), volume.to_owned()));
        let recorder = IssueRecorder {
            volumes: volumes.to_vec(),
            ..IssueRecorder::new(0, Nanos::ZERO, events)
        };
        meets(&recorder);
        told.take()
    }

    #[test]
    fn what_a_lost_connection_stops_is_told_as_that_and_what_fails_elsewhere_is_not() {
        let told = kinds(|recorder| {
            recorder.request_failed(Nanos(1), &failed("/log/E00.plg"), true);
            recorder.request_failed(Nanos(2), &lost(), true);
            recorder.request_failed(Nanos(2), &lost(), false);
            recorder.request_failed(Nanos(3), &failed("/log/E00.plg"), true);
            recorder.stands_still(Nanos(4), "nothing moves".to_owned());
        });
        let (fault, lost) = (IssueKind::InputOutput, IssueKind::ConnectionLost);
        assert_eq!(told, [fault, lost, fault, lost]);
    }

    #[test]
    fn a_lost_connection_is_told_after_any_number_of_errors() {
        let told = kinds(|recorder| {
            for _ in 0..30 {
                recorder.request_failed(Nanos(1), &failed("/log/E00.plg"), false);
            }
            recorder.request_failed(Nanos(2), &lost(), false);
        });
        assert_eq!((told.len(), told.last()), (21, Some(&IssueKind::ConnectionLost)));
    }
}
