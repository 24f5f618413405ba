//! Events of a journal: a record written only at the end would be lost in a crash.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{FurtherErrors, Interval, LogPlace, Phase, Start};

/// One line of a journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// Always the first line: the run, its machine and its settings.
    Start(Box<Start>),
    /// A phase begins or ends.
    Phase(PhaseMark),
    /// Activity of every database and the host between two samples.
    Interval(Interval),
    /// Something the reader of the report must know.
    Issue(Issue),
    /// Errors that are only counted.
    FurtherErrors(FurtherErrors),
    /// The result of verifying every page of one database.
    Checksum(Checksum),
    /// The result of reading one database as a backup does.
    Backup(Checksum),
    /// A backup has copied one database.
    BackupCopy(BackupCopy),
    /// The result of reading such a copy back.
    CopyChecksum(Checksum),
    /// The result of replaying the log of one database.
    Replay(Replay),
    /// The search for the number of sessions has ended.
    Tuned(Tuned),
    /// Bytes read from a volume under load, and its devices' counters.
    VolumeReads(VolumeReads),
    /// Another run used the same disk during this one.
    OtherRun(OtherRun),
    /// The longest request of a database in a phase, if it took at least
    /// [`crate::STALL_MINIMUM_NS`].
    LongRequest(LongRequest),
    /// A database was opened for the load.
    Attached(Attached),
    /// An interrupted run resumed.
    Resumed(Resumed),
    /// A line of the human-readable test log.
    Log(LogLine),
    /// Always the last line of a run, unless the program was killed.
    Finished(Finished),
}

/// Which end of a phase a [`PhaseMark`] marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Edge {
    /// The phase begins.
    Begin,
    /// The phase ends.
    End,
}

/// A phase begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseMark {
    /// When, in nanoseconds since the start of the run.
    pub at_ns: u64,
    /// Which phase.
    pub phase: Phase,
    /// Which end of it.
    pub edge: Edge,
}

/// How bad an [`Issue`] is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing; does not fail a test.
    Warning,
    /// The storage did something it must never do; fails the test.
    Error,
}

/// Kind of an [`Issue`].
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum IssueKind {
    /// A page or log segment whose checksum does not match its content.
    Checksum,
    /// A record whose hash does not match the object, key and version it claims.
    HashMismatch,
    /// The operating system refused or failed a request.
    InputOutput,
    /// A volume had no room for a write or a longer file. Nothing is damaged.
    VolumeFull,
    /// The connection to networked storage broke. Whether anything is damaged is unknown.
    ConnectionLost,
    /// An acknowledged write that is not on the medium.
    LostFlush,
    /// An inconsistent structure.
    Corruption,
    /// A step ran out of time. The finished part is sound.
    Unfinished,
    /// The engine refused a request of the load. The storage is not involved.
    Refused,
    /// Anything else.
    Other,
}

impl IssueKind {
    /// Whether the storage definitely did something it must never do.
    pub const fn blames_storage(self) -> bool {
        match self {
            Self::VolumeFull | Self::ConnectionLost | Self::Unfinished | Self::Refused => false,
            Self::Checksum
            | Self::HashMismatch
            | Self::InputOutput
            | Self::LostFlush
            | Self::Corruption
            | Self::Other => true,
        }
    }
}

/// Something the reader of the report must know, with its location.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Issue {
    /// When, in nanoseconds since the start of the run.
    pub at_ns: u64,
    /// Index of the database concerned, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<u32>,
    /// How bad it is.
    pub severity: Severity,
    /// Its kind.
    pub kind: IssueKind,
    /// Mount point of the volume, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<String>,
    /// Path of the file, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Byte offset in the file, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset_bytes: Option<u64>,
    /// The full message in words.
    pub text: String,
}

/// The result of reading one database to its end, and of verifying every page of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Checksum {
    /// When the pass ended, in nanoseconds since the start of the run.
    pub at_ns: u64,
    /// Index of the database.
    pub database: u32,
    /// Pages read, including the two header pages.
    pub seen_pages: u64,
    /// Pages with a checksum mismatch that cannot be repaired.
    pub bad_pages: u64,
    /// Pages with one flipped bit, which the checksum can repair.
    pub correctable_pages: u64,
    /// Pages that carry another page's number.
    pub wrong_page_number_pages: u64,
    /// Pages of zeros inside the owned space that were never written.
    pub uninitialised_pages: u64,
    /// Pages beyond the owned space of the database.
    pub foreign_pages: u64,
    /// Pages whose acknowledged last write never reached the medium.
    #[serde(default)]
    pub lost_flush_pages: u64,
    /// Bytes read.
    pub bytes: u64,
    /// How long the pass took, in nanoseconds.
    pub elapsed_ns: u64,
}

