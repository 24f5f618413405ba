//! The steps by name, so that documentation and tests can list all of them.

use std::fmt;

/// Defines every step once: the type, its list and its name in `docs/next-steps.md`.
macro_rules! step_kinds {
    ($($kind:ident = $name:literal),+ $(,)?) => {
        /// Kind of advice.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum StepKind {
            $($kind),+
        }

        #[cfg(test)]
        impl StepKind {
            /// Every step, in the order of `docs/next-steps.md`.
            pub(super) const ALL: &[Self] = &[$(Self::$kind),+];

            /// The name of the step's row in `docs/next-steps.md`.
            pub(super) const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name),+
                }
            }
        }
    };
}

step_kinds! {
    FindRoom = "find-room",
    FewerMailboxes = "fewer-mailboxes",
    LargerDatabases = "larger-databases",
    DayOfStress = "day-of-stress",
    TwoHours = "two-hours",
    OwnPlan = "own-plan",
    RecoveryTest = "recovery-test",
    LoadTest = "load-test",
    FindCause = "find-cause",
    CheckWriteCache = "check-write-cache",
    LargerCache = "larger-cache",
    FasterCopies = "faster-copies",
    FindDelay = "find-delay",
    FindLine = "find-line",
    LowerTarget = "lower-target",
    LowerShare = "lower-share",
    FewerSessions = "fewer-sessions",
    HoldLess = "hold-less",
    OriginalRecord = "original-record",
    MeasureLonger = "measure-longer",
    EndOthers = "end-others",
    SpareProcessors = "spare-processors",
    OwnProcessors = "own-processors",
    WithoutCache = "without-cache",
    ShorterRun = "shorter-run",
    SmallerDatabases = "smaller-databases",
    LargerVolume = "larger-volume",
    ReachServer = "reach-server",
    FreeVolume = "free-volume",
    Resume = "resume",
    KeepRunning = "keep-running",
    FewerLogs = "fewer-logs",
    ReportRefusal = "report-refusal",
    ReadDatabases = "read-databases",
    MeasureAgain = "measure-again",
    RestOfSet = "rest-of-set",
    ReportOfSet = "report-of-set",
    DetailedSimulation = "detailed-simulation",
    OtherArray = "other-array",
    MeasureSimulated = "measure-simulated",
    SimulateBest = "simulate-best",
    LoseHost = "lose-host",
    MoreCopies = "more-copies",
    OtherStorage = "other-storage",
    MeasureDeployment = "measure-deployment",
    CompareImported = "compare-imported",
}

/// One step: the action, and the command that performs it or follows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NextStep {
    /// Kind of the step.
    pub kind: StepKind,
    words: String,
    /// The command; `None` if no command of this program helps.
    pub command: Option<String>,
}

impl StepKind {
    /// The step that `command` carries out.
    pub(super) fn with(self, words: impl Into<String>, command: String) -> NextStep {
        NextStep { kind: self, words: words.into(), command: Some(command) }
    }

    /// Whether the step is one of those after a volume that filled up.
    pub(super) const fn is_of_full_volume(self) -> bool {
        matches!(self, Self::ShorterRun | Self::SmallerDatabases | Self::LargerVolume)
    }

    /// A step without a command.
    pub(super) fn alone(self, words: impl Into<String>) -> NextStep {
        NextStep { kind: self, words: words.into(), command: None }
    }
}

/// Placeholder for the folder of a run, which may have been moved since.
pub(super) const FOLDER: &str = "FOLDER";
/// Explains the placeholder to the reader.
pub(super) const OF_THIS_RUN: &str = ", with the folder of this run for FOLDER";
/// The same in the report of a set of tests.
pub(super) const OF_THIS_SET: &str = ", with the folder of this set for FOLDER";

impl NextStep {
    /// Whether `other` asks for the same in the same words; its command may be another.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        self.kind == other.kind && self.words == other.words
    }

    /// The step of a run in the folder `part` of a set, with a placeholder for that of the set.
    pub(super) fn in_set(mut self, part: &str) -> Self {
        if self.kind == StepKind::Resume {
            self.words = self.words.replace(OF_THIS_RUN, OF_THIS_SET);
            let part = format!("{FOLDER}/{part}");
            self.command = self.command.map(|command| command.replace(FOLDER, &part));
        }
        self
    }

    /// The step for a run or a set in `folder`, quoted for a shell.
    pub(super) fn for_run_in(mut self, folder: &str) -> Self {
        if matches!(self.kind, StepKind::Resume | StepKind::RestOfSet) {
            let words = self.words.replace(OF_THIS_RUN, "").replace(OF_THIS_SET, "");
            self.words = words.replace(FOLDER, folder);
            self.command = self.command.map(|command| command.replace(FOLDER, folder));
        }
        self
    }
}

impl fmt::Display for NextStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.command {
            Some(command) => write!(f, "{}: {command}", self.words),
            None => write!(f, "{}.", self.words),
        }
    }
}
