//! The entries of a list: single runs, and sets of tests with their runs.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::PathBuf;

use report::{SUITE_PARTS, split_replaced, suite_of};
use verdict::{Ruling, worst};

use super::fleets::{ListedFleet, fleet_of};
use super::listed::ListedRun;

/// A set of at least one test, in the order in which they are run.
pub(super) struct ListedSet {
    pub folder: PathBuf,
    pub tests: Vec<ListedRun>,
}

/// One entry.
pub(super) enum ListedEntry {
    Run(Box<ListedRun>),
    Set(ListedSet),
    Fleet(ListedFleet),
}

/// Returns the entries, newest start first.
pub(super) fn entries(runs: Vec<ListedRun>) -> Vec<ListedEntry> {
    let mut sets: BTreeMap<PathBuf, Vec<ListedRun>> = BTreeMap::new();
    let mut fleets: BTreeMap<PathBuf, Vec<ListedRun>> = BTreeMap::new();
    let mut entries = Vec::new();
    for run in runs {
        match (fleet_of(&run), set_of(&run)) {
            (Some(fleet), _) => fleets.entry(fleet).or_default().push(run),
            (None, Some(set)) => sets.entry(set).or_default().push(run),
            (None, None) => entries.push(ListedEntry::Run(Box::new(run))),
        }
    }
    let fleets = fleets.into_iter().map(|(folder, hosts)| ListedFleet::new(folder, hosts));
    entries.extend(fleets.map(ListedEntry::Fleet));
    for (folder, tests) in sets {
        let (tests, replaced) = split_replaced(tests, |run| &run.id);
        entries.push(ListedEntry::Set(ListedSet { folder, tests }));
        for run in replaced {
            entries.push(ListedEntry::Run(Box::new(ListedRun { is_replaced: true, ..run })));
        }
    }
    entries.sort_by_key(|entry| Reverse(entry.began_ns()));
    entries
}

/// The folder of the set that a run is a part of.
fn set_of(run: &ListedRun) -> Option<PathBuf> {
    let (_, kind) = suite_of(run.folder.file_name()?.to_str()?)?;
    let set = run.folder.parent().filter(|_| kind == run.record.start.test)?;
    Some(set.to_path_buf())
}

impl ListedEntry {
    fn began_ns(&self) -> Option<u64> {
        match self {
            Self::Run(run) => run.began_ns(),
            Self::Set(set) => set.first().began_ns(),
            Self::Fleet(fleet) => fleet.first().began_ns(),
        }
    }
}

impl ListedSet {
    /// The first of the set's tests, in the order in which they are run.
    pub(super) fn first(&self) -> &ListedRun {
        &self.tests[0]
    }

    pub(super) fn is_live(&self) -> bool {
        self.tests.iter().any(|test| test.is_live)
    }

    /// The combined outcome of the tests; a missing one is inconclusive.
    fn outcome(&self) -> Ruling {
        let mut outcomes: Vec<Ruling> = self.tests.iter().map(|of| of.verdict.outcome).collect();
        if self.tests.len() < SUITE_PARTS.len() {
            outcomes.push(Ruling::CannotJudge);
        }
        worst(&outcomes)
    }

    pub(super) fn verdict_word(&self) -> String {
        if self.is_live() {
            return "live".to_owned();
        }
        report::set_headline(self.outcome(), self.tests.iter().map(|test| &test.verdict))
    }

    /// The verdict as spelled in reports; `None` for a live set.
    pub(super) fn verdict_for_programs(&self) -> Option<&'static str> {
        match (self.is_live(), self.outcome()) {
            (true, _) => None,
            (false, Ruling::Pass | Ruling::Warn) => Some("pass"),
            (false, Ruling::Fail) => Some("fail"),
            (false, Ruling::CannotJudge) => Some("cannot_judge"),
        }
    }

    /// How many of its tests passed.
    pub(super) fn passed(&self) -> String {
        let outcomes = self.tests.iter().map(|test| test.verdict.outcome);
        let passed = outcomes.filter(|of| matches!(of, Ruling::Pass | Ruling::Warn)).count();
        format!("{passed} of {}", SUITE_PARTS.len())
    }
}