impl Checksum {
    /// MiB per second; `None` if no time has passed.
    pub fn mib_per_second(&self) -> Option<f64> {
        let seconds = self.elapsed_ns as f64 / 1e9;
        (seconds > 0.0).then(|| self.bytes as f64 / f64::from(1 << 20) / seconds)
    }

    /// Combines the passes over all databases. Pages and bytes add up; the databases are read
    /// concurrently, so the longest time counts.
    pub fn together(all: &[Self]) -> Self {
        let mut sum = Self::default();
        for of in all {
            sum.seen_pages += of.seen_pages;
            sum.bad_pages += of.bad_pages;
            sum.correctable_pages += of.correctable_pages;
            sum.wrong_page_number_pages += of.wrong_page_number_pages;
            sum.lost_flush_pages += of.lost_flush_pages;
            sum.uninitialised_pages += of.uninitialised_pages;
            sum.foreign_pages += of.foreign_pages;
            sum.bytes += of.bytes;
            sum.elapsed_ns = sum.elapsed_ns.max(of.elapsed_ns);
        }
        sum
    }
}

/// The copy of one database made by a backup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BackupCopy {
    /// When the whole copy was on stable storage, in nanoseconds since the start of the run.
    pub at_ns: u64,
    /// Index of the database.
    pub database: u32,
    /// Bytes of the copy.
    pub bytes: u64,
    /// How long making it took, in nanoseconds: database reads, writes and flush.
    pub elapsed_ns: u64,
    /// How long reads of the database waited for the copy, in nanoseconds: for its file to be
    /// created, and for room among its writes. 0 in records of earlier releases.
    #[serde(default)]
    pub reads_waited_ns: u64,
}

impl BackupCopy {
    /// MiB per second; `None` if no time has passed.
    pub fn mib_per_second(&self) -> Option<f64> {
        let seconds = self.elapsed_ns as f64 / 1e9;
        (seconds > 0.0).then(|| self.bytes as f64 / f64::from(1 << 20) / seconds)
    }
}

/// The result of replaying the log of one database, from its files to an open database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Replay {
    /// When the database was open, in nanoseconds since the start of the run.
    pub at_ns: u64,
    /// Index of the database.
    pub database: u32,
    /// Log files replayed, the last of which need not be full.
    pub logs: u64,
    /// Log records read.
    pub records: u64,
    /// Page changes made.
    pub pages_changed: u64,
    /// Page changes already in the file.
    pub pages_up_to_date: u64,
    /// Pages read from the file.
    pub pages_read: u64,
    /// Pages written to the file.
    pub pages_written: u64,
    /// How long the replay took, in nanoseconds.
    pub elapsed_ns: u64,
    /// How long the load had taken to generate the log, in nanoseconds.
    pub generated_ns: u64,
}

impl Replay {
    /// Nanoseconds per log file; `None` if nothing was replayed.
    pub fn ns_per_log(&self) -> Option<f64> {
        let has_work = self.logs > 0 && self.pages_changed + self.pages_up_to_date > 0;
        has_work.then(|| self.elapsed_ns as f64 / self.logs as f64)
    }
}

/// The search for the number of sessions has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tuned {
    /// When, in nanoseconds since the start of the run.
    pub at_ns: u64,
    /// Sessions that load each database from now on.
    pub sessions_per_database: u32,
    /// Load held from now on, in database reads and writes per second over all databases, if the
    /// plan asks for a share of the highest load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_iops: Option<u32>,
}

/// Bytes read from a volume, and the counters of its block devices over the same time: from the
/// start of the warm-up to the end of the measurement, or during the pass or replay of another
/// test.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VolumeReads {
    /// Mount point of the volume.
    pub volume: String,
    /// Bytes that the load read.
    pub requested_bytes: u64,
    /// Bytes that the devices read on behalf of all programs.
    pub device_bytes: u64,
    /// Upper bound of those bytes that the system accounts to this program, and to the file
    /// system's server if a process serves it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accounted_bytes: Option<u64>,
}

/// Another run that shares a disk with this one, seen on the same machine while both were in
/// progress.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OtherRun {
    /// When it was first seen, in nanoseconds since the start of the run.
    pub at_ns: u64,
    /// Folder of its journal.
    pub folder: String,
    /// Mount point of the volume of this run that is on the shared disk.
    pub volume: String,
    /// The disk, by its system name, such as `sda`.
    pub disk: String,
}

