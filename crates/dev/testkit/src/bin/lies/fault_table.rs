//! The faults of the table, the files they are injected in, and the expected outcome of each.

use std::fmt;
use std::time::Duration;

use testkit::fault_volume::{Access, Fault, FileKind, Rule};

use crate::outcome::Observed;
use crate::table::TableRow;

/// Every kind of file.
const KINDS: [FileKind; 5] =
    [FileKind::Database, FileKind::Header, FileKind::Log, FileKind::Checkpoint, FileKind::FlushMap];

/// All faults of data (`OF_BYTES`) and of timing (`OF_TIME`).
const OF_BYTES: [Fault; 6] =
    [Fault::Drop, Fault::Flip, Fault::Misdirect, Fault::Tear, Fault::Error, Fault::Full];
const OF_TIME: [Fault; 3] =
    [Fault::Delay(Duration::from_millis(200)), Fault::Freeze(Duration::from_secs(10)), Fault::Hang];

/// Delay of a storage fault after the start of the program, so that it falls into the measurement.
const AFTER_START: Duration = Duration::from_secs(6);

/// Expected outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expectation {
    /// Exit status 1, and the file is named.
    FileNamed,
    /// Exit status 1, or 2 before anything was measured; the file is named.
    FileRefused,
    /// Exit status 1.
    Failure,
    /// Exit status 1 for slow storage, or 2 if other programs took processors from the run.
    Slow,
    /// Exit status 2, and the file is named: a full volume is not damaged.
    NoRoom,
    /// Neither exit status 1 nor an issue: nothing was lost.
    NoFailure,
    /// No issue: nothing was lost, and slow page writes may or may not delay the load.
    NoIssue,
}

/// One run on storage with a fault.
pub(crate) struct FaultRow {
    /// The fault.
    pub rule: Rule,
    /// Outcome that the run must have.
    pub wanted: Expectation,
    /// Why no failure is expected, if none is. A header and a checkpoint end in zeros, which a torn
    /// write does not lose; the two copies of a checkpoint are equal, and misdirected writes swap
    /// them; an ignored flush loses nothing as long as power lasts.
    why: &'static str,
}

/// The whole table, the longest runs last.
pub(crate) fn all() -> Vec<FaultRow> {
    let faults = OF_BYTES.into_iter().chain(OF_TIME);
    let mut rows = Vec::new();
    for fault in faults {
        for kind in KINDS {
            rows.push(row(kind, Access::Write, fault));
            // A read needs no free space.
            if fault != Fault::Full {
                rows.push(row(kind, Access::Read, fault));
            }
        }
    }
    for fault in [Fault::Drop, Fault::Error, Fault::Hang] {
        rows.push(row(FileKind::Any, Access::Flush, fault));
    }
    rows
}

fn row(kind: FileKind, access: Access, fault: Fault) -> FaultRow {
    let (wanted, why) = wanted(kind, access, fault);
    let is_of_time = OF_TIME.contains(&fault);
    let is_asked_all_the_time = match kind {
        FileKind::Database => true,
        FileKind::Log | FileKind::Checkpoint | FileKind::Header => access == Access::Write,
        FileKind::Any => fault != Fault::Error,
        FileKind::FlushMap => false,
    };
    let rule = Rule {
        from: if is_of_time { 0 } else { first(kind, access) },
        after: if is_of_time && is_asked_all_the_time { AFTER_START } else { Duration::ZERO },
        ..Rule::always(kind, access, fault)
    };
    FaultRow { rule, wanted, why }
}

/// Number of matching requests without a fault, so that the database can be opened.
fn first(kind: FileKind, access: Access) -> u64 {
    match (kind, access) {
        (FileKind::Database, Access::Read) => 50,
        (FileKind::Database | FileKind::Any, _) | (FileKind::Log, Access::Write) => 10,
        (FileKind::Header | FileKind::Checkpoint, Access::Write) => 2,
        _ => 0,
    }
}

fn wanted(kind: FileKind, access: Access, fault: Fault) -> (Expectation, &'static str) {
    let is_while_opening =
        access == Access::Read && !matches!(kind, FileKind::Database | FileKind::Log);
    match (kind, access, fault) {
        (FileKind::Any, _, Fault::Drop) => (Expectation::NoFailure, "no fail: powered"),
        (FileKind::Header, _, Fault::Tear) | (FileKind::Checkpoint, Access::Write, Fault::Tear) => {
            (Expectation::NoFailure, "no fail: zeros")
        }
        (FileKind::Checkpoint, Access::Write, Fault::Misdirect) => {
            (Expectation::NoFailure, "no fail: copies")
        }
        (FileKind::Database, Access::Read, Fault::Delay(_))
        | (FileKind::Log, Access::Write, Fault::Delay(_)) => (Expectation::Slow, ""),
        (FileKind::Database, Access::Write, Fault::Delay(_)) => (Expectation::NoIssue, ""),
        (_, _, Fault::Delay(_)) => (Expectation::NoFailure, "no fail: slow"),
        (FileKind::Any, ..) | (_, _, Fault::Freeze(_)) => (Expectation::Failure, ""),
        (_, _, Fault::Full) => (Expectation::NoRoom, ""),
        _ if is_while_opening => (Expectation::FileRefused, ""),
        _ => (Expectation::FileNamed, ""),
    }
}

impl TableRow for FaultRow {
    fn wanted(&self) -> &'static str {
        match self.wanted {
            Expectation::FileNamed => "fail, file named",
            Expectation::FileRefused => "file named",
            Expectation::Failure => "fail",
            Expectation::Slow => "fail by latency",
            Expectation::NoRoom => "no room, named",
            Expectation::NoFailure => self.why,
            Expectation::NoIssue => "nothing lost",
        }
    }

    fn is_empty(&self, outcome: &Observed) -> bool {
        outcome.injected == 0
    }

    fn is_right(&self, outcome: &Observed) -> bool {
        // Without a fault the storage was sound.
        let wanted = if self.is_empty(outcome) { Expectation::NoFailure } else { self.wanted };
        let is_named = outcome.names(self.extension());
        match wanted {
            Expectation::FileNamed => outcome.code == Some(1) && is_named,
            Expectation::FileRefused => matches!(outcome.code, Some(1 | 2)) && is_named,
            Expectation::Failure => outcome.code == Some(1),
            Expectation::Slow => match outcome.code {
                Some(1) => !outcome.failed_rules.is_empty(),
                Some(2) => outcome.is_beside_others,
                _ => false,
            },
            Expectation::NoRoom => outcome.code == Some(2) && is_named,
            Expectation::NoFailure => {
                matches!(outcome.code, Some(0 | 2)) && outcome.issues.is_empty()
            }
            Expectation::NoIssue => outcome.code.is_some() && outcome.issues.is_empty(),
        }
    }
}

impl FaultRow {
    /// File name extension of the affected files.
    fn extension(&self) -> &'static str {
        match self.rule.kind {
            FileKind::Database | FileKind::Header => ".edb",
            FileKind::Log => ".plg",
            FileKind::Checkpoint => ".pck",
            FileKind::FlushMap => ".jfm",
            FileKind::Any => "",
        }
    }

    /// Whether the fault affects time, so that a verdict needs a whole measurement.
    pub(crate) fn is_of_time(&self) -> bool {
        OF_TIME.contains(&self.rule.fault)
    }
}

impl fmt::Display for FaultRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rule { kind, access, fault, .. } = self.rule;
        write!(f, "{kind:?} {access:?} {fault:?}")
    }
}
