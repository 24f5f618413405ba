//! Simulations of a sweep that agents run: the contents of an item, the agent's handling of it, and
//! the results that the controller keeps.
//!
//! The queue delivers each item at least once, to any agent, and again if an agent is lost. Results
//! are named by their content, so that a duplicate changes nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// One simulation, complete: an agent needs no file of the controller's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SimulationItem {
    /// Content key of everything that determines the result, including the program.
    pub key: String,
    /// The program that must simulate it.
    pub build: String,
    /// The plan, as TOML, with every value of the command line.
    pub plan: String,
    /// Name of the array's file.
    pub array_file: String,
    /// The text of that file.
    pub array: String,
    /// Keys of the array that differ from the file, with their values.
    pub changes: Vec<(String, String)>,
    /// `true` to simulate with the operation model, `false` with the engine.
    pub is_by_operations: bool,
    /// How long a session rests after a batch, in percent of the batch.
    pub rest_percent: u32,
    /// Whether every folder has a separate array.
    pub is_each_folder: bool,
}

/// Result of an item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SimulationResult {
    /// The item's key.
    pub key: String,
    /// Host of the agent.
    pub host: String,
    /// Its figures, in stored form.
    pub outcome: SimulationOutcome,
}

/// Figures, or why there are none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SimulationOutcome {
    /// The figures as text.
    Figures(String),
    /// Why the design cannot be simulated.
    Failed {
        /// In a sentence.
        why: String,
    },
}

/// An agent's handling of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemStep {
    /// Simulate it.
    Simulate,
    /// Give it back: a test must not be disturbed.
    LaterForTest,
    /// Give it back for an agent of the right program.
    OtherBuild {
        /// A sentence for the agent's terminal.
        why: String,
    },
}

/// Returns the step for `item` on an agent of program `build`; `is_testing` is `true` if it is busy
/// with a test.
pub fn item_step(item: &SimulationItem, build: &str, is_testing: bool) -> ItemStep {
    if item.build != build {
        let why = format!(
            "a sweep wants {}, and this agent is {build}: run the same program on every host",
            item.build
        );
        return ItemStep::OtherBuild { why };
    }
    if is_testing { ItemStep::LaterForTest } else { ItemStep::Simulate }
}

/// The controller's handling of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResultStep {
    /// Keep these figures under this key.
    Keep {
        /// The item's key.
        key: String,
        /// Its figures.
        figures: String,
    },
    /// Already known, or from another sweep.
    Ignore,
    /// The design cannot be simulated.
    Fail {
        /// Why, and on which host.
        why: String,
    },
}

/// The outstanding results of a sweep.
#[derive(Clone, Debug, Default)]
pub struct SweepLedger {
    missing: BTreeSet<String>,
    by_host: BTreeMap<String, u64>,
    ignored: u64,
}

impl SweepLedger {
    /// A sweep that lacks the results of these keys.
    pub fn new(missing: impl IntoIterator<Item = String>) -> Self {
        Self { missing: missing.into_iter().collect(), ..Self::default() }
    }

    /// Accepts a result. Only the first of each key is kept.
    pub fn note(&mut self, result: SimulationResult) -> ResultStep {
        if !self.missing.contains(&result.key) {
            self.ignored += 1;
            return ResultStep::Ignore;
        }
        match result.outcome {
            SimulationOutcome::Figures(figures) => {
                self.missing.remove(&result.key);
                *self.by_host.entry(result.host).or_default() += 1;
                ResultStep::Keep { key: result.key, figures }
            }
            SimulationOutcome::Failed { why } => {
                ResultStep::Fail { why: format!("{}: {why}", result.host) }
            }
        }
    }

    /// Keys whose results have not arrived.
    pub const fn missing(&self) -> &BTreeSet<String> {
        &self.missing
    }

    /// Returns the number of results from each host.
    pub const fn by_host(&self) -> &BTreeMap<String, u64> {
        &self.by_host
    }

    /// Number of results that changed nothing.
    #[cfg(test)]
    pub(crate) const fn ignored(&self) -> u64 {
        self.ignored
    }
}

#[cfg(test)]
mod tests {
    use super::{
        ItemStep, ResultStep, SimulationItem, SimulationOutcome, SimulationResult, SweepLedger,
        item_step,
    };

    fn item(build: &str) -> SimulationItem {
        SimulationItem {
            key: "k".to_owned(),
            build: build.to_owned(),
            plan: String::new(),
            array_file: String::new(),
            array: String::new(),
            changes: Vec::new(),
            is_by_operations: true,
            rest_percent: 0,
            is_each_folder: false,
        }
    }

    fn result(key: &str, host: &str, outcome: SimulationOutcome) -> SimulationResult {
        SimulationResult { key: key.to_owned(), host: host.to_owned(), outcome }
    }

    #[test]
    fn an_agent_simulates_for_its_own_program_and_never_beside_a_test() {
        assert_eq!(item_step(&item("p 1"), "p 1", false), ItemStep::Simulate);
        assert_eq!(item_step(&item("p 1"), "p 1", true), ItemStep::LaterForTest);
        let ItemStep::OtherBuild { why } = item_step(&item("p 2"), "p 1", false) else {
            panic!("another program must not simulate it");
        };
        assert!(why.contains("p 2") && why.contains("p 1"), "{why}");
    }

    #[test]
    fn every_result_is_kept_once_however_often_it_comes() {
        let mut ledger = SweepLedger::new(["a", "b"].map(str::to_owned));
        let figures = |text: &str| SimulationOutcome::Figures(text.to_owned());
        let kept = ledger.note(result("a", "one", figures("1")));
        assert_eq!(kept, ResultStep::Keep { key: "a".to_owned(), figures: "1".to_owned() });
        // An agent presumed lost was still alive.
        assert_eq!(ledger.note(result("a", "two", figures("1"))), ResultStep::Ignore);
        assert_eq!(ledger.note(result("other", "two", figures("9"))), ResultStep::Ignore);
        assert!(ledger.missing().iter().eq(["b"]));
        let why = "too small".to_owned();
        let failed = ledger.note(result("b", "two", SimulationOutcome::Failed { why }));
        assert_eq!(failed, ResultStep::Fail { why: "two: too small".to_owned() });
        assert!(matches!(ledger.note(result("b", "two", figures("2"))), ResultStep::Keep { .. }));
        assert!(ledger.missing().is_empty());
        assert_eq!((ledger.by_host()["one"], ledger.by_host()["two"], ledger.ignored()), (1, 1, 2));
    }
}
