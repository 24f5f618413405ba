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
    MoreSessions = "more-sessions",
    EndOthers = "end-others",
    OneAtATime = "one-at-a-time",
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
    /// Order among steps of its kind: that of the lowest rank asks most, and does for the others.
    /// `None` if their order is unknown.
    pub rank: Option<u64>,
}

impl StepKind {
    /// The step that `command` carries out.
    pub(super) fn with(self, words: impl Into<String>, command: String) -> NextStep {
        NextStep { kind: self, words: words.into(), command: Some(command), rank: None }
    }

    /// Whether the step repeats the same load on the same databases, so that the run can replace
    /// the test in its set.
    pub(super) const fn keeps_plan(self) -> bool {
        matches!(
            self,
            Self::MeasureLonger
                | Self::MeasureAgain
                | Self::EndOthers
                | Self::OneAtATime
                | Self::OwnProcessors
                | Self::KeepRunning
                | Self::FewerLogs
                | Self::TwoHours
                | Self::DayOfStress
        )
    }

    /// Whether the step is one of those after a volume that filled up.
    pub(super) const fn is_of_full_volume(self) -> bool {
        matches!(self, Self::ShorterRun | Self::SmallerDatabases | Self::LargerVolume)
    }

    /// A step without a command.
    pub(super) fn alone(self, words: impl Into<String>) -> NextStep {
        NextStep { kind: self, words: words.into(), command: None, rank: None }
    }
}

/// Ends the words of a step that prepares the command.
const THEN: &str = "; then";
/// Placeholder for the folder of a run, which may have been moved since.
pub(super) const FOLDER: &str = "FOLDER";
/// Explains the placeholder to the reader.
pub(super) const OF_THIS_RUN: &str = ", with the folder of this run for FOLDER";
/// The same in the report of a set of tests.
pub(super) const OF_THIS_SET: &str = ", with the folder of this set for FOLDER";

/// Combines the steps that one command serves.
pub(super) fn one_for_each_command(steps: Vec<NextStep>) -> Vec<NextStep> {
    let mut merged: Vec<NextStep> = Vec::new();
    for step in steps {
        if !merged.iter_mut().any(|of| of.absorb(&step)) {
            merged.push(step);
        }
    }
    merged
}

impl NextStep {
    /// Whether `other` asks for the same in the same words; its command may be another.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        self.kind == other.kind && self.words == other.words
    }

    /// The step with its order among those of its kind, which is no negative number.
    pub(super) fn ranked(self, rank: f64) -> Self {
        assert!(rank.is_sign_positive(), "the bits of positive numbers have the numbers' order");
        Self { rank: Some(rank.to_bits()), ..self }
    }

    /// The same step by another command.
    pub(super) fn by(self, command: String) -> Self {
        Self { command: Some(command), ..self }
    }

    /// Combines this step with `other` if one command serves both, and returns whether it does: at
    /// most one of them is more than a preparation for the command.
    pub(super) fn absorb(&mut self, other: &Self) -> bool {
        let is_first = self.words.ends_with(THEN);
        let is_same = self.command.is_some() && self.command == other.command;
        if !is_same || !(is_first || other.words.ends_with(THEN)) {
            return false;
        }
        let (first, last) = if is_first { (&*self, other) } else { (other, &*self) };
        let words = format!("{}. {}", first.words.trim_end_matches(THEN), last.words);
        // A change of the plan is not repeated within the set.
        let leading = if first.kind.keeps_plan() { last } else { first };
        let (kind, rank) = (leading.kind, leading.rank);
        *self = Self { kind, words, rank, ..last.clone() };
        true
    }

    /// Whether its command fills the databases anew.
    pub(super) fn fills_anew(&self) -> bool {
        self.words.contains(" --reset)")
    }

    /// The step with `command`, whose run replaces the test in the folder `part` of its set.
    pub(super) fn replacing(self, part: &str, command: String) -> Self {
        let words = format!(
            "{}. This run replaces {part} in the set (plimsoll report {FOLDER}){OF_THIS_SET}",
            self.words.trim_end_matches(THEN)
        );
        self.kind.with(words, command)
    }

    /// The step once other programs no longer use the machine that it measures.
    pub(super) fn after_others(mut self) -> Self {
        self.words = format!("End the other programs on this machine first. {}", self.words);
        self
    }

    /// The step of a run in the folder `part` of a set, with [`FOLDER`] for that of the set. The
    /// command that repeats the run is `outside` in its words, and `within` the set instead.
    pub(super) fn in_set(mut self, part: &str, (outside, within): (&str, &str)) -> Self {
        if self.kind == StepKind::Resume {
            self.words = self.words.replace(outside, within).replace(OF_THIS_RUN, OF_THIS_SET);
            let part = format!("{FOLDER}/{part}");
            self.command = self.command.map(|command| command.replace(FOLDER, &part));
        }
        self
    }

    /// The step for a run or a set in `folder`, quoted for a shell.
    pub(super) fn for_run_in(mut self, folder: &str) -> Self {
        let is_placed = [OF_THIS_RUN, OF_THIS_SET].iter().any(|of| self.words.contains(of));
        if is_placed {
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

#[cfg(test)]
mod tests {
    use super::StepKind;

    #[test]
    fn steps_with_one_command_are_one() {
        let command = || "plimsoll run p.toml --duration 45s".to_owned();
        let mut longer = StepKind::MeasureLonger.with("Measure for longer", command());
        let others = StepKind::EndOthers.with("End the others; then", command());
        assert!(longer.absorb(&others));
        let together = "End the others. Measure for longer: plimsoll run p.toml --duration 45s";
        assert_eq!(longer.to_string(), together);
        let alternative = StepKind::LowerTarget.with("Hold a lower target", command());
        assert!(!longer.absorb(&alternative), "one or the other, and not both");
        let larger = StepKind::LargerCache.with("Set it; then", command());
        assert!(longer.absorb(&larger) && !longer.kind.keeps_plan(), "the plan is another");
        let other = StepKind::EndOthers.with("End the others; then", "plimsoll line".to_owned());
        assert!(!longer.absorb(&other));
    }
}