/// The longest request of one database in one phase: of any kind, including name operations such as
/// opening a file, which no interval covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LongRequest {
    /// When it was answered, in nanoseconds since the start of the run; the end of the run if it
    /// was not.
    pub at_ns: u64,
    /// The phase in which it was answered.
    pub phase: Phase,
    /// Index of the database.
    pub database: u32,
    /// Path of the file or folder.
    pub file: String,
    /// The operation as a word: `read`, `flush`, `open`.
    pub operation: String,
    /// Byte offset in the file; the new length if the length changed; else 0.
    #[serde(default)]
    pub offset_bytes: u64,
    /// Bytes requested; 0 if none.
    #[serde(default)]
    pub length_bytes: u64,
    /// How long it took, in nanoseconds, excluding time in which the program was stopped.
    pub time_ns: u64,
    /// Whether it was answered.
    pub is_answered: bool,
}

/// A database was opened for the load. Its header has the same values until the next open, so a run
/// resumed after a crash can detect any other change in between.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Attached {
    /// When, in nanoseconds since the start of the run.
    pub at_ns: u64,
    /// Index of the database.
    pub database: u32,
    /// Signature of its log, in hexadecimal.
    pub log_signature: String,
    /// Log position at which it was opened.
    pub place: LogPlace,
}

/// An interrupted run resumed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Resumed {
    /// Wall-clock time in nanoseconds since the start of the run.
    pub at_ns: u64,
    /// Bytes of a truncated last line that was removed.
    pub cut_bytes: u64,
}

/// A line of the test log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogLine {
    /// When, in nanoseconds since the start of the run.
    pub at_ns: u64,
    /// Text for people.
    pub text: String,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "keys of the journal, each added in a later release"
)]
pub struct Finished {
    /// When, in nanoseconds since the start of the run.
    pub at_ns: u64,
    /// Whether it ended before its plan was complete.
    pub interrupted: bool,
    /// The reason, if it was interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether a volume was nearly full; older records only say so in [`Finished::reason`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_for_room: bool,
    /// Whether the storage was too slow to finish within the time allowed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_overdue: bool,
    /// Whether the user stopped it, so that it can be resumed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub was_stopped: bool,
}

fn shift(at_ns: &mut u64, later_ns: u64) {
    *at_ns = at_ns.saturating_add(later_ns);
}

impl Event {
    /// The same event on a clock that started `later_ns` earlier: a resumed run counts from its own
    /// start, which is that much later in the record. Start events have their own zero.
    #[must_use]
    pub fn later(mut self, later_ns: u64) -> Self {
        match &mut self {
            Self::Start(_) | Self::VolumeReads(_) => {}
            Self::Phase(mark) => shift(&mut mark.at_ns, later_ns),
            Self::Interval(interval) => {
                shift(&mut interval.from_ns, later_ns);
                shift(&mut interval.to_ns, later_ns);
            }
            Self::Issue(issue) => shift(&mut issue.at_ns, later_ns),
            Self::FurtherErrors(errors) => shift(&mut errors.at_ns, later_ns),
            Self::Checksum(read) | Self::Backup(read) | Self::CopyChecksum(read) => {
                shift(&mut read.at_ns, later_ns);
            }
            Self::BackupCopy(copy) => shift(&mut copy.at_ns, later_ns),
            Self::Replay(replay) => shift(&mut replay.at_ns, later_ns),
            Self::Tuned(tuned) => shift(&mut tuned.at_ns, later_ns),
            Self::OtherRun(run) => shift(&mut run.at_ns, later_ns),
            Self::LongRequest(request) => shift(&mut request.at_ns, later_ns),
            Self::Attached(attached) => shift(&mut attached.at_ns, later_ns),
            Self::Resumed(resumed) => shift(&mut resumed.at_ns, later_ns),
            Self::Log(line) => shift(&mut line.at_ns, later_ns),
            Self::Finished(finished) => shift(&mut finished.at_ns, later_ns),
        }
        self
    }

    /// When it ended, in nanoseconds since the start of the run; `None` if it has no time.
    pub(crate) fn end_ns(&self) -> Option<u64> {
        match self {
            Self::Start(_) | Self::VolumeReads(_) => None,
            Self::Phase(mark) => Some(mark.at_ns),
            Self::Interval(interval) => Some(interval.to_ns),
            Self::Issue(issue) => Some(issue.at_ns),
            Self::FurtherErrors(errors) => Some(errors.at_ns),
            Self::Checksum(read) | Self::Backup(read) | Self::CopyChecksum(read) => {
                Some(read.at_ns)
            }
            Self::BackupCopy(copy) => Some(copy.at_ns),
            Self::Replay(replay) => Some(replay.at_ns),
            Self::Tuned(tuned) => Some(tuned.at_ns),
            Self::OtherRun(run) => Some(run.at_ns),
            Self::LongRequest(request) => Some(request.at_ns),
            Self::Attached(attached) => Some(attached.at_ns),
            Self::Resumed(resumed) => Some(resumed.at_ns),
            Self::Log(line) => Some(line.at_ns),
            Self::Finished(finished) => Some(finished.at_ns),
        }
    }
}
